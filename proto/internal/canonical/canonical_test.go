package canonical

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// line has a key of every form.
type line struct {
	Number   int64    `json:"number"`
	Maybe    int64    `json:"maybe,omitempty"`
	Optional *int64   `json:"optional,omitempty"`
	ID       uint64   `json:"id"`
	MaybeID  uint64   `json:"maybe_id,omitempty"`
	Bool     bool     `json:"bool"`
	Flag     bool     `json:"flag,omitempty"`
	Hex      hex      `json:"hex"`
	Text     string   `json:"text"`
	MaybeT   string   `json:"maybe_text,omitempty"`
	Name     string   `json:"name"`
	MaybeN   string   `json:"maybe_name,omitempty"`
	Texts    []string `json:"texts,omitempty"`
	IDs      []uint64 `json:"ids,omitempty"`
	List     []inner  `json:"list,omitempty"`
	Object   inner    `json:"object"`
	Maybe2   *inner   `json:"maybe_object,omitempty"`
}

type inner struct {
	N int64 `json:"n"`
}

type hex [4]byte

func (h hex) MarshalText() ([]byte, error) {
	out := []byte("x:")
	for _, b := range h {
		out = append(out, HexDigits[b>>4], HexDigits[b&15])
	}
	return out, nil
}

func (l *line) fields(c *Coder) {
	c.Number("number", &l.Number)
	c.Maybe("maybe", &l.Maybe)
	c.Optional("optional", &l.Optional)
	c.ID("id", &l.ID, false)
	c.ID("maybe_id", &l.MaybeID, true)
	c.Bool("bool", &l.Bool)
	c.Flag("flag", &l.Flag)
	c.Hex("hex", "x:", l.Hex[:])
	c.Text("text", &l.Text)
	c.MaybeText("maybe_text", &l.MaybeT)
	c.Bytes("name", &l.Name, false, true)
	c.Bytes("maybe_name", &l.MaybeN, true, false)
	c.Texts("texts", &l.Texts)
	c.IDs("ids", &l.IDs)
	List(c, "list", &l.List, (*inner).fields)
	if c.Enter("object") {
		l.Object.fields(c)
		c.Leave()
	}
	if c.Key("maybe_object", l.Maybe2 != nil, true) && c.Open('{') {
		if c.Reading() {
			l.Maybe2 = new(inner)
		}
		l.Maybe2.fields(c)
		c.Leave()
	}
}

func (i *inner) fields(c *Coder) { c.Number("n", &i.N) }

func write(t fatal, l *line) []byte {
	var c Coder
	c.Write("line")
	l.fields(&c)
	if err := c.End(); err != nil {
		t.Fatal(err)
	}
	return c.Line()
}

type fatal interface{ Fatal(...any) }

func read(b []byte) (*line, error) {
	var c Coder
	var l line
	c.Read(b, "line")
	l.fields(&c)
	return &l, c.End()
}

func genLine(t *rapid.T) *line {
	numbers := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64, math.MinInt64}))
	ids := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1 << 63, math.MaxUint64}))
	l := &line{
		Number: numbers.Draw(t, "number"), Maybe: numbers.Draw(t, "maybe"), ID: ids.Draw(t, "id"), MaybeID: ids.Draw(t, "maybe id"),
		Bool: rapid.Bool().Draw(t, "bool"), Flag: rapid.Bool().Draw(t, "flag"), Hex: hex(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "hex")),
		Text: rapid.String().Draw(t, "text"), MaybeT: rapid.String().Draw(t, "maybe text"),
		Name: string(rapid.SliceOf(rapid.Byte()).Draw(t, "name")), MaybeN: rapid.String().Draw(t, "maybe name"),
		Texts: rapid.SliceOf(rapid.String()).Draw(t, "texts"), IDs: rapid.SliceOf(ids).Draw(t, "ids"), Object: inner{numbers.Draw(t, "n")},
	}
	for range rapid.IntRange(0, 3).Draw(t, "list") {
		l.List = append(l.List, inner{numbers.Draw(t, "n")})
	}
	if rapid.Bool().Draw(t, "optional") {
		l.Optional, l.Maybe2 = new(int64), new(inner)
		*l.Optional = numbers.Draw(t, "optional")
	}
	return l
}

// TestLikeEncodingJSON: what is written is what encoding/json makes of the same
// struct, with _b64 put in by hand; what is read is what was written.
func TestLikeEncodingJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := genLine(t)
		got := bytes.Clone(write(t, l))
		if !utf8.Valid(got) || bytes.IndexByte(got, '\n') != len(got)-1 {
			t.Fatalf("no line of UTF-8: %q", got)
		}
		back, err := read(got[:len(got)-1])
		if err != nil {
			t.Fatal(err)
		}
		if again := write(t, back); !bytes.Equal(again, got) {
			t.Fatalf("read and written again: %s, %s", got, again)
		}
		if back.Name != l.Name {
			t.Fatalf("the name %q became %q", l.Name, back.Name)
		}
		if !utf8.ValidString(l.Name) {
			return
		}
		var want bytes.Buffer
		want.WriteString(`{"type":"line",`)
		var one bytes.Buffer
		enc := json.NewEncoder(&one)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(l); err != nil {
			t.Fatal(err)
		}
		want.Write(one.Bytes()[1:])
		if !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("encoding/json %swritten %s", want.Bytes(), got)
		}
	})
}

// TestColumns: an error says where.
func TestColumns(t *testing.T) {
	t.Parallel()
	good := `{"type":"line","number":5,"id":7,"bool":true,"hex":"x:01020304","text":"a","name":"b","ids":[1,2],"object":{"n":1}}`
	if _, err := read([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ old, new, at, want string }{
		{`"number":5`, `"number":-0`, `,"id"`, "no integer"},
		{`"id":7`, `"id":07`, `,"bool"`, "leading zero"},
		{`[1,2]`, `[]`, `],"object"`, "an integer should be here"},
		{`[1,2]`, `[1,]`, `],"object"`, "an integer should be here"},
		{`[1,2]`, `[1,-2]`, `-2]`, "an integer should be here"},
		{`[1,2]`, `[1, 2]`, ` 2]`, "an integer should be here"},
		{`[1,2]`, `[1,2`, `"object"`, "an integer should be here"},
		{`[1,2]`, `[01]`, `],"object"`, "leading zero"},
		{`[1,2]`, `[1.5]`, `.5]`, "fraction"},
		{`[1,2]`, `[18446744073709551616]`, `6],"object"`, "too large"},
		{`x:01020304`, `x:0102030`, `"x:0102`, "x: and 8 lower-case"},
		{`x:01020304`, `x:0102030A`, `"x:0102`, "hexadecimal"},
		{`"b"`, `"b","x":1`, `,"x"`, `key "x" is unknown`},
		{`{"n":1}}`, `{"n":1}} `, ` `, "data after"},
		{`"ids":[1,2]`, `"ids":[` + strings.Repeat("1,", MaxList) + `1]`, `],"object"`, "more than 10000"},
	} {
		b := strings.Replace(good, tc.old, tc.new, 1)
		_, err := read([]byte(b))
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Reason, tc.want) || e.Column != strings.LastIndex(b, tc.at)+1 && e.Column != strings.Index(b, tc.at)+1 {
			t.Errorf("%s: %+v, want %q at %q", tc.new[:min(len(tc.new), 30)], err, tc.want, tc.at)
		}
	}
}

// growing is a file in memory.
type growing struct {
	b   []byte
	off int64
}

func (g *growing) Seek(off int64, _ int) (int64, error) { g.off = off; return off, nil }

func (g *growing) Read(p []byte) (int, error) {
	if g.off >= int64(len(g.b)) {
		return 0, io.EOF
	}
	n := copy(p, g.b[g.off:])
	g.off += int64(n)
	return n, nil
}

// TestBlocks: lines are the same both times; what changes is noticed, what is appended
// is not seen where the file may grow, and an error where it may not.
func TestBlocks(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 10, BlockSize - 1, BlockSize, BlockSize + 1, 2 * BlockSize, 3*BlockSize + 17} {
		file := bytes.Repeat([]byte("0123456\n"), size/8+1)[:size]
		for _, grows := range []bool{false, true} {
			f := &growing{b: slices.Clone(file)}
			b := NewBlocks(f, "file", nil)
			first := joined(t, b.First)
			if err := b.Rest(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(first, file) || !bytes.Equal(joined(t, b.Verified), file) {
				t.Fatalf("%d bytes: read another file", size)
			}
			if grows {
				b.Grows()
			}
			f.b = append(f.b, "more\n"...)
			b.held = -1
			again, err := join(b.Verified)
			var changed *ChangedError
			if last := size%BlockSize != 0; !grows && last != errors.As(err, &changed) {
				t.Errorf("%d bytes, longer: %v", size, err)
			}
			if grows && (err != nil || !bytes.Equal(again, file)) {
				t.Errorf("%d bytes, grown: %d, %v", size, len(again), err)
			}
			if size == 0 {
				continue
			}
			f.b[size/2] ^= 1
			b.held = -1
			if again, err = join(b.Verified); !errors.As(err, &changed) || changed.Offset != int64(size/2/BlockSize*BlockSize) {
				t.Errorf("%d bytes, changed: %v", size, err)
			}
			if len(again) > size/2 {
				t.Errorf("%d bytes: a changed block was given", size)
			}
		}
	}
}

func joined(t *testing.T, block func(int64) ([]byte, error)) []byte {
	t.Helper()
	b, err := join(block)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func join(block func(int64) ([]byte, error)) (all []byte, err error) {
	for i := int64(0); ; i++ {
		b, err := block(i)
		if err != nil || len(b) == 0 {
			return all, err
		}
		all = append(all, b...)
	}
}

// TestLines: every line whole, wherever blocks end; a torn one is told.
func TestLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var file bytes.Buffer
		var want []string
		for range rapid.IntRange(0, 20).Draw(t, "lines") {
			n := rapid.SampledFrom([]int{0, 1, 100, BlockSize - 1, BlockSize, BlockSize + 1, 3 * BlockSize}).Draw(t, "length")
			want = append(want, strings.Repeat("x", n))
			file.WriteString(want[len(want)-1] + "\n")
		}
		whole := int64(file.Len())
		torn := rapid.IntRange(0, 2*BlockSize).Draw(t, "torn")
		file.WriteString(strings.Repeat("y", torn))
		f := struct {
			io.Reader
			io.Seeker
		}{}
		under := &growing{b: file.Bytes()}
		f.Reader, f.Seeker = iotest.HalfReader(under), under
		l := Lines{Block: NewBlocks(f, "file", nil).First}
		for i, w := range want {
			got, err := l.Next()
			if err != nil || string(got) != w || l.N != i+1 {
				t.Fatalf("line %d: %d bytes, %v", l.N, len(got), err)
			}
		}
		if l.Off != whole {
			t.Fatalf("offset %d", l.Off)
		}
		_, err := l.Next()
		if torn > 0 != errors.Is(err, ErrTorn) || torn == 0 && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	})
}
