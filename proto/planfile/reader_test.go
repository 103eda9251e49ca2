package planfile

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"fsweep/proto/internal/canonical"
)

// TestHostile changes the bytes of a plan.
func TestHostile(t *testing.T) {
	t.Parallel()
	good, _ := samplePlan().write(t)
	lines := strings.SplitAfter(string(good), "\n")
	replace := func(old, by string) string {
		if !strings.Contains(string(good), old) {
			t.Fatalf("%s is not in the plan", old)
		}
		return strings.Replace(string(good), old, by, 1)
	}
	const itemAt = 8 // line of the first item
	for _, tc := range []struct {
		name, text string
		class      error
		line       int
		want       string
	}{
		{"empty", "", ErrNotPlan, 1, "empty"},
		{"an image", "HDFSIMG1\x00\x01" + strings.Repeat("x", 100), ErrNotPlan, 1, "does not start"},
		{"BOM", "\xef\xbb\xbf" + string(good), ErrNotPlan, 1, "byte order mark"},
		{"blank first", "\n" + string(good), ErrNotPlan, 1, "does not start"},
		{"indented", strings.Replace(string(good), `{"type":"plan"`, `{ "type": "plan"`, 1), ErrNotPlan, 1, "does not start"},
		{"next version", replace(`"format":1`, `"format":2`), ErrFormat, 1, "version 2, only 1"},
		{"version 0", replace(`"format":1`, `"format":0`), ErrFormat, 1, "version 0"},
		{"version as text", replace(`"format":1`, `"format":"1"`), ErrInvalid, 1, "column 25: invalid plan: an integer should be here"},
		{"no format", replace(`"format":1,`, ``), ErrInvalid, 1, `key "tool" is unknown`},
		{"header only", lines[0], ErrInvalid, 2, "without a footer"},
		{"no footer", strings.Join(lines[:len(lines)-2], ""), ErrInvalid, 19, "without a footer"},
		{"torn footer", string(good[:len(good)-1]), ErrInvalid, 19, "torn"},
		{"torn in the middle", string(good[:len(good)-1000]), ErrInvalid, 17, "torn"},
		{"data behind", string(good) + "x", ErrInvalid, 20, "data after the footer"},
		{"blank behind", string(good) + "\n", ErrInvalid, 20, "data after the footer"},
		{"two plans", string(good) + string(good), ErrInvalid, 20, "data after the footer"},
		{"blank line", lines[0] + "\n" + strings.Join(lines[1:], ""), ErrInvalid, 2, "an empty line"},
		{"CRLF", strings.ReplaceAll(string(good), "\n", "\r\n"), ErrInvalid, 1, "CR LF"},
		{"second header", lines[0] + string(good), ErrInvalid, 2, "the header is the first line"},
		{"unknown type", lines[0] + "{\"type\":\"note\",\"x\":1}\n" + strings.Join(lines[1:], ""), ErrInvalid, 2, `unknown type of line "note"`},
		{"no type", lines[0] + "{\"x\":1}\n" + strings.Join(lines[1:], ""), ErrInvalid, 2, "does not start with"},
		{"guard behind items", strings.Join(lines[:16], "") + lines[5] + strings.Join(lines[16:], ""), ErrInvalid, 17, "not allowed here"},
		{"line without end", string(good[:len(lines[0])]) + strings.Repeat("x", canonical.MaxLine+1), ErrInvalid, 2, "longer than 16777216"},

		{"unknown key", replace(`"rule":"old-run",`, `"rule":"old-run","force":true,`), ErrInvalid, itemAt, `key "force" is unknown, repeated or out of order`},
		{"repeated key", replace(`"rule":"old-run",`, `"rule":"old-run","rule":"x",`), ErrInvalid, itemAt, `key "rule" is unknown, repeated`},
		{"repeated optional key", replace(`"evidence":[`, `"evidence":[{"name":"a"}],"evidence":[`), ErrInvalid, itemAt, `key "evidence" is unknown, repeated`},
		{"repeated nested key", replace(`"files":2,`, `"files":2,"files":2,`), ErrInvalid, itemAt, `key "files" is unknown, repeated`},
		{"unknown nested key", replace(`{"name":"newer_runs",`, `{"name":"newer_runs","x":1,`), ErrInvalid, itemAt, `key "x" is unknown`},
		{"other letters", replace(`"rule":"old-run"`, `"Rule":"old-run"`), ErrInvalid, itemAt, `key "Rule" is unknown`},
		{"escaped key", replace(`"rule":"old-run"`, `"\u0072ule":"old-run"`), ErrInvalid, itemAt, "is unknown"},
		{"order", replace(`"owner":"flink","group":"hadoop"`, `"group":"hadoop","owner":"flink"`), ErrInvalid, itemAt, `key "owner" should be here`},
		{"missing key", replace(`"rule":"old-run",`, ``), ErrInvalid, itemAt, `key "rule" should be here`},
		{"missing object", replace(`"freed":{"now":0,"after_trash":15000,"held_by_snapshots":0},`, ``), ErrInvalid, itemAt, `key "freed" should be here`},
		{"blanks", replace(`"rule":"old-run"`, `"rule": "old-run"`), ErrInvalid, itemAt, `' ' where '"' should be`},
		{"comma at the end", replace(`"held_by_snapshots":0}`, `"held_by_snapshots":0,}`), ErrInvalid, itemAt, "should end here"},
		{"fraction", replace(`"inode_id":16402,"parent_id"`, `"inode_id":16402.0,"parent_id"`), ErrInvalid, itemAt, "fraction or exponent"},
		{"exponent", replace(`"entries":5`, `"entries":5e0`), ErrInvalid, itemAt, "fraction or exponent"},
		{"leading zero", replace(`"entries":5`, `"entries":05`), ErrInvalid, itemAt, "leading zero"},
		{"minus zero", replace(`"children":2,"entries"`, `"children":-0,"entries"`), ErrInvalid, itemAt, "no integer of 64 bits"},
		{"plus", replace(`"entries":5`, `"entries":+5`), ErrInvalid, itemAt, "an integer should be here"},
		{"2^63", replace(`"entries":5`, `"entries":9223372036854775808`), ErrInvalid, itemAt, "no integer of 64 bits"},
		{"2^64", replace(`"entries":5`, `"entries":18446744073709551616`), ErrInvalid, itemAt, "too large"},
		{"number as text", replace(`"entries":5`, `"entries":"5"`), ErrInvalid, itemAt, "an integer should be here"},
		{"text as number", replace(`"rule":"old-run"`, `"rule":7`), ErrInvalid, itemAt, `'7' where '"' should be`},
		{"null", replace(`"rule":"old-run"`, `"rule":null`), ErrInvalid, itemAt, `'n' where '"' should be`},
		{"null number", replace(`"entries":5`, `"entries":null`), ErrInvalid, itemAt, "an integer should be here"},
		{"false flag", replace(`"needs_reference_proof":true`, `"needs_reference_proof":false`), ErrInvalid, itemAt, "only true"},
		{"flag as number", replace(`"executable":true`, `"executable":1`), ErrInvalid, 1, "true or false"},
		{"empty optional", replace(`"needs_reference_proof":true`, `"needs_reference_proof":true,"deferred":""`), ErrInvalid, itemAt, "left out"},
		{"empty list", replace(`"hold_paths":[{"path":"/ops/fsweep/HOLD"}]`, `"hold_paths":[]`), ErrInvalid, 1, "']' where '{'"},
		{"zero optional", replace(`{"name":"live"}`, `{"name":"live","number":0}`), ErrInvalid, itemAt, "left out"},
		{"object for list", replace(`"evidence":[`, `"evidence":{`), ErrInvalid, itemAt, "'{' where '['"},
		{"deep nesting", replace(`"evidence":[`, `"evidence":[`+strings.Repeat("[", 100000)), ErrInvalid, itemAt, "'[' where '{'"},
		{"fingerprint in upper case", replace(`"fingerprint":"1201`, `"fingerprint":"120A`), ErrInvalid, itemAt, "hexadecimal"},
		{"short fingerprint", replace(`"fingerprint":"1201`, `"fingerprint":"121`), ErrInvalid, itemAt, "hexadecimal"},
		{"digest without prefix", replace(`"digest":"sha256:`, `"digest":"`), ErrInvalid, 1, "hexadecimal"},
		{"invalid UTF-8", replace(`"rule":"old-run"`, "\"rule\":\"old\xffrun\""), ErrInvalid, itemAt, "invalid UTF-8"},
		{"surrogate", replace(`"rule":"old-run"`, `"rule":"\ud800"`), ErrInvalid, itemAt, "canonical"},
		{"needless escape", replace(`"rule":"old-run"`, `"rule":"old\u002drun"`), ErrInvalid, itemAt, "canonical"},
		{"unknown escape", replace(`"rule":"old-run"`, `"rule":"old\qrun"`), ErrInvalid, itemAt, "canonical"},
		{"U+2028", replace(`"rule":"old-run"`, "\"rule\":\"old\u2028run\""), ErrInvalid, itemAt, "canonical"},
		{"raw control character", replace(`"rule":"old-run"`, "\"rule\":\"old\trun\""), ErrInvalid, itemAt, "control character"},
		{"string without end", replace(`"rule":"old-run",`+"", `"rule":"old-run\`), ErrInvalid, itemAt, ""},
		{"Base64 of UTF-8", replace(`"path":"/flink-sessions/`, `"path":"/x","path_b64":"L3g=","path":"/flink-sessions/`), ErrInvalid, 14, "that is UTF-8"},
		{"Base64 of another", replace(`/tmp/spark-\\xff\\n`, `/tmp/spark-\\xfe\\n`), ErrInvalid, 17, "of another name"},
		{"Base64 with rest bits", replace(`c3Bhcmv+`, `c3Bhcmv+=`), ErrInvalid, 17, "no Base64"},

		{"footer counts", replace(`"guards":2`, `"guards":3`), ErrInvalid, 19, "the footer is not that of these lines"},
		{"footer totals", replace(`"items":7,"entries":13`, `"items":7,"entries":14`), ErrInvalid, 19, "the footer is not that of these lines"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r, d, err := Open(strings.NewReader(tc.text))
			var at *LineError
			if r != nil || !errors.Is(err, tc.class) || !errors.As(err, &at) || at.Line != tc.line {
				t.Fatalf("error %v, want class %v in line %d", err, tc.class, tc.line)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
			var want Digest // none where the first bytes already are not those of a plan
			if strings.HasPrefix(tc.text, canonical.LineStart+`plan","format":1,`) {
				want = sha256.Sum256([]byte(tc.text))
			}
			if d != want {
				t.Errorf("digest %s, want %s", d, want)
			}
		})
	}
}

// TestEveryByte: no change of one byte goes unnoticed: the digest is another, or the
// file is no plan at all.
func TestEveryByte(t *testing.T) {
	t.Parallel()
	good, digest := samplePlan().write(t)
	accepted, step := 0, 1
	if testing.Short() {
		step = 5
	}
	for i := 0; i < len(good); i += step {
		flip := [...]byte{1, 2, 4, 0x10, 0x20, 0x80, 0xff}[i%7]
		good[i] ^= flip
		_, d, err := Open(bytes.NewReader(good))
		if d == digest || d == (Digest{}) && err == nil {
			t.Fatalf("byte %d, bits %#x: digest %s, error %v", i, flip, d, err)
		}
		if err == nil {
			accepted++
		}
		good[i] ^= flip
		if i%5 != 0 {
			continue
		}
		if _, _, err := Open(bytes.NewReader(good[:i])); err == nil {
			t.Fatalf("cut at %d: no error", i)
		}
	}
	t.Logf("%d of %d changes give another plan, with another digest", accepted, len(good))
}

// TestChangedAfterOpen: a line that was changed after Open is never yielded.
func TestChangedAfterOpen(t *testing.T) {
	t.Parallel()
	b, _ := manyItems(t, 2000) // some ten blocks
	for _, cut := range []bool{false, true} {
		file := bytes.Clone(b)
		f := &changing{b: file}
		r, _, err := Open(f)
		if err != nil {
			t.Fatal(err)
		}
		at := len(file) / 2
		if cut {
			f.b = file[:at]
		} else {
			at = bytes.LastIndex(file[:at], []byte(`"mtime_ms":1`)) + len(`"mtime_ms":1`)
			file[at]++
		}
		seen := 0
		for i, err := range r.Items() {
			if err != nil {
				var line *LineError
				if !errors.Is(err, ErrDigest) || !errors.As(err, &line) {
					t.Errorf("error %v", err)
				}
				seen = -seen
				continue
			}
			if seen < 0 {
				t.Fatal("an item behind an error")
			}
			seen++
			if off := i.dirs.off; off > int64(at/canonical.BlockSize*canonical.BlockSize) {
				t.Fatalf("the item that ends at %d was yielded, the change is at %d", off, at)
			}
		}
		if seen >= 0 || seen < -1500 {
			t.Errorf("%d items, and no error or a late one", seen)
		}
	}
}

// changing is a file that can change.
type changing struct {
	b   []byte
	off int64
}

func (c *changing) Seek(off int64, _ int) (int64, error) { c.off = off; return off, nil }

func (c *changing) Read(p []byte) (int, error) {
	if c.off >= int64(len(c.b)) {
		return 0, io.EOF
	}
	n := copy(p, c.b[c.off:])
	c.off += int64(n)
	return n, nil
}

// manyItems is a plan of n units, every tenth with three directories.
func manyItems(t testing.TB, n int) ([]byte, Digest) {
	t.Helper()
	var b bytes.Buffer
	d, err := writeMany(&b, n)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), d
}

// runPath gives /flink-checkpoints/job-NNNNN/RUN, with one allocation.
func runPath(i int) Path {
	b := []byte("/flink-checkpoints/job-00000/a1b2c3d4e5f60718293a4b5c00000000")
	for at, j := 27, i/100; j > 0; at, j = at-1, j/10 {
		b[at] = '0' + byte(j%10)
	}
	for at, j := len(b)-1, i; j > 0; at, j = at-1, j/16 {
		b[at] = canonical.HexDigits[j%16]
	}
	return Path(b)
}

func (p Path) name() Name { return Name(p) }

func writeMany(out io.Writer, n int) (Digest, error) {
	h := sampleHeader()
	h.Belts, h.Roots[0].Inodes = Belts{}, 1<<40
	w, err := NewWriter(out, h)
	if err != nil {
		return Digest{}, err
	}
	for i := range n {
		v := Item{
			Kind: KindUnit, Path: runPath(i), InodeID: uint64(20000 + i), ParentID: 16401, Owner: "flink", Group: "hadoop", MTimeMs: imageTime - 10*day,
			Root: "/flink-checkpoints", Entries: 1, Totals: Totals{Directories: 1}, Fingerprint: TreeHash{1}, Rule: "old-run", NeedsReferenceProof: true,
		}
		v.Job, v.Run = v.Path[19:28].name(), v.Path[29:].name()
		if i%10 == 0 {
			v.Entries, v.Children, v.Totals.Directories = 4, 2, 4
		}
		if err := w.Item(v); err != nil {
			return Digest{}, err
		}
		for j := range v.Totals.Directories - 1 {
			if err := w.Directory(Directory{[...]Name{"chk-1", "shared", "shared/0"}[j], uint64(1<<40 + j), 0, [...]int64{0, 1, 0}[j]}); err != nil {
				return Digest{}, err
			}
		}
	}
	return w.Close()
}

// TestIterators: nested, left early, run again, items once more by their place.
func TestIterators(t *testing.T) {
	t.Parallel()
	b, want := manyItems(t, 2000)
	r, d, err := Open(bytes.NewReader(b))
	if err != nil || d != want {
		t.Fatal(d, err)
	}
	var refs []Ref
	n, dirs := 0, int64(0)
	for i, err := range r.Items() {
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			got, err := collect(r.Directories(&i))
			if err != nil || int64(len(got)) != i.Totals.Directories-1 {
				t.Fatal(got, err)
			}
			dirs += int64(len(got))
		}
		if n%100 == 0 {
			for _, err := range r.Items() {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			refs = append(refs, i.Ref())
		}
		n++
	}
	if f := r.Footer(); f.Items != int64(n) || 2*f.Directories != dirs || n != 2000 {
		t.Errorf("%d items, %d directories twice, footer %+v", n, dirs, f)
	}
	for j, ref := range slices.Backward(refs) {
		i, err := r.Item(ref)
		if err != nil || i.InodeID != uint64(20000+100*j) || i.Ref() != ref {
			t.Errorf("item %d: %+v, %v", j, i, err)
		}
		if got, err := collect(r.Directories(&i)); err != nil || len(got) != 3 {
			t.Errorf("item %d: %v, %v", j, got, err)
		}
	}
	if _, err := r.Item(Ref{}); err == nil {
		t.Error("an item from nowhere")
	}
	if _, err := collect(r.Directories(&Item{})); err == nil {
		t.Error("directories of an item that was not read")
	}
}

// TestReadErrors: errors of the file below stay themselves, whenever they come.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	b, _ := manyItems(t, 500)
	for at := int64(0); at < int64(len(b)); at += canonical.BlockSize {
		broken := &failing{changing: changing{b: b}, at: at}
		_, d, err := Open(broken)
		if !errors.Is(err, iotest.ErrTimeout) || isContent(err) || d != (Digest{}) {
			t.Errorf("at %d: %s, %v", at, d, err)
		}
	}
}

type failing struct {
	changing
	at int64
}

func (f *failing) Read(p []byte) (int, error) {
	if f.off >= f.at {
		return 0, iotest.ErrTimeout
	}
	return f.changing.Read(p)
}

// TestSmallReads: blocks do not depend on how the file is read.
func TestSmallReads(t *testing.T) {
	t.Parallel()
	p := samplePlan()
	b, want := p.write(t)
	f := struct {
		io.Reader
		io.Seeker
	}{}
	under := &changing{b: b}
	f.Reader, f.Seeker = iotest.OneByteReader(under), under
	r, d, err := Open(f)
	if err != nil || d != want {
		t.Fatal(d, err)
	}
	guards, err := collect(r.Guards())
	if diff := cmp.Diff(p.Guards, guards, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Error(err, diff)
	}
}
