package reports

import (
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
	entry      *namespace.Entry // whose row it is; nil: the values stand in the row
	known      bool
	permission fsimage.Permission // of owner, group and mode of the row

	dir    pathCache
	owner  fragment[ownerKey]
	layout fragment[layoutKey]
	policy fragment[policyKey]
}

type ownerKey struct {
	owner, group string
	mode         uint16
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
	if !c.plain || !utf8.Valid(name) || e.format == CSV && !plainCSV(name) {
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
	c.plain = utf8.Valid(dir) && (f != CSV || plainCSV(dir))
	switch {
	case !c.plain:
	case f == CSV:
		c.text = append(c.text[:0], dir...)
	default:
		c.text = appendJSONText(c.text[:0], dir)
	}
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
