package journal

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pythonHashes are those of the lines of testdata, as the Python program of
// docs/format/journal.md computed them. It shares nothing with this package.
var pythonHashes = map[string][]string{
	"run": {
		"876bdca0ea5fe2b330614691d104807c183daa0a24ba605fab209f786cdd0f81", // 1, journal
		"daf668ea2e0f37497af37aeed6266bb2e9e820a85a1783d044ca14c0606e6459", // 2, intent
		"34047e49e2ee344cacbc92c388954c1bb19e08596d0fa06418c5389f55f5f974", // 3, done
		"0ecb236f4f0ba9851426edd10de6981f4ff3c524c5566e8e022b44f3115c83af", // 4, intent
		"e9ad20f841ece48487d9169664070328ac3eeaf12736a25aa1ff1e4301da50e9", // 5, done
		"db456030aa187641988df09cb09a4f9b06ac32d0b658e3be8b0e5a20f3e051e6", // 6, skipped
		"6258b3f84cc976828649a9ffc1c62d9da52d546c763dbad020b22f79ac742780", // 7, intent
		"c25d60dd80f81b6a649adbbbdf62fc619fd5c6f5d8d393895239f9ab491e3339", // 8, done
		"68968eb34166bc34f5fc4ce61c2928483a17a5366e5433ce3d37b38818a77f15", // 9, intent
		"120920adab8007b3b2b35e4f72a3e950ad7334689cb37f8f2b4bd35fb8924a7d", // 10, done
		"399ccc75c73c60f134ceeb2099360f6769883e1e111f34b67934698ca475f9d6", // 11, intent
		"1576d42f323634633572af4b2c7e2f16faeb90e5e60b17cdebaad829df5e378c", // 12, unknown
		"3a7483ad13399c3d676ff69cc572deac785a8518fc2cbe517c8c4ccff0711e69", // 13, end
		"0d11d947366d2cc6fb65e64fc0f88ed2451f2af157596ac888782e165dee0b6f", // 14, resumed
		"744a6f37516134680e16db82485b9a8b56cd25330ff07ddf51e95dc0ca4d67c7", // 15, settled
		"5f751495b1fcd49e6195e01be23fec2dac126d7580f310a7720546a341e5af2b", // 16, intent
		"2fcf262b1fd8fee2ac4ea76dabdc201866d953b2ec29ab2daaf350a0904af659", // 17, failed
		"84343ef54f369887cd84edc495171205e68ee3403ead11f096d36d7bf16420a2", // 18, intent
		"9934690e56015d6ed4905545155ee0ae07ef2a11634ee8191ab4f131c7c9e9e6", // 19, resumed
		"99d46a1bbf009195347d75276db5a008d8bf04eae3dae0a72a90908d8044361a", // 20, settled
		"9a1a8360ea1ac7bd85a6cd503b296ec47797a0839dcc387c01cb22735cc8c330", // 21, intent
		"e951059779d070b95a58bb2844fcc9c25a355f021f0b6ef834989b8b9450270b", // 22, settled
		"9b984f43452becd2c7240df4f90d117de2790c265472ecef04770b6b25af2d59", // 23, intent
		"c0490793b7c74d4c4ba1db02e126e4982ad730c058cd7670eee2d17240e57984", // 24, done
		"b180ddf55b6d4af8a709cc41937be404538ca13277b14cf63327c97197574daa", // 25, intent
		"5f70302b462d7a0d7565b0f489246777a19aa3223466c048852a903957334729", // 26, done
		"2a4a398a7e02eaa39258ff6781e8e9cbf1a2102cb9c504ee2ef65f4186e1115f", // 27, failed
		"66f7a1e124529db62c010dcfa6803fd3e0d4dd16940554c610b119bda2316e08", // 28, intent
		"43db2eaa795f3e0ec8897ad9370f99e25727fe1279c22fb65289b4dcca17596b", // 29, done
		"6c6a27dce413b1de6b8ab1081836b7831992821ddb4a380c989cbf774e83debf", // 30, end
	},
	"undo": {
		"75f91b106e40a65440305de33bff49484a489810834177ced6e9313d9461d483", // 1, journal
		"b74759ee3222ffa80ffb2534ee8134234c0b6ba1bdfc6ac3dfcbeb3dd4585284", // 2, intent
		"d9f9ce6fff6f10cf15626497f23996bf98ba10c3cc3af1c7e6c30ba15f7be76f", // 3, settled
		"199259421eb49d60422c48e47b66ee6ac64582f8cac3ca91fff25567e29d9b83", // 4, intent
		"ae4c9b10f37a50a4e9d97833b9465f6230615fdf3622348bf34356da262b5821", // 5, done
		"9da7e160ccf01d13ca47f3128a07ed624fa1d7157e82e5202763001eaeb0c76d", // 6, skipped
		"f37af6afdfb9c226c2ec9d4be84a44d473bd4a8bd1319e80003a35a96cb183db", // 7, end
	},
}

// pieces gives the lines of a file with their newlines, and what is behind the last.
func pieces(b []byte) (lines [][]byte, torn []byte) {
	for line := range bytes.Lines(b) {
		if line[len(line)-1] != '\n' {
			return lines, line
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// TestEveryPrefix: wherever a journal is cut off, all complete lines are read and the
// rest is told as torn; within the first line nothing was begun. The hash is that of the
// last complete line.
func TestEveryPrefix(t *testing.T) {
	t.Parallel()
	for name, hashes := range pythonHashes {
		b, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		all := goldens()[name]
		encode(t, all) // stamps them
		for n := range len(b) + 1 {
			lines, torn := pieces(b[:n])
			if len(lines) == 0 {
				r, err := Open(bytes.NewReader(b[:n]))
				var at *LineError
				if r != nil || !errors.Is(err, ErrNotBegun) || !errors.As(err, &at) || at.Line != 1 {
					t.Fatalf("%s, %d bytes: %v", name, n, err)
				}
				continue
			}
			r := mustBe(t, b[:n], all[:len(lines)], len(torn))
			if r.Last().String() != hashes[len(lines)-1] {
				t.Fatalf("%s, %d lines: last %s", name, len(lines), r.Last())
			}
			if end, ok := all[len(lines)-1].(*End); ok != (r.Ended() != nil) || ok && *r.Ended() != *end {
				t.Fatalf("%s, %d lines: ended %v", name, len(lines), r.Ended())
			}
		}
	}
}

// TestEveryByte: a byte that is changed is noticed. Only in the last line it can be
// another valid one: then the last hash is another. One that makes the last newline
// something else makes the line torn.
func TestEveryByte(t *testing.T) {
	t.Parallel()
	for name, hashes := range pythonHashes {
		b := encode(t, goldens()[name])
		lines, _ := pieces(b)
		lastAt := len(b) - len(lines[len(lines)-1])
		line, accepted := 1, 0
		for i, was := range bytes.Clone(b) {
			for _, flip := range []byte{[...]byte{1, 2, 4, 0x10, 0x20, 0x80, 0xff}[i%7], was ^ '\n'} {
				if flip == 0 || testing.Short() && i%7 != 0 {
					continue
				}
				b[i] = was ^ flip
				r, err := Open(bytes.NewReader(b))
				var at *LineError
				switch {
				case err == nil && i < lastAt:
					t.Fatalf("%s, byte %d in line %d, bits %#x: not noticed", name, i, line, flip)
				case err == nil && r.Last().String() == hashes[len(hashes)-1]:
					t.Fatalf("%s, byte %d, bits %#x: the same hash", name, i, flip)
				case err == nil && i == len(b)-1 && (r.Torn() != int64(len(b)-lastAt) || r.CutTo() != int64(lastAt)):
					t.Fatalf("%s, without the last newline: torn %d", name, r.Torn())
				case err != nil && (!errors.As(err, &at) || at.Line < line || at.Line > line+1):
					t.Fatalf("%s, byte %d in line %d, bits %#x: %v", name, i, line, flip, err)
				}
				if err == nil {
					accepted++
				}
			}
			b[i] = was
			if was == '\n' {
				line++
			}
		}
		t.Logf("%s: %d changes of the last line give another journal, with another hash", name, accepted)
	}
}

// TestLinesMoved: lines that are taken out, doubled, exchanged, put in from elsewhere or
// chained anew from some line on, which leaves one that does not fit.
func TestLinesMoved(t *testing.T) {
	t.Parallel()
	all := runJournal()
	b := encode(t, all)
	lines, _ := pieces(b)
	other, _ := pieces(encode(t, undoJournal()))
	refused := func(what string, i int, lines ...[]byte) {
		t.Helper()
		_, err := Open(bytes.NewReader(bytes.Join(lines, nil)))
		var at *LineError
		if !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrNotJournal) || !errors.As(err, &at) || at.Line > i+3 {
			t.Errorf("%s, line %d: %v", what, i+1, err)
		}
	}
	splice := func(i, j int, put ...[]byte) [][]byte {
		out := append([][]byte(nil), lines[:i]...)
		return append(append(out, put...), lines[j:]...)
	}
	for i := range lines {
		if i < len(lines)-1 {
			refused("taken out", i, splice(i, i+1)...)
			refused("exchanged", i, splice(i, i+2, lines[i+1], lines[i])...)
		}
		refused("doubled", i, splice(i, i, lines[i])...)
		refused("blank line", i, splice(i, i, []byte{'\n'})...)
		refused("CR LF", i, splice(i, i+1, append(bytes.TrimSuffix(lines[i], []byte{'\n'}), "\r\n"...))...)
		refused("two in one line", i, splice(i, i+1, bytes.TrimSuffix(lines[i], []byte{'\n'}), lines[i])...)
		for _, l := range other {
			refused("from another journal", i, splice(i, i, l)...)
			if i < len(lines)-1 {
				refused("another journal's in place", i, splice(i, i+1, l)...)
			}
		}
	}
	// A last line that was taken out leaves a journal, whose hash tells.
	r, err := Open(bytes.NewReader(b[:len(b)-len(lines[len(lines)-1])]))
	if err != nil || r.Last() == sha256.Sum256(lines[len(lines)-1]) {
		t.Error(err)
	}
}

// TestHostile: what is no canonical line is refused, with line and column.
func TestHostile(t *testing.T) {
	t.Parallel()
	good := string(encode(t, runJournal()))
	replace := func(old, by string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%s is not in the journal", old)
		}
		return strings.Replace(good, old, by, 1)
	}
	for _, tc := range []struct {
		name, text   string
		class        error
		line, column int
		want         string
	}{
		{"an image", "HDFSIMG1\x00\x01", ErrNotJournal, 1, 0, "does not start"},
		{"a plan", `{"type":"plan","format":1`, ErrNotJournal, 1, 0, "does not start"},
		{"BOM", "\xef\xbb\xbf" + good, ErrNotJournal, 1, 0, "byte order mark"},
		{"blank first", "\n" + good, ErrNotJournal, 1, 0, "does not start"},
		{"only the beginning", `{"type":"journal","form`, ErrNotBegun, 1, 0, "within its first line"},
		{"empty", "", ErrNotBegun, 1, 0, "empty"},
		{"next version", replace(`"format":1`, `"format":2`), ErrFormat, 1, 0, "version 2, only 1"},
		{"version as text", replace(`"format":1`, `"format":"1"`), ErrInvalid, 1, 28, "an integer should be here"},
		{"no format", replace(`"format":1,`, ``), ErrInvalid, 1, 18, `key "seq" is unknown`},
		{"number", replace(`"seq":2,`, `"seq":3,`), ErrInvalid, 2, 18, "the line has number 3 where 2 should be"},
		{"hash", replace(`"seq":3,"prev":"`+pythonHashes["run"][1], `"seq":3,"prev":"`+pythonHashes["run"][2]), ErrInvalid, 3, 24, "the hash of the line before is " + pythonHashes["run"][1]},
		{"first hash", replace(`"prev":"0`, `"prev":"1`), ErrInvalid, 1, 38, "not the one that was written"},
		{"hash in upper case", replace(`"seq":3,"prev":"`+pythonHashes["run"][1], `"seq":3,"prev":"`+strings.ToUpper(pythonHashes["run"][1])), ErrInvalid, 3, 31, "lower-case"},
		{"unknown key", replace(`"purpose":"lock",`, `"purpose":"lock","force":true,`), ErrInvalid, 4, 138, `key "force" is unknown`},
		{"unknown type", replace(`{"type":"skipped"`, `{"type":"ignored"`), ErrInvalid, 6, 0, `unknown type of line "ignored"`},
		{"second header", replace(`{"type":"skipped"`, `{"type":"journal"`), ErrInvalid, 6, 0, `should be here`},
		{"no type", replace(`{"type":"skipped"`, `{"typ":"skipped"`), ErrInvalid, 6, 0, "does not start with"},
		{"blanks", replace(`"rule":"mtime_changed"`, `"rule": "mtime_changed"`), ErrInvalid, 6, 0, "should be"},
		{"data behind the last line", good + "x\n", ErrInvalid, 31, 0, "does not start with"},
		{"NUL behind the last line", good + "\x00\n", ErrInvalid, 31, 0, "does not start with"},
		{"two journals", good + good, ErrInvalid, 31, 30, "has number 1 where 31"},
		{"line without end", good[:strings.IndexByte(good, '\n')+1] + strings.Repeat("x", 16<<20+1), ErrInvalid, 2, 0, "longer than 16777216"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r, err := Open(strings.NewReader(tc.text))
			var at *LineError
			if r != nil || !errors.Is(err, tc.class) || !errors.As(err, &at) || at.Line != tc.line || tc.column > 0 && at.Column != tc.column {
				t.Fatalf("error %v, want class %v in line %d, column %d", err, tc.class, tc.line, tc.column)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}
