package flinkmeta

import "slices"

const (
	// maxWalkHandles bounds what a stream may number, the strings and objects in
	// it: a file of some gigabytes. They cost a bit of memory each.
	maxWalkHandles = 50_000_000
	// maxWalkClasses bounds the class descriptions; Flink's files have some 50.
	maxWalkClasses = 1 << 16
	// maxWalkDepth bounds what is unfinished at a time. Java's own reader, which
	// calls itself, ends some thousand objects deep.
	maxWalkDepth = 1 << 16
	// maxToken is the largest element that is looked at as one.
	maxToken = 11
	// noClass stands for none, unfinished for a description that is being read.
	noClass    = -1
	unfinished = -2
)

// javaWalk follows the structure of a Java serialization stream and knows none
// of its classes: the stream describes them before their objects. It takes the
// bytes in pieces of any size, so that another reader of the stream can pass on
// what it has read, and keeps of them the layout of each class and a bit for
// each handle.
//
// One thing a stream does not tell: whether a writeObject method wrote the
// fields of its class, as it must. One that does not cannot be followed; Flink
// and the classes of the JDK that it uses have none.
type javaWalk struct {
	err    error
	offset int64      // of the next byte to come
	at     int64      // offset of the element in hand
	what   javaSymbol // the element in hand

	// stack is what must still come, the next on top. It makes recursion needless.
	stack []javaFrame
	part  [maxToken]byte // what has come of an element that ended with a piece
	have  int

	skip   int64 // bytes of data or text to pass over
	text   textCheck
	isText bool

	classes  []walkedClass // in the order of their handles
	class    int32         // index of the description that was read last
	handles  int32
	strings  []uint64 // a bit for each handle
	stringAt int64    // offset of the tag of the string that came last
	contents bool     // there was one
}

// javaFrame is something that must come.
type javaFrame struct {
	what  javaSymbol
	class int32 // index
	n     int32 // so often; 0 is once
}

// walkedClass is the layout of a class.
type walkedClass struct {
	handle  int32
	super   int32 // index of the next superclass that has data
	data    int32 // bytes of primitive fields, which come before
	objects int32 // fields that are objects
	flags   byte
	element byte // of an array, as in its name
}

func newJavaWalk() *javaWalk {
	return &javaWalk{stack: append(make([]javaFrame, 0, 64), javaFrame{what: theMagic}), class: noClass}
}

// feed takes the next bytes of the stream. After an error it ignores them.
func (w *javaWalk) feed(b []byte) {
	for w.err == nil {
		if w.skip > 0 {
			if len(b) == 0 {
				return
			}
			n := int(min(w.skip, int64(len(b))))
			w.pass(b[:n])
			b = b[n:]
			continue
		}
		n := symbols[w.stack[len(w.stack)-1].what].size
		if w.have == 0 && len(b) >= n {
			w.at = w.offset
			w.offset += int64(n)
			w.step(b[:n])
			b = b[n:]
			continue
		}
		if w.have == 0 {
			w.at = w.offset
		}
		m := copy(w.part[w.have:n], b)
		w.have += m
		w.offset += int64(m)
		b = b[m:]
		if w.have < n {
			return
		}
		w.have = 0
		w.step(w.part[:n])
	}
}

// end tells whether the stream may end here. More may be fed afterwards.
func (w *javaWalk) end() error {
	if w.err == nil && (w.skip > 0 || w.have > 0 || !w.atTop() || !w.contents) {
		what := w.what
		if w.skip == 0 {
			what = w.stack[len(w.stack)-1].what
		}
		return &FormatError{Where: what.where(), Offset: w.offset, Err: ErrTruncated}
	}
	return w.err
}

func (w *javaWalk) atTop() bool { return w.stack[len(w.stack)-1].what == theContents }

// fail records an error in the element in hand.
func (w *javaWalk) fail(err error) {
	if w.err == nil {
		w.err = &FormatError{Where: w.what.where(), Offset: w.at, Err: err}
	}
}

// push adds what must come before all that must come already.
func (w *javaWalk) push(frames ...javaFrame) {
	if len(w.stack)+len(frames) > maxWalkDepth {
		w.fail(unsupportedf("more than %d levels deep", maxWalkDepth))
		return
	}
	w.stack = append(w.stack, frames...)
}

// pass takes bytes that have no structure.
func (w *javaWalk) pass(b []byte) {
	w.skip -= int64(len(b))
	w.offset += int64(len(b))
	if w.isText && (!w.text.add(b) || w.skip == 0 && !w.text.whole()) {
		w.fail(corruptf("a string that is not modified UTF-8"))
	}
}

func (w *javaWalk) skipData(n int64) {
	w.skip, w.isText = n, false
	if n < 0 {
		w.fail(corruptf("%d bytes", n))
	}
}

func (w *javaWalk) skipText(n int64) {
	w.skip, w.isText, w.text = n, true, textCheck{}
	if n < 0 {
		w.fail(corruptf("a string of %d bytes", n))
	}
}

// number gives the next handle.
func (w *javaWalk) number(isString bool) int32 {
	handle := w.handles
	if handle == maxWalkHandles {
		w.fail(unsupportedf("more than %d objects", maxWalkHandles))
		return handle
	}
	w.handles++
	if handle%64 == 0 {
		w.strings = append(w.strings, 0)
	}
	if isString {
		w.strings[handle/64] |= 1 << (handle % 64)
	}
	return handle
}

// known tells what a handle that was read is, if it was given before.
func (w *javaWalk) known(read uint32) (handle int32, isString bool) {
	n := int64(read) - javaFirstHandle
	if n < 0 || n >= int64(w.handles) {
		w.fail(corruptf("a reference to object %d of %d", n, w.handles))
		return 0, false
	}
	return int32(n), w.strings[n/64]>>(n%64)&1 != 0
}

// classOf gives the class description with a handle; noClass: that is none, or
// one that is being read.
func (w *javaWalk) classOf(handle int32) int32 {
	i, ok := slices.BinarySearchFunc(w.classes, handle, func(c walkedClass, handle int32) int {
		return int(c.handle) - int(handle)
	})
	if !ok || w.classes[i].super == unfinished {
		return noClass
	}
	return int32(i)
}

// reset forgets all handles, as the writer did.
func (w *javaWalk) reset() {
	w.handles, w.strings, w.classes = 0, w.strings[:0], w.classes[:0]
}

// textCheck tells whether text that comes in pieces is modified UTF-8.
type textCheck struct {
	start     [2]byte // of the text
	seen      int     // so much of it
	left      int     // bytes that a character lacks
	low, high byte    // between these its next byte must be
}

// whole tells whether the text may end here.
func (t *textCheck) whole() bool { return t.left == 0 }

// add takes a piece, and tells whether the text is well so far.
func (t *textCheck) add(b []byte) bool {
	if t.seen < len(t.start) {
		t.seen += copy(t.start[t.seen:], b)
	}
	if t.left == 0 && asciiOnly(b) {
		return true
	}
	for _, c := range b {
		switch {
		case t.left > 0:
			if c < t.low || c > t.high {
				return false
			}
			t.left, t.low, t.high = t.left-1, 0x80, 0xbf
		case c-1 < 0x7f:
		case c == 0xc0: // U+0000
			t.left, t.low, t.high = 1, 0x80, 0x80
		case c >= 0xc2 && c <= 0xdf:
			t.left, t.low, t.high = 1, 0x80, 0xbf
		case c == 0xe0:
			t.left, t.low, t.high = 2, 0xa0, 0xbf
		case c>>4 == 0xe:
			t.left, t.low, t.high = 2, 0x80, 0xbf
		default:
			return false
		}
	}
	return true
}
