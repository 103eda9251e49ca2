package flinkmeta

import "encoding/binary"

// A Java serialization stream, as far as Flink's CheckpointProperties need it:
// objects whose fields are booleans, strings, enums and such objects. Anything
// else is refused.

const (
	javaMagic = 0xaced0005 // magic and version of a stream

	javaNull       = 0x70
	javaReference  = 0x71
	javaClass      = 0x72 // description of a class
	javaObject     = 0x73
	javaString     = 0x74
	javaArray      = 0x75
	javaClassValue = 0x76 // a java.lang.Class
	javaBlock      = 0x77
	javaEndOfBlock = 0x78
	javaReset      = 0x79
	javaLongBlock  = 0x7a
	javaException  = 0x7b
	javaLongString = 0x7c
	javaProxy      = 0x7d
	javaEnum       = 0x7e

	javaFirstHandle = 0x7e0000

	// Flags of a class.
	javaWriteMethod    = 0x01 // it has a writeObject
	javaSerializable   = 0x02
	javaExternalizable = 0x04
	javaBlockData      = 0x08 // and what it writes is in blocks
	javaEnumFlag       = 0x10

	// More than enough for CheckpointProperties, which have 14, 3 and 100.
	maxJavaHandles = 64
	maxJavaDepth   = 8
	maxJavaString  = 1024
	maxJavaFields  = 32
)

type javaType struct {
	name   string
	id     int64 // serialVersionUID
	flags  byte
	fields []javaField
	super  *javaType
}

// javaField is a field of a class or, with its value, of an object.
type javaField struct {
	name  string
	kind  byte   // Z: boolean; L: object
	class string // of an object, as in "Ljava/lang/String;"
	value any    // bool, string, *javaValue or nil
}

// javaValue is an object, or an enum constant: then it has a constant and no fields.
type javaValue struct {
	class    *javaType
	fields   []javaField
	constant string
}

// javaReader reads such a stream from a cursor, whose error it shares.
type javaReader struct {
	*cursor
	handles []any // *javaType, string or *javaValue, by number
}

// open reads the head of the stream.
func (j *javaReader) open() {
	at := j.offset()
	if b := j.next(4); b != nil && binary.BigEndian.Uint32(b) != javaMagic {
		j.fail(at, corruptf("no Java serialization stream starts with %x", b))
	}
}

// remember gives the next number to v.
func (j *javaReader) remember(v any) int {
	if len(j.handles) == maxJavaHandles {
		j.fail(j.offset(), unsupportedf("more than %d objects", maxJavaHandles))
		return 0
	}
	j.handles = append(j.handles, v)
	return len(j.handles) - 1
}

// again gives what a number, read from the stream, stands for.
func (j *javaReader) again() any {
	at := j.offset()
	n := int64(j.i32()) - javaFirstHandle
	if j.err != nil {
		return nil
	}
	if n < 0 || n >= int64(len(j.handles)) {
		j.fail(at, corruptf("a reference to object %d of %d", n, len(j.handles)))
		return nil
	}
	return j.handles[n]
}

// text reads a string without its tag.
func (j *javaReader) text() string {
	at := j.offset()
	n := j.u16()
	if n > maxJavaString {
		j.fail(at, unsupportedf("a string of %d bytes", n))
		return ""
	}
	raw := j.next(n)
	s, ok := appendModifiedUTF8(nil, raw)
	if !ok {
		j.fail(at, corruptf("a string that is not modified UTF-8"))
	}
	return string(s)
}

// value reads whatever can be the value of a field.
func (j *javaReader) value(depth int) any {
	at := j.offset()
	if depth > maxJavaDepth {
		j.fail(at, unsupportedf("objects nested more than %d deep", maxJavaDepth))
		return nil
	}
	switch tag := j.u8(); {
	case j.err != nil:
	case tag == javaNull:
	case tag == javaReference:
		return j.again()
	case tag == javaString:
		n := j.remember("")
		s := j.text()
		if j.err == nil {
			j.handles[n] = s
		}
		return s
	case tag == javaEnum:
		return j.enum(depth)
	case tag == javaObject:
		return j.object(depth)
	default:
		j.fail(at, unsupportedf("Java content of kind %#x", tag))
	}
	return nil
}

// isEnum tells whether t is an enum as Java writes it: no version, no fields,
// and a superclass that is always the same.
func (t *javaType) isEnum() bool {
	plain := func(t *javaType) bool {
		return t != nil && t.id == 0 && t.flags == javaSerializable|javaEnumFlag && len(t.fields) == 0
	}
	return plain(t) && plain(t.super) && t.super.name == "java.lang.Enum" && t.super.super == nil
}

func (j *javaReader) enum(depth int) any {
	at := j.offset()
	class := j.class(depth)
	if j.err == nil && !class.isEnum() {
		j.fail(at, corruptf("an enum constant of no enum"))
	}
	v := &javaValue{class: class}
	j.remember(v)
	name, ok := j.value(depth + 1).(string)
	if !ok {
		j.fail(at, corruptf("an enum constant without a name"))
	}
	v.constant = name
	return v
}

func (j *javaReader) object(depth int) any {
	at := j.offset()
	class := j.class(depth)
	switch {
	case j.err != nil:
		return nil
	case class == nil:
		j.fail(at, corruptf("an object without a class"))
		return nil
	case class.flags != javaSerializable || class.super != nil:
		j.fail(at, unsupportedf("class %q: flags %#x, or a superclass", class.name, class.flags))
		return nil
	}
	v := &javaValue{class: class, fields: make([]javaField, len(class.fields))}
	j.remember(v)
	for i, f := range class.fields {
		if f.kind == 'Z' {
			f.value = j.flag(f.name)
		} else {
			f.value = j.value(depth + 1)
		}
		v.fields[i] = f
	}
	return v
}

// class reads the description of a class; nil: none, or an error.
func (j *javaReader) class(depth int) *javaType {
	at := j.offset()
	if depth > maxJavaDepth {
		j.fail(at, unsupportedf("classes nested more than %d deep", maxJavaDepth))
		return nil
	}
	switch tag := j.u8(); {
	case j.err != nil || tag == javaNull:
		return nil
	case tag == javaReference:
		if class, ok := j.again().(*javaType); ok {
			return class
		}
		j.fail(at, corruptf("a reference to a class that is none"))
		return nil
	case tag != javaClass:
		j.fail(at, unsupportedf("Java class of kind %#x", tag))
		return nil
	}
	class := &javaType{name: j.text(), id: j.i64()}
	j.remember(class)
	class.flags = j.u8()
	at = j.offset()
	n := j.u16()
	if n > maxJavaFields {
		j.fail(at, unsupportedf("class %q: %d fields", class.name, n))
		return nil
	}
	for range n {
		class.fields = append(class.fields, j.field(depth))
	}
	at = j.offset()
	if tag := j.u8(); j.err == nil && tag != javaEndOfBlock {
		j.fail(at, unsupportedf("class %q: annotations", class.name))
	}
	class.super = j.class(depth + 1)
	if j.err != nil {
		return nil
	}
	return class
}

// field reads the description of a field.
func (j *javaReader) field(depth int) javaField {
	at := j.offset()
	f := javaField{kind: j.u8(), name: j.text()}
	switch {
	case j.err != nil || f.kind == 'Z':
	case f.kind == 'L':
		class, ok := j.value(depth + 1).(string)
		if !ok {
			j.fail(at, corruptf("field %q: no class", f.name))
		}
		f.class = class
	default:
		j.fail(at, unsupportedf("field %q of type %q", f.name, f.kind))
	}
	return f
}
