package policy

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"
)

// Print writes the policy that is in force as YAML: every key that has a meaning,
// defaults included, in one form only. [Parse] reads it back to the same
// policy, unless flags gave it names that are not UTF-8. An error is the writer's.
func (p *Policy) Print(w io.Writer) error {
	_, err := w.Write(p.canonical())
	return err
}

// Digest is the SHA-256 of what [Policy.Print] writes: two files that say the same
// have the same.
func (p *Policy) Digest() [sha256.Size]byte { return sha256.Sum256(p.canonical()) }

func (p *Policy) canonical() []byte {
	c := *p
	var out printer
	out.fields(reflect.ValueOf(&c).Elem(), "", "")
	return out.Bytes()
}

type printer struct{ bytes.Buffer }

// fields writes a struct. The first line has the indentation first, the others rest.
func (b *printer) fields(v reflect.Value, first, rest string) {
	layout := Layout("")
	if r, ok := reflect.TypeAssert[*Root](v.Addr()); ok {
		layout = r.Layout
	}
	for f := range v.Type().Fields() {
		key := f.Tag.Get("yaml")
		if key == "" || layout != "" && !allows(f, layout) {
			continue
		}
		field := v.FieldByIndex(f.Index)
		if file, ok := reflect.TypeAssert[*File](field.Addr()); ok && *file == "" {
			continue // no file at all, which no value stands for
		}
		b.WriteString(first + key + ":")
		b.field(field, rest)
		first = rest
	}
}

func (b *printer) field(v reflect.Value, indent string) {
	switch s, ok := reflect.TypeAssert[scalar](v.Addr()); {
	case ok:
		b.WriteString(" " + s.yaml() + "\n")
	case v.Kind() == reflect.Pointer && v.IsNil():
		b.WriteString(" {}\n")
	case v.Kind() == reflect.Pointer:
		b.field(v.Elem(), indent)
	case v.Kind() == reflect.Struct:
		b.WriteString("\n")
		b.fields(v, indent+"  ", indent+"  ")
	default:
		b.list(v, indent)
	}
}

func (b *printer) list(v reflect.Value, indent string) {
	if v.Len() == 0 {
		b.WriteString(" []\n")
		return
	}
	b.WriteString("\n")
	for i := range v.Len() {
		item := v.Index(i)
		if s, ok := reflect.TypeAssert[scalar](item.Addr()); ok {
			b.WriteString(indent + "  - " + s.yaml() + "\n")
			continue
		}
		b.fields(item, indent+"  - ", indent+"    ")
	}
}

// quote writes text as YAML: plain if it can be taken for nothing else, else in
// double quotes with all escaped that ends a line or cannot be seen.
func quote(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == utf8.RuneError && n == 1: // of a flag; no policy file can have it
			fmt.Fprintf(&b, `\x%02x`, s[i-1])
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ', r >= 0x7f && r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// isPlain tells names and paths of plain letters from everything that YAML, of any
// version, could take for something else.
func isPlain(s string) bool {
	if s == "" {
		return false
	}
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return false
	}
	letter := func(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
	for i := range len(s) {
		c := s[i]
		switch {
		case letter(c), c == '/', i > 0 && (c >= '0' && c <= '9' || strings.IndexByte("._-", c) >= 0):
		case c == ':' && i > 0 && i < len(s)-1 && s[i+1] >= '0' && s[i+1] <= '9': // host:port
		default:
			return false
		}
	}
	return true
}
