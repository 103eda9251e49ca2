package flinkmeta

import (
	"encoding/binary"
	"strings"
)

// encoder writes the format as its description has it, independently of the
// decoder: every method appends one element.
type encoder struct{ b []byte }

func (e *encoder) u8(v byte) *encoder {
	e.b = append(e.b, v)
	return e
}

func (e *encoder) i32(v int32) *encoder {
	e.b = binary.BigEndian.AppendUint32(e.b, uint32(v))
	return e
}

func (e *encoder) i64(v int64) *encoder {
	e.b = binary.BigEndian.AppendUint64(e.b, uint64(v))
	return e
}

func (e *encoder) raw(b []byte) *encoder {
	e.b = append(e.b, b...)
	return e
}

// utf writes a string that is given in modified UTF-8.
func (e *encoder) utf(s string) *encoder {
	e.b = binary.BigEndian.AppendUint16(e.b, uint16(len(s)))
	e.b = append(e.b, s...)
	return e
}

func (e *encoder) longs(n int) *encoder {
	e.i32(int32(n))
	for i := range n {
		e.i64(int64(i) * 100)
	}
	return e
}

func (e *encoder) file(path string, size int64) *encoder { return e.u8(2).i64(size).utf(path) }

func (e *encoder) relative(path string, size int64) *encoder { return e.u8(6).utf(path).i64(size) }

func (e *encoder) segment(path string, start, size int64, scope int32, id string) *encoder {
	return e.u8(15).i64(start).i64(size).i32(scope).utf(path).utf(id)
}

func (e *encoder) inline(name string, n int) *encoder {
	return e.u8(1).utf(name).i32(int32(n)).raw(make([]byte, n))
}

// begin writes a header, no master states and the start of one operator with
// two subtasks, of which the first begins.
func begin(version int32) *encoder {
	return new(encoder).head(version).i32(0).i32(1).operator(version, 2).i32(2).subtask(version, 0)
}

func (e *encoder) head(version int32) *encoder {
	return e.i32(0x4960672d).i32(version).i64(7)
}

// operator writes all of an operator before the number of subtasks.
func (e *encoder) operator(version, parallelism int32) *encoder {
	if version >= 5 {
		e.utf("a name").utf("uid")
	}
	e.i64(0x1122).i64(0x3344).i32(parallelism).i32(128)
	if version == 2 {
		return e.i32(1)
	}
	return e.u8(0)
}

func (e *encoder) subtask(version, index int32) *encoder {
	e.i32(index)
	if version == 2 {
		e.i64(-1).i32(0)
	}
	return e
}

// empty writes the state of a subtask that has none, from a point on.
func (e *encoder) empty(version int32, from part) *encoder {
	if from <= inManagedOperatorState {
		e.i32(0)
	}
	if from <= inRawOperatorState {
		e.i32(0)
	}
	if from <= inManagedKeyedState {
		e.u8(0)
	}
	if from <= inRawKeyedState {
		e.u8(0)
	}
	if from <= inInputChannels && version >= 3 {
		e.i32(0)
	}
	if from <= inResultSubpartitions && version >= 3 {
		e.i32(0)
	}
	if version >= 7 {
		e.u8(0)
	}
	return e
}

// finish ends the first subtask after a part, adds the second and the trailer.
func (e *encoder) finish(version int32, from part) []byte {
	e.empty(version, from).subtask(version, 1).empty(version, inManagedOperatorState)
	if version >= 4 {
		e.raw(properties(plainCheckpoint))
	}
	return e.b
}

// trailerValues are the variable parts of CheckpointProperties.
type trailerValues struct {
	discardCancelled, discardFailed, discardFinished, discardSubsumed, discardSuspended, forced, unclaimed byte
	name, sharing, action, format                                                                          string
}

var plainCheckpoint = trailerValues{discardFinished: 1, discardSubsumed: 1, name: "Checkpoint", sharing: "FORWARD_BACKWARD"}

// properties writes CheckpointProperties as java.io.ObjectOutputStream does.
func properties(v trailerValues) []byte {
	const base = "org.apache.flink.runtime.checkpoint."
	signature := func(class string) string { return "L" + strings.ReplaceAll(class, ".", "/") + ";" }
	e := new(encoder).raw([]byte{0xac, 0xed, 0, 5})
	e.u8(0x73).u8(0x72).utf(base + "CheckpointProperties").i64(2).u8(2).raw([]byte{0, 8})
	for _, f := range []string{"discardCancelled", "discardFailed", "discardFinished", "discardSubsumed", "discardSuspended", "forced", "unclaimed"} {
		e.u8('Z').utf(f)
	}
	e.u8('L').utf("checkpointType").u8(0x74).utf(signature(base + "SnapshotType")).u8(0x78).u8(0x70)
	e.raw([]byte{v.discardCancelled, v.discardFailed, v.discardFinished, v.discardSubsumed, v.discardSuspended, v.forced, v.unclaimed})
	savepoint := v.format != ""
	var handles int32 = 3 // class, signature, the object
	enum := func(class, constant string, known int32) int32 {
		e.u8(0x7e).u8(0x72).utf(class).i64(0).u8(0x12).raw([]byte{0, 0}).u8(0x78)
		handles++
		if known == 0 {
			e.u8(0x72).utf("java.lang.Enum").i64(0).u8(0x12).raw([]byte{0, 0}).u8(0x78).u8(0x70)
			known = 0x7e0000 + handles
			handles++
		} else {
			e.u8(0x71).i32(known)
		}
		e.u8(0x74).utf(constant)
		handles += 2 // the constant, its name
		return known
	}
	text := func(s string) { e.u8(0x74).utf(s); handles++ }
	object := func(class string, id int64, fields byte) {
		e.u8(0x73).u8(0x72).utf(base + class).i64(id).u8(2).raw([]byte{0, fields})
		handles++
	}
	if !savepoint {
		object("CheckpointType", -0x2921b0fcfa51e2c6, 2)
		e.u8('L').utf("name")
		text("Ljava/lang/String;")
		e.u8('L').utf("sharingFilesStrategy")
		text(signature(base + "SnapshotType$SharingFilesStrategy"))
		e.u8(0x78).u8(0x70)
		handles++
		text(v.name)
		enum(base+"SnapshotType$SharingFilesStrategy", v.sharing, 0)
		return e.b
	}
	object("SavepointType", -0x5f782cf75ba7eb48, 3)
	e.u8('L').utf("formatType")
	text("Lorg/apache/flink/core/execution/SavepointFormatType;")
	e.u8('L').utf("name")
	text("Ljava/lang/String;")
	e.u8('L').utf("postCheckpointAction")
	text(signature(base + "SavepointType$PostCheckpointAction"))
	e.u8(0x78).u8(0x70)
	handles++
	known := enum("org.apache.flink.core.execution.SavepointFormatType", v.format, 0)
	text(v.name)
	enum(base+"SavepointType$PostCheckpointAction", v.action, known)
	return e.b
}

// encodeReference writes a reference back.
func encodeReference(r *Reference) []byte {
	e := new(encoder)
	path := string(encodeModifiedUTF8(r.Path))
	switch r.Kind {
	case File:
		e.file(path, r.Size)
	case Relative:
		e.relative(path, r.Size)
	case Segment:
		e.segment(path, r.Start, r.Size, int32(r.Scope), string(encodeModifiedUTF8(r.LogicalID)))
	case Directory:
		e.utf(path)
	}
	return e.b
}
