package fsimage

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// oddVarints are encodings of every length: the shortest, longer ones than
// needed, some that do not end, and some of more than ten bytes.
func oddVarints() [][]byte {
	all := [][]byte{{}, {0x80}}
	for _, last := range []byte{0, 1, 2, 0x7f} {
		for n := 8; n <= 10; n++ {
			all = append(all, append(bytes.Repeat([]byte{0xff}, n), last))
		}
	}
	for _, last := range []byte{0, 1, 2, 3, 0x7f} {
		for n := range 11 {
			var v []byte
			for i := range n {
				v = append(v, 0x80|byte(37*i+int(last)))
			}
			all = append(all, append(v, last))
		}
	}
	return all
}

// edits gives message with one field after the other changed: its value replaced
// by odd varints, left out, twice, and its tag another.
func edits(fields [][]byte) [][]byte {
	var all [][]byte
	for i := range fields {
		for _, f := range fieldEdits(fields[i]) {
			var m []byte
			for j := range fields {
				if j == i {
					m = append(m, f...)
				} else {
					m = append(m, fields[j]...)
				}
			}
			all = append(all, m)
		}
	}
	return all
}

func fieldEdits(f []byte) [][]byte {
	all := [][]byte{f, nil, append(append([]byte{}, f...), f...), f[:len(f)-1]}
	for _, v := range oddVarints() {
		all = append(all, append([]byte{f[0]}, v...))
	}
	for _, tag := range []byte{0x00, f[0] ^ 1, f[0] ^ 2, f[0] ^ 5, f[0] ^ 8, f[0] | 0x80, 0x7a} {
		all = append(all, append([]byte{tag}, f[1:]...))
	}
	return all
}

// lengths frames message with its own length and with some that are not.
func lengths(tag byte, message []byte) [][]byte {
	var all [][]byte
	for _, d := range []int{0, -1, 1, -9, -8, -3, -2, 2, 128} {
		if n := len(message) + d; n >= 0 {
			all = append(all, append(protowire.AppendVarint([]byte{tag}, uint64(n)), message...))
		}
	}
	for _, last := range []byte{0, 1} {
		for n := 1; n <= 9; n++ {
			length := append([]byte{tag, 0x80 | byte(len(message))}, bytes.Repeat([]byte{0x80}, n-1)...)
			all = append(all, append(append(length, last), message...))
		}
	}
	return all
}

// TestUsualForm changes records of the form that NameNodes write in every place
// where the short way through the decoder looks.
func TestUsualForm(t *testing.T) {
	perm := append([]byte{0x29}, 1, 2, 3, 4, 5, 6, 7, 8)
	block := [][]byte{{0x08, 0x81, 0x80, 0x80, 0x80, 0x04}, {0x10, 0xe9, 0x07}, {0x18, 0x80, 0x80, 0x80, 0x40}}
	file := [][]byte{
		{0x08, 3},
		{0x10, 0x80, 0xa4, 0xf0, 0x9e, 0xb0, 0x33},
		{0x18, 0x80, 0xa4, 0xf0, 0x9e, 0xb0, 0x34},
		{0x20, 0x80, 0x80, 0x80, 0x40},
		perm,
		lengths(0x32, join(block))[0],
		lengths(0x32, join(block))[0],
		{0x50, 7},
		{0x58, 0},
	}
	unset := protowire.AppendVarint(nil, 1<<64-1)
	directory := [][]byte{
		{0x08, 0x80, 0xa4, 0xf0, 0x9e, 0xb0, 0x33},
		append([]byte{0x10}, unset...), append([]byte{0x18}, unset...),
		append([]byte{0x21}, perm[1:]...),
		{0x2a, 0},
	}
	var records [][]byte
	add := func(tag byte, parts ...[]byte) {
		for i, p := range parts {
			all := lengths(tag, p)
			if i > 0 { // the first one is as it should be
				all = all[:3]
			}
			for _, framed := range all {
				records = append(records, append([]byte{0x08, 1 + tag>>3 - 4, 0x10, 0x81, 0x80, 0x01, 0x1a, 2, 'a', 'b'}, framed...))
			}
		}
	}
	add(0x22, edits(file)...)
	add(0x22, edits(append(file[:7:7], file[8]))...) // without a storage policy
	add(0x2a, edits(directory)...)
	for i, b := range edits(block) {
		for _, framed := range lengths(0x32, b)[:3+9*min(i, 1)] {
			changed := append([][]byte{}, file...)
			changed[5] = framed
			add(0x22, join(changed))
		}
	}
	for _, tag := range []byte{0x22, 0x2a, 0x32} { // the fields of the inode itself
		sub := lengths(tag, join(map[byte][][]byte{0x22: file, 0x2a: directory, 0x32: nil}[tag]))[0]
		inode := [][]byte{{0x08, 1}, {0x10, 0x81, 0x80, 0x01}, {0x1a, 2, 'a', 'b'}, sub}
		records = append(records, edits(inode)...)
		records = append(records, edits(inode[:3])...)
	}
	add(0x22, prefixes(join(file))...)
	add(0x2a, prefixes(join(directory))...)
	var n INode
	for _, sub := range [][]byte{join(file), join(directory)} {
		for i := range sub { // the record ends there, and the rest of its field stands behind it
			tag := byte(0x22)
			if sub[0] == 0x08 && sub[1] != 3 {
				tag = 0x2a
			}
			r := append([]byte{0x08, 1 + tag>>3 - 4, 0x10, 0x81, 0x80, 0x01, 0x1a, 2, 'a', 'b', tag, byte(i)}, sub...)
			r = append(r, make([]byte, slack)...)
			if err := compareINodeAt(r[:12+i], &n); err != nil {
				t.Fatalf("%x: %v", r[:12+i], err)
			}
		}
	}
	for _, r := range records {
		if err := compareINode(r, &n); err != nil {
			t.Fatalf("%x: %v", r, err)
		}
	}
	t.Logf("%d records", len(records))
}

// TestPackedForm: the children of a directory in packed and odd forms.
func TestPackedForm(t *testing.T) {
	var e DirEntry
	ids := []byte{0x81, 0x80, 0x01, 0x82, 0x80, 0x01}
	for _, v := range oddVarints() {
		for _, packed := range [][]byte{v, append(append([]byte{}, ids...), v...), append(append([]byte{}, v...), ids...)} {
			for _, tag := range []byte{0x12, 0x1a} {
				for _, framed := range lengths(tag, packed) {
					if err := compareDirEntry(append([]byte{0x08, 0x05}, framed...), &e); err != nil {
						t.Fatalf("%x: %v", framed, err)
					}
				}
			}
		}
	}
}

func prefixes(m []byte) [][]byte {
	var all [][]byte
	for i := range m {
		all = append(all, m[:i])
	}
	return all
}

func join(fields [][]byte) []byte {
	var m []byte
	for _, f := range fields {
		m = append(m, f...)
	}
	return m
}
