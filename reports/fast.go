package reports

import (
	"encoding/binary"
	"unicode/utf8"

	"fsweep/analyze/namespace"
	"fsweep/fsimage"
)

// Consecutive inodes of an image share their directory, their owner and their
// policies more often than not. What follows keeps the text of the last such
// value instead of making it again; it changes no byte of the output.

// fragment is the text of fields that stand side by side.
type fragment[K comparable] struct {
	key    K
	format Format
	text   []byte
}

// write appends the fields that make writes for key. The fields must not be the
// first of a row.
func (f *fragment[K]) write(e *encoder, key K, makeText func()) {
	if e.format == header {
		makeText()
		return
	}
	if key == f.key && e.format == f.format && len(f.text) > 0 {
		e.buf = append(e.buf, f.text...)
		return
	}
	at := len(e.buf)
	makeText()
	f.key, f.format = key, e.format
	f.text = append(f.text[:0], e.buf[at:]...)
}

// fast keeps what the rows of neighbours have in common.
type fast struct {
	entry *namespace.Entry // whose row it is; nil: the values stand in the row

	dir    pathCache
	owners [1 << ownerBits]ownerText // by a hash of the permission
	layout fragment[layoutKey]
	policy fragment[policyKey]
}

const ownerBits = 4

// ownerText has the text of owner, group and mode. Files and directories of the
// same owners take turns, so more than the last is kept.
type ownerText struct {
	known      bool
	permission fsimage.Permission
	format     Format
	text       []byte
}

// owner finds the place for a permission, and tells whether its text is there.
func (f *fast) owner(p fsimage.Permission, format Format) (*ownerText, bool) {
	o := &f.owners[uint64(p)*0x9e3779b97f4a7c15>>(64-ownerBits)]
	if o.known && o.permission == p && o.format == format {
		return o, true
	}
	o.known, o.permission, o.format = true, p, format
	return o, false
}

type layoutKey struct {
	replication, blockSize uint64
}

type policyKey struct {
	storage, ec string
	encrypted   bool
}

// pathCache has the text of a directory's path.
type pathCache struct {
	of    namespace.Dir
	known bool
	plain bool   // UTF-8, and in CSV without need of quotes
	text  []byte // if plain
}

// path writes the path of the entry, the first field of a row, unless it is one
// that needs more care.
func (f *fast) path(e *encoder) bool {
	dir, name, ok := f.entry.SplitPath()
	if !ok {
		return false
	}
	c := &f.dir
	if !c.known || c.of != f.entry.Parent {
		c.set(e.format, f.entry.Parent, dir)
	}
	if !c.plain || !plainASCII(name) && (!utf8.Valid(name) || e.format == CSV && !plainCSV(name)) {
		return false
	}
	e.field("path")
	if e.format == CSV {
		e.buf = append(e.buf, c.text...)
		e.buf = append(e.buf, name...)
	} else {
		e.buf = append(e.buf, '"')
		e.buf = append(e.buf, c.text...)
		e.buf = appendJSONText(e.buf, name)
		e.buf = append(e.buf, '"')
	}
	e.absent("path_b64")
	return true
}

func (c *pathCache) set(f Format, d namespace.Dir, dir []byte) {
	c.of, c.known = d, true
	c.plain = plainASCII(dir) || utf8.Valid(dir) && (f != CSV || plainCSV(dir))
	switch {
	case !c.plain:
	case f == CSV:
		c.text = append(c.text[:0], dir...)
	default:
		c.text = appendJSONText(c.text[:0], dir)
	}
}

// plainASCII tells whether a name is ASCII without a byte for which CSV needs quotes.
// Eight bytes are looked at at once: nearly all names are such.
func plainASCII(s []byte) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	bad := uint64(0) // the highest bit of a byte tells
	for ; len(s) >= 8; s = s[8:] {
		x := binary.LittleEndian.Uint64(s)
		comma, quote, lf, cr := x^','*ones, x^'"'*ones, x^'\n'*ones, x^'\r'*ones
		// Where a byte is zero the subtraction borrows; a borrow that goes on to the
		// next byte only adds to what is bad already.
		bad |= x | (comma-ones)&^comma | (quote-ones)&^quote | (lf-ones)&^lf | (cr-ones)&^cr
	}
	for _, c := range s {
		if c >= utf8.RuneSelf || quotedInCSV[c] {
			return false
		}
	}
	return bad&high == 0
}

// blocks writes a list of objects; in CSV it is quoted as it goes.
func (e *encoder) blocks(key string, blocks []fsimage.Block, set bool) {
	if !set || e.format == header {
		e.absent(key)
		return
	}
	e.field(key)
	id, stamp, size, end := `{"id":`, `,"generation_stamp":`, `,"bytes":`, `}`
	if e.format == CSV && len(blocks) > 0 {
		id, stamp, size = `{""id"":`, `,""generation_stamp"":`, `,""bytes"":`
		e.buf = append(e.buf, '"')
	}
	e.buf = append(e.buf, '[')
	for i := range blocks {
		b := &blocks[i]
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		e.buf = append(e.buf, id...)
		e.buf = appendInt(e.buf, int64(b.ID))
		e.buf = append(e.buf, stamp...)
		e.buf = appendInt(e.buf, int64(b.GenStamp))
		e.buf = append(e.buf, size...)
		e.buf = appendInt(e.buf, int64(b.NumBytes))
		e.buf = append(e.buf, end...)
	}
	e.buf = append(e.buf, ']')
	if e.format == CSV && len(blocks) > 0 {
		e.buf = append(e.buf, '"')
	}
}
