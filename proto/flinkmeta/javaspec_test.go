package flinkmeta

import (
	"encoding/binary"
	"errors"
	"strings"
)

// What a byte of a stream is. A change of what is not structure leaves another
// stream that is just as whole, if the new value can stand there.
const (
	structure = iota
	letters   // of a name or a string
	data      // primitive values, blocks, versions of classes
	handle    // a reference to another object
	typeCode  // of a field: many have the same size
	kindsOfBytes
)

var kindNames = [kindsOfBytes]string{"structure", "letters", "data", "references", "field types"}

// javaSpec reads a stream as the Java Object Serialization Specification has its
// grammar, by recursion and with every byte in memory: a second reading of it,
// which javaWalk is compared with.
type javaSpec struct {
	b       []byte
	i       int
	kinds   []byte // of the bytes read
	handles []any  // *specClass, or "string", or nil
	strings []int  // where their tags are
}

type specClass struct {
	name     string
	flags    byte
	fields   []byte // type codes
	super    *specClass
	finished bool
}

var errSpec = errors.New("not a stream")

// whole reads b and gives what its bytes are.
func whole(b []byte) (kinds []byte, err error) {
	j := &javaSpec{b: b, kinds: make([]byte, len(b))}
	if err := j.read(); err != nil {
		return nil, err
	}
	return j.kinds, nil
}

func (j *javaSpec) read() (err error) {
	defer func() {
		if r := recover(); r != nil {
			if r != errSpec { //nolint:errorlint // what was thrown here
				panic(r)
			}
			err = errSpec
		}
	}()
	j.require(string(j.take(4, structure)) == "\xac\xed\x00\x05")
	n := 0
	for j.i < len(j.b) {
		if j.b[j.i] == 0x79 { // TC_RESET
			j.i++
			j.handles = nil
			continue
		}
		j.content(true)
		n++
	}
	j.require(n > 0)
	return nil
}

func (j *javaSpec) require(ok bool) {
	if !ok {
		panic(errSpec)
	}
}

func (j *javaSpec) take(n uint64, kind byte) []byte {
	j.require(n <= uint64(len(j.b)-j.i))
	for k := range int(n) {
		j.kinds[j.i+k] = kind
	}
	j.i += int(n)
	return j.b[j.i-int(n) : j.i]
}

func (j *javaSpec) u8() byte    { return j.take(1, structure)[0] }
func (j *javaSpec) u16() uint64 { return uint64(binary.BigEndian.Uint16(j.take(2, structure))) }

func (j *javaSpec) i32() uint64 {
	n := int32(binary.BigEndian.Uint32(j.take(4, structure)))
	j.require(n >= 0)
	return uint64(n)
}

func (j *javaSpec) text(n uint64) string {
	b := j.take(n, letters)
	_, ok := appendModifiedUTF8(nil, b)
	j.require(ok)
	return string(b)
}

// content reads an object, or a block where those can be.
func (j *javaSpec) content(blocks bool) {
	switch tag := j.u8(); {
	case tag == 0x70: // TC_NULL
	case tag == 0x71: // TC_REFERENCE
		j.reference()
	case tag == 0x72, tag == 0x7d: // TC_CLASSDESC, TC_PROXYCLASSDESC
		j.i--
		j.classDesc()
	case tag == 0x73: // TC_OBJECT
		c := j.classDesc()
		j.require(c != nil && c.name[:1] != "[" && (c.flags&2 != 0 || c.flags&4 != 0) && c.flags&0x10 == 0)
		j.handles = append(j.handles, nil)
		j.classData(c)
	case tag == 0x74, tag == 0x7c: // TC_STRING, TC_LONGSTRING
		j.i--
		j.str()
	case tag == 0x75: // TC_ARRAY
		c := j.classDesc()
		j.require(c != nil && strings.HasPrefix(c.name, "[") && len(c.name) > 1)
		j.handles = append(j.handles, nil)
		j.values(c.name[1], j.i32())
	case tag == 0x76: // TC_CLASS
		j.require(j.classDesc() != nil)
		j.handles = append(j.handles, nil)
	case tag == 0x77 && blocks: // TC_BLOCKDATA
		j.take(uint64(j.u8()), data)
	case tag == 0x7a && blocks: // TC_BLOCKDATALONG
		j.take(j.i32(), data)
	case tag == 0x7e: // TC_ENUM
		c := j.classDesc()
		j.require(c != nil && c.flags == 0x12)
		j.handles = append(j.handles, nil)
		j.str()
	default:
		j.require(false)
	}
}

func (j *javaSpec) reference() any {
	n := int64(binary.BigEndian.Uint32(j.take(4, handle))) - 0x7e0000
	j.require(n >= 0 && n < int64(len(j.handles)))
	return j.handles[n]
}

// str reads a string, new or old.
func (j *javaSpec) str() {
	switch j.u8() {
	case 0x71:
		j.require(j.reference() == "string")
	case 0x74:
		j.handles, j.strings = append(j.handles, "string"), append(j.strings, j.i-1)
		j.text(j.u16())
	case 0x7c:
		j.handles, j.strings = append(j.handles, "string"), append(j.strings, j.i-1)
		j.text(binary.BigEndian.Uint64(j.take(8, structure)))
	default:
		j.require(false)
	}
}

func (j *javaSpec) values(code byte, n uint64) {
	if i := strings.IndexByte("BZCSFIDJ", code); i >= 0 {
		j.take(n<<(i/2), data)
		return
	}
	j.require(code == 'L' || code == '[')
	for range n {
		j.content(false)
	}
}

func (j *javaSpec) annotation() {
	for j.require(j.i < len(j.b)); j.b[j.i] != 0x78; j.require(j.i < len(j.b)) {
		j.content(true)
	}
	j.i++
}

func (j *javaSpec) classData(c *specClass) {
	if c.flags&4 != 0 { // SC_EXTERNALIZABLE
		j.annotation()
		return
	}
	if c.super != nil {
		j.classData(c.super)
	}
	for _, code := range c.fields {
		j.values(code, 1)
	}
	if c.flags&1 != 0 { // SC_WRITE_METHOD
		j.annotation()
	}
}

func (j *javaSpec) classDesc() *specClass {
	c := &specClass{}
	switch j.u8() {
	case 0x70:
		return nil
	case 0x71:
		c, ok := j.reference().(*specClass)
		j.require(ok && c.finished)
		return c
	case 0x72:
		c.name = j.text(j.u16()) + " " // never empty
		version := binary.BigEndian.Uint64(j.take(8, data))
		j.handles = append(j.handles, c)
		c.flags = j.u8()
		j.require(strings.IndexByte("\x00\x02\x03\x0c\x12", c.flags) >= 0 && (c.flags != 0x12 || version == 0))
		n := j.u16()
		j.require(n < 1<<15 && (n == 0 || c.flags == 2 || c.flags == 3))
		for range n {
			code := j.take(1, typeCode)[0]
			isObject := code == 'L' || code == '['
			j.require(strings.IndexByte("BCDFIJSZL[", code) >= 0)
			j.require(isObject || len(c.fields) == 0 || !strings.Contains("L[", string(c.fields[len(c.fields)-1])))
			c.fields = append(c.fields, code)
			j.text(j.u16())
			if isObject {
				j.str()
			}
		}
	case 0x7d:
		c.name, c.flags = "proxy", 2
		j.handles = append(j.handles, c)
		n := j.i32()
		j.require(n < 1<<16)
		for range n {
			j.text(j.u16())
		}
	default:
		j.require(false)
	}
	j.annotation()
	if c.super = j.classDesc(); c.super != nil {
		a, b := c.flags, c.super.flags
		j.require(a != 0 && b != 0 && (a == 0x12) == (b == 0x12) && (b != 0x0c || a == 0x0c))
	}
	c.finished = true
	return c
}
