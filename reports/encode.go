package reports

import (
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"

	"fsweep/analyze/namespace"
)

// Format is a machine-readable form of rows.
type Format int

// The formats. Both show the same keys in the same order: one function for each
// kind of row makes either, and the header of the CSV.
const (
	// NDJSON is one JSON object a line. A key whose value is unset is absent.
	NDJSON Format = iota
	// CSV is RFC 4180, with a header of the JSON keys; those of nested objects
	// are joined by a point, arrays stand as JSON in one field, and unset is an
	// empty field.
	CSV
	header
)

// encoder appends rows to buf. Its methods are called in the same order for
// every row of a kind, whether a value is set or not. They allocate nothing but
// a larger buf.
type encoder struct {
	buf    []byte
	format Format
	fields int    // of the header, or whether there is one in the CSV record
	prefix string // of nested keys in a header
	text   []byte // scratch
}

// field starts the field of a key.
func (e *encoder) field(key string) {
	if e.format == CSV && e.fields > 0 {
		e.buf = append(e.buf, ',')
		return
	}
	e.firstField(key)
}

// firstField is field for all but the second and later ones of a CSV record.
func (e *encoder) firstField(key string) {
	if e.format == NDJSON {
		e.comma()
		e.buf = append(e.buf, '"')
		e.buf = append(e.buf, key...)
		e.buf = append(e.buf, '"', ':')
		return
	}
	if e.fields > 0 {
		e.buf = append(e.buf, ',')
	}
	e.fields++
	if e.format == header {
		e.buf = append(e.buf, e.prefix...)
		e.buf = append(e.buf, key...)
	}
}

// comma separates a JSON value from the one before it.
func (e *encoder) comma() {
	if n := len(e.buf); n > 0 {
		switch e.buf[n-1] {
		case '{', '[', '\n':
		default:
			e.buf = append(e.buf, ',')
		}
	}
}

// absent is a key without value; it must not be the first.
func (e *encoder) absent(key string) {
	switch e.format {
	case CSV:
		e.buf = append(e.buf, ',')
	case header:
		e.firstField(key)
	case NDJSON:
	}
}

// encodable is a row that knows its keys.
type encodable interface{ encode(e *encoder) }

// row appends a row to dst.
func (e *encoder) row(dst []byte, r encodable) []byte {
	e.buf, e.fields = dst, 0
	if e.format == CSV {
		r.encode(e)
		e.buf = append(e.buf, '\r', '\n')
	} else {
		e.buf = append(e.buf, '{')
		r.encode(e)
		e.buf = append(e.buf, '}', '\n')
	}
	dst, e.buf = e.buf, nil
	return dst
}

// header appends the header of rows, which only CSV has.
func (e *encoder) header(dst []byte, encode func(*encoder)) []byte {
	if e.format != CSV {
		return dst
	}
	h := encoder{buf: dst, format: header}
	encode(&h)
	return append(h.buf, '\r', '\n')
}

func (e *encoder) int(key string, v int64) {
	e.field(key)
	if e.format != header {
		e.buf = appendInt(e.buf, v)
	}
}

func (e *encoder) uint(key string, v uint64) {
	e.field(key)
	if e.format != header {
		e.buf = appendUint(e.buf, v)
	}
}

func (e *encoder) intIf(key string, v int64, set bool) {
	if set {
		e.int(key, v)
	} else {
		e.absent(key)
	}
}

// percentIf writes two decimals.
func (e *encoder) percentIf(key string, v float64, set bool) {
	if !set {
		e.absent(key)
		return
	}
	e.field(key)
	if e.format != header {
		e.buf = strconv.AppendFloat(e.buf, math.Round(v*100)/100, 'f', -1, 64)
	}
}

func (e *encoder) bool(key string, v bool) {
	e.field(key)
	if e.format != header {
		e.buf = strconv.AppendBool(e.buf, v)
	}
}

func (e *encoder) boolIf(key string, v, set bool) {
	if set {
		e.bool(key, v)
	} else {
		e.absent(key)
	}
}

// string writes text of which the bytes do not matter: what is not UTF-8 is
// shown escaped.
func (e *encoder) string(key, s string) {
	e.field(key)
	switch e.format {
	case NDJSON:
		e.buf = appendJSONString(e.buf, s)
	case CSV:
		e.buf = appendCSV(e.buf, s)
	case header:
	}
}

// stringIf leaves the empty string out.
func (e *encoder) stringIf(key, s string) {
	if s == "" {
		e.absent(key)
	} else {
		e.string(key, s)
	}
}

// bytes writes a name with its exact bytes. In JSON, which cannot hold all, one
// that is not UTF-8 is shown in its escaped text form, and its bytes follow in
// keyB64; CSV has them raw as well.
func (e *encoder) bytes(key, keyB64 string, b []byte) {
	e.field(key)
	if e.format == header {
		e.field(keyB64)
		return
	}
	valid := utf8.Valid(b)
	switch {
	case e.format == CSV:
		e.buf = appendCSV(e.buf, b)
	case valid:
		e.buf = appendJSONString(e.buf, b)
	default:
		e.text = EscapePath(e.text[:0], b)
		e.buf = appendJSONString(e.buf, e.text)
	}
	if valid {
		e.absent(keyB64)
		return
	}
	e.field(keyB64)
	if e.format == CSV {
		e.buf = base64.StdEncoding.AppendEncode(e.buf, b)
		return
	}
	e.buf = append(e.buf, '"')
	e.buf = base64.StdEncoding.AppendEncode(e.buf, b)
	e.buf = append(e.buf, '"')
}

func (e *encoder) bytesIf(key, keyB64 string, b []byte, set bool) {
	if !set {
		e.absent(key)
		e.absent(keyB64)
		return
	}
	e.bytes(key, keyB64, b)
}

// mode writes permission bits as four or more octal digits.
func (e *encoder) mode(key string, m uint16) {
	e.field(key)
	if e.format == header {
		return
	}
	var digits [6]byte
	i := len(digits)
	for m != 0 || i > len(digits)-4 {
		i--
		digits[i] = '0' + byte(m&7)
		m >>= 3
	}
	if e.format == NDJSON {
		e.buf = append(e.buf, '"')
	}
	e.buf = append(e.buf, digits[i:]...)
	if e.format == NDJSON {
		e.buf = append(e.buf, '"')
	}
}

// types writes one number for each storage type.
func (e *encoder) types(key string, v *namespace.TypeSpace) {
	e.openObject(key)
	for i, name := range namespace.TypeNames {
		e.int(name, v[i])
	}
	e.closeObject()
}

// openObjectIf starts an object that is absent when set is false. In CSV there is
// nothing to start or end: the keys inside are columns like others.
func (e *encoder) openObjectIf(key string, set bool) bool {
	if !set && e.format == NDJSON {
		return false
	}
	e.openObject(key)
	return true
}

func (e *encoder) openObject(key string) {
	switch e.format {
	case NDJSON:
		e.field(key)
		e.buf = append(e.buf, '{')
	case CSV:
	case header:
		e.prefix = key + "."
	}
}

func (e *encoder) closeObject() {
	e.prefix = ""
	if e.format == NDJSON {
		e.buf = append(e.buf, '}')
	}
}

// strings writes a list; an empty one is absent.
func (e *encoder) strings(key string, list []string) {
	if len(list) == 0 || e.format == header {
		e.absent(key)
		return
	}
	e.field(key)
	at := e.beginArray()
	for _, s := range list {
		e.comma()
		e.buf = appendJSONString(e.buf, s)
	}
	e.endArray(at)
}

// beginArray starts an array whose elements are appended as JSON in any format.
func (e *encoder) beginArray() int {
	e.buf = append(e.buf, '[')
	return len(e.buf) - 1
}

func (e *encoder) endArray(at int) {
	e.buf = append(e.buf, ']')
	if e.format == CSV {
		e.text = append(e.text[:0], e.buf[at:]...)
		e.buf = appendCSV(e.buf[:at], e.text)
	}
}

// quotedInCSV has the bytes for which a field must be quoted.
var quotedInCSV = [256]bool{'"': true, ',': true, '\r': true, '\n': true}

func plainCSV[T string | []byte](s T) bool {
	for i := range len(s) {
		if quotedInCSV[s[i]] {
			return false
		}
	}
	return true
}

// appendCSV appends a field, quoted only if it has to be.
func appendCSV[T string | []byte](dst []byte, s T) []byte {
	if plainCSV(s) {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for i := range len(s) {
		if s[i] == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, s[i])
	}
	return append(dst, '"')
}

// appendJSONString appends s as a JSON string that escapes no more than it must.
// Bytes that are not UTF-8 appear as the text \xNN, so that different strings
// stay different as long as nobody writes that text himself.
func appendJSONString[T string | []byte](dst []byte, s T) []byte {
	return append(appendJSONText(append(dst, '"'), s), '"')
}

// plainInJSON has the bytes that stand in a JSON string as they are.
var plainInJSON = func() (plain [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// appendJSONText is appendJSONString without the quotes.
func appendJSONText[T string | []byte](dst []byte, s T) []byte {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plainInJSON[c] {
			i++
			continue
		}
		n := 1
		if c >= utf8.RuneSelf {
			if n = runeLen(s, i); n > 0 {
				i += n
				continue
			}
			n = 1
		}
		dst = append(dst, s[start:i]...)
		dst = appendJSONEscape(dst, c)
		i += n
		start = i
	}
	return append(dst, s[start:]...)
}

// runeLen is the length of the character at i, 0 if there is none.
func runeLen[T string | []byte](s T, i int) int {
	var b [utf8.UTFMax]byte
	k := copy(b[:], s[i:])
	r, n := utf8.DecodeRune(b[:k])
	if r == utf8.RuneError && n == 1 {
		return 0
	}
	return n
}

func appendJSONEscape(dst []byte, c byte) []byte {
	switch {
	case c == '"' || c == '\\':
		return append(dst, '\\', c)
	case c == '\n':
		return append(dst, '\\', 'n')
	case c == '\r':
		return append(dst, '\\', 'r')
	case c == '\t':
		return append(dst, '\\', 't')
	case c >= utf8.RuneSelf:
		return append(dst, '\\', '\\', 'x', hexDigits[c>>4], hexDigits[c&15])
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
