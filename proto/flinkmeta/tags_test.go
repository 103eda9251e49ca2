package flinkmeta

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const (
	fileA     = "hdfs://nameservice1/flink/ROOT/a/shared/0e8b89d3-eab7-4bb0-9644-398ecde2542f"
	fileB     = "viewfs:/flink/b c%20d"
	directory = "hdfs:/flink/ROOT/taskowned"
)

// handles tries every kind of handle at every place, also those that no sample
// has. write adds what stands at the place; want are the lines of its references.
var handles = []struct {
	name  string
	at    part
	since int32 // version; channel handles changed with it
	until int32
	write func(e *encoder)
	want  []string
}{
	{"none", inManagedKeyedState, 2, 7, func(e *encoder) { e.u8(0) }, nil},
	{"partitionable", inManagedOperatorState, 2, 7, func(e *encoder) {
		e.i32(1).u8(4).i32(2).utf("s").u8(0).longs(3).utf("").u8(2).longs(0).file(fileA, 12)
	}, []string{wantFile(fileA, 12)}},
	{"partitionable, relative, unknown size", inRawOperatorState, 2, 7, func(e *encoder) {
		e.i32(1).u8(4).i32(0).relative("x y", -1)
	}, []string{`relative "x y" size -1 start 0 `}},
	{"merged", inManagedOperatorState, 2, 7, func(e *encoder) {
		e.i32(1).u8(17).i32(1).utf("s").u8(1).longs(1).utf(directory).utf("/x").u8(0).segment(fileA, 5, 6, 1, "id")
	}, []string{wantDirectory(directory), wantDirectory("/x"), wantSegment(fileA, 6, 5, "shared")}},
	{"merged, empty", inRawOperatorState, 2, 7, func(e *encoder) {
		e.i32(1).u8(17).i32(0).utf(directory).utf(directory).u8(1).u8(16)
	}, []string{wantDirectory(directory), wantDirectory(directory)}},
	{"key groups", inManagedKeyedState, 2, 7, func(e *encoder) {
		e.u8(3).i32(4).longs(2).file(fileB, 0)
	}, []string{wantFile(fileB, 0)}},
	{"key groups, none", inRawKeyedState, 2, 7, func(e *encoder) {
		e.u8(3).i32(0).longs(0).relative("r", 9)
	}, []string{`relative "r" size 9 start 0 `}},
	{"key groups of a savepoint", inManagedKeyedState, 2, 7, func(e *encoder) {
		e.u8(7).i32(0).longs(2).segment(fileA, 0, 1<<40, 0, "")
	}, []string{wantSegment(fileA, 1<<40, 0, "exclusive")}},
	{"key groups V2", inRawKeyedState, 2, 7, func(e *encoder) {
		e.u8(12).i32(1).longs(1).file(fileA, 1).utf("id")
	}, []string{wantFile(fileA, 1)}},
	{"incremental", inManagedKeyedState, 2, 7, func(e *encoder) {
		e.u8(5).i64(3).utf("uuid").i32(0).i32(64).relative("meta", 1).
			i32(2).utf("1.sst").file(fileA, 2).utf("2.sst").inline("", 0).
			i32(2).utf("CURRENT").inline(fileB, 16).utf("LOG").segment(fileB, 1, 2, 1, "l")
	}, []string{`relative "meta" size 1 start 0 `, wantFile(fileA, 2), wantSegment(fileB, 2, 1, "shared")}},
	{"incremental V2", inRawKeyedState, 2, 7, func(e *encoder) {
		e.u8(11).i64(3).utf("uuid").i32(0).i32(64).i64(-1).file(fileB, 1).i32(0).i32(1).utf("f").file(fileA, 2).utf("id")
	}, []string{wantFile(fileA, 2), wantFile(fileB, 1)}},
	{"changelog", inManagedKeyedState, 2, 7, func(e *encoder) {
		e.u8(8).i32(0).i32(64).i64(100).
			i32(1).u8(3).i32(0).longs(1).file(fileA, 1).
			i32(1).u8(10).i32(0).i32(64).i32(2).i64(0).file(fileB, 7).i64(5).relative("r", 8).i64(15).i64(15).utf("id").
			i64(4).utf("id")
	}, []string{wantFile(fileA, 1), wantFile(fileB, 7), `relative "r" size 8 start 0 `}},
	{"changelog V2", inRawKeyedState, 2, 7, func(e *encoder) {
		e.u8(14).i32(0).i32(64).i64(100).
			i32(1).u8(8).i32(0).i32(64).i64(0).i32(0).i32(0).i64(0).utf("nested").
			i32(2).u8(13).i32(0).i32(64).i32(1).i64(0).file(fileB, 7).i64(15).i64(15).utf("id").utf("filesystem").
			u8(9).i32(0).i32(64).i64(1).i64(2).i32(2).i32(5).i32(3).raw([]byte("abc")).i32(6).i32(0).utf("id").
			i64(4).i64(9).utf("id")
	}, []string{wantFile(fileB, 7)}},
	{"key groups as a stream", inManagedKeyedState, 2, 7, func(e *encoder) {
		e.u8(3).i32(0).longs(1).u8(3).i32(0).longs(2).u8(3).i32(7).longs(0).file(fileA, 3)
	}, []string{wantFile(fileA, 3)}},
	{"input channels", inInputChannels, 3, 5, func(e *encoder) {
		e.i32(2).i32(0).i32(1).i32(2).longs(2).i64(9).file(fileA, 3).i32(0).i32(1).i32(3).longs(0).i64(9).relative("r", 3)
	}, []string{wantFile(fileA, 3), `relative "r" size 3 start 0 `}},
	{"result subpartitions", inResultSubpartitions, 3, 5, func(e *encoder) {
		e.i32(1).i32(0).i32(1).i32(2).longs(2).i64(9).inline("x", 5)
	}, nil},
	{"input channels, tagged", inInputChannels, 6, 7, func(e *encoder) {
		e.i32(2).u8(1).i32(0).i32(1).i32(2).longs(2).i64(9).file(fileA, 3).u8(3).i32(0).i64(8).file(fileB, 4).i32(3).raw([]byte{1, 2, 3})
	}, []string{wantFile(fileA, 3), wantFile(fileB, 4)}},
	{"result subpartitions, tagged", inResultSubpartitions, 6, 7, func(e *encoder) {
		e.i32(2).u8(2).i32(0).i32(1).i32(2).longs(2).i64(9).file(fileA, 3).u8(4).i32(0).i64(8).u8(0).i32(0)
	}, []string{wantFile(fileA, 3)}},
}

func wantFile(path string, size int64) string {
	return fmt.Sprintf("file %q size %d start 0 ", path, size)
}

func wantDirectory(path string) string {
	return fmt.Sprintf("directory %q size -1 start 0 ", path)
}

func wantSegment(path string, size, start int64, scope string) string {
	return fmt.Sprintf("segment %q size %d start %d %s", path, size, start, scope)
}

// TestHandles decodes every kind of handle in every version of the format.
func TestHandles(t *testing.T) {
	t.Parallel()
	for _, h := range handles {
		for version := h.since; version <= h.until; version++ {
			e := begin(version)
			e.empty0(version, h.at)
			h.write(e)
			got, info, err := decodeAll(bytes.NewReader(e.finish(version, h.at+1)))
			want := slices.Sorted(slices.Values(h.want))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s, version %d: %v\ngot  %q\nwant %q", h.name, version, err, got, want)
			}
			if info.Version != version || info.CheckpointID != 7 || info.Operators != 1 || info.Subtasks != 2 {
				t.Errorf("%s, version %d: %+v", h.name, version, info)
			}
		}
	}
}

// empty0 writes what comes before a part of a subtask, empty.
func (e *encoder) empty0(version int32, before part) {
	for p := inManagedOperatorState; p < before; p++ {
		switch p {
		case inManagedKeyedState, inRawKeyedState:
			e.u8(0)
		case inInputChannels, inResultSubpartitions:
			if version >= 3 {
				e.i32(0)
			}
		default:
			e.i32(0)
		}
	}
}

// TestCounts: what is in a file beyond references.
func TestCounts(t *testing.T) {
	t.Parallel()
	master := new(encoder).i32(1).utf("hook").i32(3).raw([]byte("abc")).b
	e := new(encoder).head(7).
		i32(2).i32(-0x3694e96a).i32(int32(len(master))).raw(master).i32(-0x3694e96a).i32(int32(len(master))).raw(master).
		i32(3)
	e.utf("").utf("").i64(1).i64(2).i32(4).i32(4).inline("coordinator", 11).i32(3)
	e.i32(-2)                                                        // subtask 1 has finished
	e.i32(0).i32(0).i32(0).u8(0).u8(0).i32(0).i32(0).u8(1).i64(5)    // of checkpoint 5
	e.i32(3).i32(0).i32(0).u8(0).u8(0).i32(0).i32(0).u8(1).i64(3)    // of checkpoint 3
	e.operator(7, 2).i32(-1)                                         // finished
	e.operator(7, 1).i32(1).i32(0).i32(0).i32(0).u8(9).i32(0).i32(1) // changes
	e.i64(0).i64(1).i32(1).i32(0).i32(6).raw([]byte("change")).utf("id").u8(0).i32(0).i32(0).u8(0)
	e.raw(properties(trailerValues{forced: 1, unclaimed: 1, name: "Suspend Savepoint", action: "SUSPEND", format: "NATIVE"}))
	_, info, err := decodeAll(bytes.NewReader(e.b))
	want := Info{
		Version: 7, CheckpointID: 7, MasterStates: 2, Operators: 3, FinishedOperators: 1, Subtasks: 4, FinishedSubtasks: 1,
		RegionalSubtasks: 2, OldestRegional: 3, Kind: Savepoint, Format: Native,
		Properties:    Properties{Name: "Suspend Savepoint", Action: "SUSPEND", Forced: true, Unclaimed: true},
		InlineHandles: 1, InlineBytes: 11, ChangeBytes: 6, Size: int64(len(e.b)),
	}
	if err != nil || info != want {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, info, want)
	}
}

// TestTrailer: the encoder writes what Flink writes, byte for byte, and all
// other values are understood.
func TestTrailer(t *testing.T) {
	t.Parallel()
	found := 0
	for name, b := range readSamples(t) {
		i := bytes.LastIndex(b, []byte{0xac, 0xed, 0, 5})
		if i < 0 || !strings.HasSuffix(name, "_metadata") {
			continue
		}
		v := plainCheckpoint
		switch savepoint := bytes.Contains(b[i:], []byte("SavepointType")); {
		case savepoint && bytes.Contains(b[i:], []byte("NATIVE")):
			v = trailerValues{forced: 1, name: "Savepoint", action: "NONE", format: "NATIVE"}
		case savepoint:
			v = trailerValues{forced: 1, name: "Savepoint", action: "NONE", format: "CANONICAL"}
		case bytes.Contains(b[i:], []byte("xp\x01")):
			v.discardCancelled, v.discardSuspended = 1, 1
		}
		if found++; !bytes.Equal(properties(v), b[i:]) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, properties(v), b[i:])
		}
	}
	if found < 100 {
		t.Errorf("only %d trailers", found)
	}
	_, info, err := decodeAll(bytes.NewReader(append(new(encoder).head(4).i32(0).i32(0).b, 0xac, 0xed, 0, 5, 0x70)))
	if err != nil || info.Kind != UnknownSnapshot {
		t.Errorf("no properties: %v, %+v", err, info)
	}
}

// TestRefused: what Flink does not write is refused, and the message says where.
func TestRefused(t *testing.T) {
	t.Parallel()
	operator := func(version int32) *encoder { return new(encoder).head(version).i32(0).i32(1).operator(version, 2) }
	keyed := func() *encoder { return begin(6).i32(0).i32(0) }
	finish := func(e *encoder, from part) []byte { return e.finish(6, from) }
	trailer := func(old, now string) []byte {
		return new(encoder).head(6).i32(0).i32(0).raw(bytes.Replace(properties(plainCheckpoint), []byte(old), []byte(now), 1)).b
	}
	nested := keyed()
	for range maxDepth + 2 {
		nested.u8(8).i32(0).i32(1).i64(0).i32(1)
	}
	streams := keyed().u8(3).i32(0).longs(0)
	for range maxDepth + 2 {
		streams.u8(3).i32(0).longs(0)
	}
	for _, tc := range []struct {
		name  string
		b     []byte
		class error
		where string
		at    int64 // -1: not compared
	}{
		{"nothing", nil, ErrTruncated, "header", 0},
		{"something else", []byte("HDFSIMG1"), ErrNotMetadata, "header", 0},
		{"half a magic", []byte{0x49, 0x60}, ErrTruncated, "header", 2},
		{"version 1", new(encoder).head(1).b, ErrUnsupported, "header", 4},
		{"version 8", new(encoder).head(8).b, ErrUnsupported, "header", 4},
		{"negative version", new(encoder).head(-3).b, ErrUnsupported, "header", 4},
		{"negative checkpoint id", new(encoder).i32(0x4960672d).i32(3).i64(-1).b, ErrCorrupt, "header", 8},
		{"negative number of master states", new(encoder).head(3).i32(-1).b, ErrCorrupt, "header", 16},
		{"master state without magic", new(encoder).head(3).i32(1).i32(1).b, ErrCorrupt, "master state 0", 20},
		{"master state too long", new(encoder).head(3).i32(1).i32(-0x3694e96a).i32(11).i32(0).utf("").i32(0).raw(make([]byte, 99)).b, ErrCorrupt, "master state 0", 28},
		{"negative number of operators", new(encoder).head(3).i32(0).i32(-1).b, ErrCorrupt, "header", 20},
		{"parallelism above its maximum", new(encoder).head(3).i32(0).i32(1).i64(0).i64(0).i32(3).i32(2).b, ErrCorrupt, "operator 0", 40},
		{"coordinator state in a file", new(encoder).head(3).i32(0).i32(1).i64(0).i64(0).i32(2).i32(2).file(fileA, 1).b, ErrCorrupt, "operator 0, coordinator state", 48},
		{"finished with coordinator", new(encoder).head(3).i32(0).i32(1).i64(0).i64(0).i32(2).i32(2).inline("", 0).i32(-1).b, ErrCorrupt, "operator 0", -1},
		{"finished in version 2", operator(2).i32(-1).b, ErrCorrupt, "operator 0", -1},
		{"-2 subtasks", operator(3).i32(-2).b, ErrCorrupt, "operator 0", -1},
		{"more subtasks than parallelism", operator(3).i32(3).b, ErrCorrupt, "operator 0", -1},
		{"subtask beyond parallelism", operator(3).i32(1).i32(2).b, ErrCorrupt, "operator 0", -1},
		{"finished subtask beyond parallelism", operator(3).i32(1).i32(-4).b, ErrCorrupt, "operator 0", -1},
		{"finished subtask in version 2", operator(2).i32(1).i32(-1).b, ErrCorrupt, "operator 0", -1},
		{"legacy state", operator(2).i32(1).i32(1).i64(0).i32(1).b, ErrUnsupported, "operator 0, subtask 1", -1},
		{"two operator states", begin(6).i32(2).b, ErrCorrupt, "operator 0, subtask 0, managed operator state", -1},
		{"operator handle of a keyed kind", begin(6).i32(1).u8(3).b, ErrUnsupported, "operator 0, subtask 0, managed operator state", -1},
		{"mode", begin(6).i32(1).u8(4).i32(1).utf("").u8(3).b, ErrCorrupt, "operator 0, subtask 0, managed operator state", -1},
		{"negative number of names", begin(6).i32(1).u8(4).i32(-1).b, ErrCorrupt, "operator 0, subtask 0, managed operator state", -1},
		{"merged boolean", begin(6).i32(1).u8(17).i32(0).utf("a").utf("b").u8(2).b, ErrCorrupt, "operator 0, subtask 0, managed operator state", -1},
		{"merged in a file", begin(6).i32(1).u8(17).i32(0).utf("a").utf("b").u8(0).file("c", 1).b, ErrCorrupt, "operator 0, subtask 0, managed operator state", -1},
		{"keyed kind 4", keyed().u8(4).b, ErrUnsupported, "operator 0, subtask 0, managed keyed state", -1},
		{"keyed kind 255", keyed().u8(255).b, ErrUnsupported, "operator 0, subtask 0, managed keyed state", -1},
		{"raw keyed kind 18", keyed().u8(0).u8(18).b, ErrUnsupported, "operator 0, subtask 0, raw keyed state", -1},
		{"stream kind 4", keyed().u8(3).i32(0).longs(0).u8(4).b, ErrUnsupported, "operator 0, subtask 0, managed keyed state", -1},
		{"no stream", finish(keyed().u8(3).i32(0).longs(0).u8(0), inRawKeyedState), ErrCorrupt, "operator 0, subtask 0, managed keyed state", -1},
		{"no operator handle after all", begin(6).i32(1).u8(0).b, ErrCorrupt, "operator 0, subtask 0, managed operator state", -1},
		{"no state file", keyed().u8(5).i64(0).utf("").i32(0).i32(0).relative("m", 1).i32(1).utf("1.sst").u8(0).b, ErrCorrupt, "operator 0, subtask 0, managed keyed state", -1},
		{"no changes in a changelog", keyed().u8(8).i32(0).i32(0).i64(0).i32(0).i32(1).u8(8).b, ErrCorrupt, "operator 0, subtask 0, managed keyed state", -1},
		{"no part of a changelog", keyed().u8(8).i32(0).i32(0).i64(0).i32(1).u8(0).b, ErrCorrupt, "operator 0, subtask 0, managed keyed state", -1},
		{"key groups from -1 on", keyed().u8(3).i32(-1).longs(0).b, ErrCorrupt, "operator 0, subtask 0, managed keyed state", -1},
		{"-1 key groups", keyed().u8(3).i32(0).i32(-1).b, ErrCorrupt, "operator 0, subtask 0, managed keyed state", -1},
		{"too many key groups", keyed().u8(5).i64(0).utf("").i32(2).i32(1<<31 - 1).b, ErrCorrupt, "operator 0, subtask 0, managed keyed state", -1},
		{"file of -2 bytes", keyed().u8(3).i32(0).longs(0).file(fileA, -2).b, ErrCorrupt, "operator 0, subtask 0, managed keyed state", -1},
		{"file without a path", keyed().u8(3).i32(0).longs(0).file("", 1).b, ErrCorrupt, "operator 0, subtask 0, managed keyed state", -1},
		{"segment of -1 bytes", keyed().u8(3).i32(0).longs(0).segment("a", 0, -1, 0, "").b, ErrCorrupt, "operator 0, subtask 0, managed keyed state", -1},
		{"segment from -1 on", keyed().u8(3).i32(0).longs(0).segment("a", -1, 0, 0, "").b, ErrCorrupt, "operator 0, subtask 0, managed keyed state", -1},
		{"segment of scope 2", keyed().u8(3).i32(0).longs(0).segment("a", 0, 0, 2, "").b, ErrCorrupt, "operator 0, subtask 0, managed keyed state", -1},
		{"inline state of -1 bytes", keyed().u8(3).i32(0).longs(0).u8(1).utf("").i32(-1).b, ErrCorrupt, "operator 0, subtask 0, managed keyed state", -1},
		{"path with a zero byte", keyed().u8(3).i32(0).longs(0).file("a\x00", 1).b, ErrCorrupt, "operator 0, subtask 0, managed keyed state", -1},
		{"deep changelogs", nested.b, ErrUnsupported, "operator 0, subtask 0, managed keyed state", -1},
		{"deep streams", streams.b, ErrUnsupported, "operator 0, subtask 0, managed keyed state", -1},
		{"channel kind 5", keyed().u8(0).u8(0).i32(1).u8(5).b, ErrUnsupported, "operator 0, subtask 0, input channel state", -1},
		{"-1 channels", keyed().u8(0).u8(0).i32(0).i32(-1).b, ErrCorrupt, "operator 0, subtask 0, result subpartition state", -1},
		{"regional mark 2", begin(7).i32(0).i32(0).u8(0).u8(0).i32(0).i32(0).u8(2).b, ErrCorrupt, "operator 0, subtask 0", -1},
		{"byte after version 3", new(encoder).head(3).i32(0).i32(0).u8(0).b, ErrCorrupt, "end", 24},
		{"byte after the trailer", new(encoder).head(6).i32(0).i32(0).raw(properties(plainCheckpoint)).u8(0).b, ErrCorrupt, "end", 24 + 604},
		{"no trailer", new(encoder).head(6).i32(0).i32(0).b, ErrTruncated, "checkpoint properties", 24},
		{"another trailer", new(encoder).head(6).i32(0).i32(0).raw([]byte("PK\x03\x04")).b, ErrCorrupt, "checkpoint properties", 24},
		{"another class", trailer("CheckpointProperties", "CheckpointPropertieX"), ErrUnsupported, "checkpoint properties", 28},
		{"another version of the class", trailer("\x00\x02\x02", "\x00\x03\x02"), ErrUnsupported, "checkpoint properties", 28},
		{"another kind of snapshot", trailer("runtime.checkpoint.CheckpointType", "runtime.checkpoint.CheckpointTypX"), ErrUnsupported, "checkpoint properties", 28},
		{"another field", trailer("forced", "farced"), ErrUnsupported, "checkpoint properties", 28},
		{"field of another type", trailer("Z\x00\x06forced", "B\x00\x06forced"), ErrUnsupported, "checkpoint properties", -1},
		{"boolean of the trailer", trailer("xp\x00\x00\x01", "xp\x00\x00\x02"), ErrCorrupt, "checkpoint properties", -1},
		{"sharing", trailer("FORWARD_BACKWARD", "FORWARD_SIDEWARD"), ErrUnsupported, "checkpoint properties", 28},
		{"no snapshot type", trailer("\x00\x00sr\x00\x32", "\x00\x00pr\x00\x32"), ErrUnsupported, "checkpoint properties", -1},
		{"writeObject", trailer("\x00\x02\x02\x00\x08", "\x00\x02\x03\x00\x08"), ErrUnsupported, "checkpoint properties", -1},
		{"reference to nowhere", new(encoder).head(6).i32(0).i32(0).raw([]byte{0xac, 0xed, 0, 5, 0x71}).i32(0x7e0000).b, ErrCorrupt, "checkpoint properties", -1},
	} {
		_, _, err := decodeAll(bytes.NewReader(tc.b))
		var format *FormatError
		if !errors.Is(err, tc.class) || !errors.As(err, &format) || format.Where != tc.where || tc.at >= 0 && format.Offset != tc.at {
			t.Errorf("%s: %v; want %v in %q at %d", tc.name, err, tc.class, tc.where, tc.at)
		}
	}
}
