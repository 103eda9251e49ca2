package flinkmeta

import "encoding/binary"

// The grammar is that of the Java Object Serialization Specification, chapter 6,
// protocol version 2. What a javaWalk expects next decides, with a few bytes,
// what it expects after that.

// javaSymbol is something of the grammar that begins with a fixed number of bytes.
type javaSymbol uint8

const (
	theMagic javaSymbol = iota
	theContents

	annotation // whatever a class or an object adds, to its end
	value      // of a field or in an array
	constant   // a string, as the name of an enum constant or the type of a field

	aHandle
	aStringHandle
	shortText
	longText
	shortBlock
	longBlock

	classDesc // in whatever form
	aClassHandle
	className
	classInfo
	aField
	interfaces
	superclass

	// What follows the class description of these.
	anObject
	anEnum
	anArray
	aClass
	fieldValues // of an object, as one class in its hierarchy has them
)

// symbols says how many bytes each begins with, and its name in errors.
var symbols = [...]struct {
	size int
	name string
}{
	theMagic:      {4, "head"},
	theContents:   {1, "contents"},
	annotation:    {1, "annotation"},
	value:         {1, "value"},
	constant:      {1, "name"},
	aHandle:       {4, "reference"},
	aStringHandle: {4, "reference to a name"},
	shortText:     {2, "string"},
	longText:      {8, "long string"},
	shortBlock:    {1, "block"},
	longBlock:     {4, "long block"},
	classDesc:     {1, "class"},
	aClassHandle:  {4, "reference to a class"},
	className:     {2, "name of a class"},
	classInfo:     {11, "description of a class"},
	aField:        {3, "field"},
	interfaces:    {4, "interfaces"},
	superclass:    {0, "superclass"},
	anObject:      {0, "object"},
	anEnum:        {0, "enum constant"},
	anArray:       {4, "array"},
	aClass:        {0, "class object"},
	fieldValues:   {0, "fields"},
}

// where a file is wrong, for errors.
func (what javaSymbol) where() string { return "Java stream, " + symbols[what].name }

// step takes the bytes that the symbol on top of the stack begins with.
func (w *javaWalk) step(b []byte) {
	top := &w.stack[len(w.stack)-1]
	f := *top
	w.what = f.what
	switch {
	case f.n > 1:
		top.n--
	case f.what != theContents && (f.what != annotation || b[0] == javaEndOfBlock):
		w.stack = w.stack[:len(w.stack)-1]
	}
	switch f.what {
	case theMagic:
		w.magic(b)
	case theContents, annotation, value:
		w.content(f.what, b[0])
	case constant:
		w.constant(b[0])
	case classDesc:
		w.classDesc(b[0])
	case aHandle:
		w.known(binary.BigEndian.Uint32(b))
	case aStringHandle:
		if _, isString := w.known(binary.BigEndian.Uint32(b)); !isString {
			w.fail(corruptf("no string"))
		}
	case aClassHandle:
		handle, _ := w.known(binary.BigEndian.Uint32(b))
		if w.class = w.classOf(handle); w.class == noClass {
			w.fail(corruptf("object %d is no class", handle))
		}
	case shortText, className:
		w.skipText(int64(binary.BigEndian.Uint16(b)))
	case longText:
		w.skipText(int64(binary.BigEndian.Uint64(b)))
	case shortBlock:
		w.skipData(int64(b[0]))
	case longBlock:
		w.skipData(int64(int32(binary.BigEndian.Uint32(b))))
	case classInfo, aField, interfaces, superclass:
		w.description(f, b)
	default:
		w.instance(f, b)
	}
}

func (w *javaWalk) magic(b []byte) {
	if binary.BigEndian.Uint32(b) != javaMagic {
		w.fail(corruptf("no Java serialization stream starts with %x", b))
		return
	}
	w.stack = append(w.stack, javaFrame{what: theContents})
}

// content takes a tag where there can be any object, and blocks of data too but
// where a value must be.
func (w *javaWalk) content(where javaSymbol, tag byte) {
	switch {
	case tag == javaReset && where == theContents:
		w.reset()
		return
	case tag == javaBlock && where != value:
		w.push(javaFrame{what: shortBlock})
	case tag == javaLongBlock && where != value:
		w.push(javaFrame{what: longBlock})
	case tag == javaEndOfBlock && where == annotation:
	case tag == javaNull:
	case tag == javaReference:
		w.push(javaFrame{what: aHandle})
	case tag == javaString, tag == javaLongString:
		w.constant(tag)
	case tag == javaClass, tag == javaProxy:
		w.classDesc(tag)
	case tag == javaObject:
		w.push(javaFrame{what: anObject}, javaFrame{what: classDesc})
	case tag == javaEnum:
		w.push(javaFrame{what: anEnum}, javaFrame{what: classDesc})
	case tag == javaArray:
		w.push(javaFrame{what: anArray}, javaFrame{what: classDesc})
	case tag == javaClassValue:
		w.push(javaFrame{what: aClass}, javaFrame{what: classDesc})
	case tag == javaException:
		w.fail(corruptf("an exception ended the writing of the stream"))
	default:
		w.fail(corruptf("%#x starts no content here", tag))
	}
	w.contents = true
}

// constant takes the tag of a string.
func (w *javaWalk) constant(tag byte) {
	if tag != javaReference {
		w.stringAt = w.at
	}
	switch tag {
	case javaString:
		w.number(true)
		w.push(javaFrame{what: shortText})
	case javaLongString:
		w.number(true)
		w.push(javaFrame{what: longText})
	case javaReference:
		w.push(javaFrame{what: aStringHandle})
	default:
		w.fail(corruptf("%#x starts no string", tag))
	}
}

// classDesc takes the tag of a class description.
func (w *javaWalk) classDesc(tag byte) {
	switch tag {
	case javaNull:
		w.class = noClass
	case javaReference:
		w.push(javaFrame{what: aClassHandle})
	case javaClass:
		w.push(javaFrame{what: classInfo}, javaFrame{what: className})
	case javaProxy:
		w.push(javaFrame{what: interfaces})
	default:
		w.fail(corruptf("%#x starts no class description", tag))
	}
}

// description goes on with a new class description.
func (w *javaWalk) description(f javaFrame, b []byte) {
	switch f.what {
	case classInfo: // comes after the name
		w.classInfo(b)
	case aField:
		w.field(f.class, b)
	case interfaces:
		n := int32(binary.BigEndian.Uint32(b))
		if n < 0 || n > 0xffff { // as in Java's reader
			w.fail(corruptf("%d interfaces", n))
			return
		}
		w.describe(walkedClass{flags: javaSerializable}, javaFrame{what: shortText, n: n})
	default:
		w.superclass(f.class)
	}
}

// describe numbers a class and expects the rest of its description: first what
// there are of fields or interfaces.
func (w *javaWalk) describe(c walkedClass, first javaFrame) {
	if len(w.classes) == maxWalkClasses {
		w.fail(unsupportedf("more than %d classes", maxWalkClasses))
		return
	}
	c.handle, c.super = w.number(false), unfinished
	first.class = int32(len(w.classes))
	w.classes = append(w.classes, c)
	w.push(javaFrame{what: superclass, class: first.class}, javaFrame{what: classDesc}, javaFrame{what: annotation})
	if first.n > 0 {
		w.push(first)
	}
}

// classInfo takes the version, flags and number of fields. Java's writer
// makes no others than these pass.
func (w *javaWalk) classInfo(b []byte) {
	version, flags, fields := binary.BigEndian.Uint64(b), b[8], int16(binary.BigEndian.Uint16(b[9:]))
	c := walkedClass{flags: flags}
	if w.text.start[0] == '[' {
		c.element = w.text.start[1]
	}
	switch flags {
	case 0, javaSerializable | javaEnumFlag, javaExternalizable | javaBlockData:
		if fields != 0 || flags&javaEnumFlag != 0 && version != 0 {
			w.fail(corruptf("%d fields or a version in a class with flags %#x", fields, flags))
		}
	case javaSerializable, javaSerializable | javaWriteMethod:
	case javaExternalizable: // of protocol version 1: nothing tells where its data ends
		w.fail(unsupportedf("a class with flags %#x", flags))
	default:
		w.fail(corruptf("a class with flags %#x", flags))
	}
	if fields < 0 {
		w.fail(corruptf("%d fields", fields))
	}
	w.describe(c, javaFrame{what: aField, n: int32(fields)})
}

// field takes type and length of the name of a field.
func (w *javaWalk) field(class int32, b []byte) {
	c := &w.classes[class]
	switch size := primitiveSize(b[0]); {
	case size > 0 && c.objects > 0:
		w.fail(corruptf("a field of type %q after those of objects", b[0]))
	case size > 0:
		c.data += size
	case b[0] == 'L' || b[0] == '[':
		c.objects++
		w.push(javaFrame{what: constant}) // which follows the name
	default:
		w.fail(corruptf("a field of type %q", b[0]))
	}
	w.skipText(int64(binary.BigEndian.Uint16(b[1:])))
}

// superclass ends a description: the one that was read last is its superclass.
func (w *javaWalk) superclass(class int32) {
	c, super := &w.classes[class], w.class
	if super != noClass {
		// A superclass is finished, so there are no circles.
		s := w.classes[super]
		if s.flags == 0 || c.flags == 0 || (s.flags^c.flags)&javaEnumFlag != 0 || s.flags&^c.flags&javaExternalizable != 0 {
			w.fail(corruptf("a class with flags %#x has a superclass with flags %#x", c.flags, s.flags))
		}
		if s.data == 0 && s.objects == 0 && s.flags&javaWriteMethod == 0 {
			super = s.super // what objects have none of need not be looked at for each
		}
	}
	c.super, w.class = super, class
}

// instance goes on after the class of an object.
func (w *javaWalk) instance(f javaFrame, b []byte) {
	if f.what == fieldValues {
		w.fieldValues(f.class)
		return
	}
	if w.class == noClass {
		w.fail(corruptf("no class"))
		return
	}
	w.number(false)
	switch c := &w.classes[w.class]; f.what {
	case aClass:
	case anEnum:
		if c.flags&javaEnumFlag == 0 {
			w.fail(corruptf("an enum constant of no enum"))
		}
		w.push(javaFrame{what: constant})
	case anArray:
		w.array(c.element, int32(binary.BigEndian.Uint32(b)))
	default:
		w.object(c)
	}
}

func (w *javaWalk) object(c *walkedClass) {
	switch {
	case c.element != 0 || c.flags == 0 || c.flags&javaEnumFlag != 0:
		w.fail(corruptf("an object of a class that has none"))
	case c.flags&javaExternalizable != 0: // it writes what its superclasses have, too
		w.push(javaFrame{what: annotation})
	default:
		// The data of the topmost class comes first.
		for i := w.class; i != noClass && w.err == nil; i = w.classes[i].super {
			w.push(javaFrame{what: fieldValues, class: i})
		}
	}
}

func (w *javaWalk) fieldValues(class int32) {
	c := &w.classes[class]
	if c.flags&javaWriteMethod != 0 {
		w.push(javaFrame{what: annotation})
	}
	if c.objects > 0 {
		w.push(javaFrame{what: value, n: c.objects})
	}
	w.skipData(int64(c.data))
}

func (w *javaWalk) array(element byte, n int32) {
	size := primitiveSize(element)
	switch {
	case size == 0 && element != 'L' && element != '[':
		w.fail(corruptf("an array of %q", element))
	case n < 0:
		w.fail(corruptf("an array of %d elements", n))
	case size > 0:
		w.skipData(int64(n) * int64(size))
	case n > 0:
		w.push(javaFrame{what: value, n: n})
	}
}

// primitiveSize gives the bytes of a primitive type; 0: it is none.
func primitiveSize(kind byte) int32 {
	switch kind {
	case 'B', 'Z':
		return 1
	case 'C', 'S':
		return 2
	case 'F', 'I':
		return 4
	case 'D', 'J':
		return 8
	}
	return 0
}
