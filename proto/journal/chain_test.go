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
		"752cb85b7025490443518b003c1ee35e315d0e74533e2c594dd2bd3c935a890b", // 1, journal
		"7449c97dbe1c68889b4e23ca95be31d9bde27b4fedc4a64c9ac68d11b7c0811a", // 2, intent
		"56f56da66c6955ddaf6b87de7f0a8e826ef52e2c718f6240f04e925a1b5455c3", // 3, done
		"7a2d14c0a20325577da1b8b2f2f1a1599ca0c418c5fbe6ec717800c1bfbd6151", // 4, intent
		"e2db390508bfb78530683a87c8dfed54203d0256a9ce5ce0c7c74bb9fd45e228", // 5, done
		"ecaefd6ee11e4cac4349aa2020a1f00c694040d21e2dee87a860c6438af584ad", // 6, skipped
		"a73790d5735ba3194ab99b0fa24f535a2da21a9cf09b2dc1a45f1917ad4a8e76", // 7, intent
		"b8632151dcd6e00ef11134341e0dd00f0238c373987671e6d4e97a4145dada07", // 8, done
		"7890f5fd037fbbdefdae357efe2a045bad71bef3deba4d7351f69bcdce58e9ee", // 9, intent
		"fedadabc5a552cfec4babead0b2b9841d4a3a88f61514ce65ab87fc198c0505c", // 10, done
		"b8bba221a6d4797aba47c567c2ed00070d5fce3138da5b74ac6a8421a02274b5", // 11, intent
		"3d4c0e7e8e080c4dfe6104cd3967b6cf96a8ac180c61862d398225270e3769d4", // 12, unknown
		"6b00c13875dbd275fdcc616c570fc8c19693299ec735d2ce7aae758b3bed6f7d", // 13, end
		"269ada3dca6d9ab1785b223a0618feb2c291eaafc4d3f010bc38ddf89c6f6368", // 14, resumed
		"48529840b23dd3479acc321d55471b35c146c84a32fc30be9b01a56f28e00ec1", // 15, settled
		"5edeeabf0a6fec17d9bb39bfe81a30230dc0d35995d633a6cd9d1558c49667e6", // 16, intent
		"0d41aaaaa063822d1ba519b80a335f458c519a8376859f78a5902e0d8bb41650", // 17, failed
		"3a869c6902b4635ecdab635d1e2a949cd057c9ae744aff19eb4138d66a0bf473", // 18, intent
		"7250e3ad024ba6a6d1e900ea98275afc677a1808cd806117b19d9351460c2ea3", // 19, resumed
		"1682d00d82dfbeebf4b580234395af77211f09d088b0cf9fb8279ce324310b54", // 20, settled
		"3f6fc96246d896dc4e06a500a1f873cdf8cac4dde92cd5548ef7678b8136c84f", // 21, intent
		"fdfd1d8d0192f487c8e18ab4b6f928b09db1f0253dbe34679144707a5ee50269", // 22, settled
		"64b8ba6a700a71d2dfddcd6e3d6af596c2df6b534983ecf3b802b79083a5ee46", // 23, intent
		"263cde6001aac2c7ece0705a1b6e77585c4f5fdcc534ecf2c16928d235e78657", // 24, done
		"1c5621d86644d9e4b1cb1a380f560be45dcd5485b7a2177179ef3380a354449e", // 25, intent
		"2db091cbfc58a0ce934e938c75df7153852d9f132c9e724ab9502bcfbafc18cc", // 26, done
		"9c09a3d096fd06d78519cd27a5a36809170fba3b32caff2e7720e5d12f0ebb00", // 27, failed
		"f890c3bb3781f876b6475233163d3da94b785da4d95ede221452cb74c35cef2b", // 28, intent
		"92df1d960a4f61c072cbcac5084158a9537955d7a7fcd910dd15e6a8e747657d", // 29, done
		"02b5963aecf209123f4c3167a07f8fd5a04b7a9db1abc4ca7d5cbe42d2268cee", // 30, end
	},
	"undo": {
		"887c95af6579cd9f2f7da19ba262d04df339749205c72a5a7ef5c2fd45540e59", // 1, journal
		"d074a851ab70cc80c0d6a36d6206ec6b5411fc7b4b69cdde936f739e3d1e04af", // 2, intent
		"380303dbe20cc582e359040d873eafb37867fdfdafadb25c543b883add8c6a75", // 3, settled
		"39116c5c709ee950db17f8ee5dd1c3b037683d6f155c817edabd126c218ad5d1", // 4, intent
		"4a8a9d70650298f9b32fec06e451b614e459a8c3ba6521a67f253ba95db3d939", // 5, done
		"a590a3e6b4d8907560785869da7b04d2d8473b82ad6acd6c186d0cbc4e59f16d", // 6, skipped
		"de293a16739a50864fd7640f2737dcc5f64e4065907c40d7d699698908bb2d82", // 7, end
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
		{"zeros", strings.Repeat("\x00", 300), ErrNotBegun, 1, 0, "zeros"},
		{"many zeros", strings.Repeat("\x00", 64<<10), ErrNotJournal, 1, 0, "does not start"},
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
