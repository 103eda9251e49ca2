package flinkmeta

import (
	"fmt"
	"io"
	"math"
)

const (
	metadataMagic    = 0x4960672d
	masterStateMagic = -0x3694e96a // 0xc96b1696

	oldestVersion = 2
	newestVersion = 7

	// fullyFinished stands for the number of subtasks of an operator without any.
	fullyFinished = -1
)

// Decode reads a _metadata file to its end and calls fn for every reference in
// it, in the order of the file; one file can be referred to many times. It
// requires the file to end where its contents do.
//
// An error from fn ends the decoding and is returned unchanged. After any error
// the references handed out so far are in the file, but they are not all, and
// Info counts what was decoded.
func Decode(r io.Reader, fn func(*Reference) error) (Info, error) {
	d := &decoder{fn: fn}
	d.cursor = newCursor(r, d.place)
	d.metadata()
	d.info.Size = d.offset()
	return d.info, d.err
}

// part of a file, for messages.
type part uint8

const (
	inHeader part = iota
	inMasterState
	inOperator
	inCoordinator
	inManagedOperatorState
	inRawOperatorState
	inManagedKeyedState
	inRawKeyedState
	inInputChannels
	inResultSubpartitions
	inSubtask
	inProperties
	atEndOfFile
)

var partNames = [...]string{
	inHeader: "header", inMasterState: "master state", inOperator: "", inCoordinator: "coordinator state",
	inManagedOperatorState: "managed operator state", inRawOperatorState: "raw operator state",
	inManagedKeyedState: "managed keyed state", inRawKeyedState: "raw keyed state",
	inInputChannels: "input channel state", inResultSubpartitions: "result subpartition state",
	inSubtask: "", inProperties: "checkpoint properties", atEndOfFile: "end",
}

// decoder holds the state of one Decode.
type decoder struct {
	cursor
	fn   func(*Reference) error
	ref  Reference // handed out again and again
	info Info

	// Where the decoder is, for messages.
	part             part
	operator, master int32
	subtask          int32 // index of the subtask; -1: none yet
}

// place names what is being decoded. Operators and master states are counted
// from zero in the order of the file, subtasks have the index they have in Flink.
func (d *decoder) place() string {
	switch {
	case d.part == inMasterState:
		return fmt.Sprintf("master state %d", d.master)
	case d.part < inOperator || d.part >= inProperties:
		return partNames[d.part]
	}
	s := fmt.Sprintf("operator %d", d.operator)
	if d.subtask >= 0 {
		s += fmt.Sprintf(", subtask %d", d.subtask)
	}
	if name := partNames[d.part]; name != "" {
		s += ", " + name
	}
	return s
}

func (d *decoder) metadata() {
	if !d.header() {
		return
	}
	n := d.count("master states")
	d.part = inMasterState
	for d.master = 0; d.master < n && d.err == nil; d.master++ {
		d.masterState()
	}
	d.part, d.subtask = inHeader, -1
	n = d.count("operators")
	for d.operator = 0; d.operator < n && d.err == nil; d.operator++ {
		d.part, d.subtask = inOperator, -1
		d.operatorState()
	}
	if d.info.Version >= 4 {
		d.part = inProperties
		d.properties()
	}
	if d.err == nil && !d.atEnd() {
		d.part = atEndOfFile
		d.fail(d.offset(), corruptf("more bytes than the contents announce"))
	}
}

// header reads magic, version and checkpoint id.
func (d *decoder) header() bool {
	if !d.magic() {
		return false
	}
	at := d.offset()
	d.info.Version = d.i32()
	if d.err == nil && (d.info.Version < oldestVersion || d.info.Version > newestVersion) {
		d.fail(at, unsupportedf("version %d of the format", d.info.Version))
	}
	at = d.offset()
	d.info.CheckpointID = d.i64()
	if d.info.CheckpointID < 0 {
		d.fail(at, corruptf("checkpoint id %d", d.info.CheckpointID))
	}
	return d.err == nil
}

// magic tells a file that is something else from one that is cut.
func (d *decoder) magic() bool {
	want := [...]byte{metadataMagic >> 24, metadataMagic >> 16 & 0xff, metadataMagic >> 8 & 0xff, metadataMagic & 0xff}
	for _, b := range want {
		if got := d.u8(); d.err == nil && got != b {
			d.fail(0, ErrNotMetadata)
		}
	}
	return d.err == nil
}

// masterState passes over the state of a hook at the JobManager; it refers to
// nothing that is Flink's.
func (d *decoder) masterState() {
	at := d.offset()
	if magic := d.i32(); d.err == nil && magic != masterStateMagic {
		d.fail(at, corruptf("no master state starts with %#x", uint32(magic)))
		return
	}
	n := int64(d.count("bytes of master state"))
	start := d.offset()
	d.i32() // version of the hook
	d.skipString()
	d.skip(int64(d.count("bytes of master state")))
	if d.err == nil && d.offset()-start != n {
		d.fail(start, corruptf("a master state of %d bytes holds %d", n, d.offset()-start))
	}
	if d.err == nil {
		d.info.MasterStates++
	}
}

func (d *decoder) operatorState() {
	if d.info.Version >= 5 {
		d.skipString() // name
		d.skipString() // uid
	}
	d.skip(16) // id
	at := d.offset()
	parallelism, maxParallelism := d.i32(), d.i32()
	if d.err == nil && parallelism > maxParallelism {
		d.fail(at, corruptf("parallelism %d of at most %d", parallelism, maxParallelism))
	}
	coordinated := false
	if d.info.Version == 2 {
		d.i32() // length of the chain, no longer used
	} else {
		d.part = inCoordinator
		coordinated = d.coordinator()
		d.part = inOperator
	}
	d.subtasks(parallelism, coordinated)
	if d.err == nil {
		d.info.Operators++
	}
}

// coordinator reads the state of an operator's coordinator, which is always in
// the file itself, and tells whether there is any.
func (d *decoder) coordinator() bool {
	at := d.offset()
	tag := d.u8()
	switch tag {
	case handleNull:
		return false
	case handleInline:
		d.inline()
	default:
		d.fail(at, corruptf("coordinator state in a handle of kind %d", tag))
	}
	return true
}

func (d *decoder) subtasks(parallelism int32, coordinated bool) {
	at := d.offset()
	n := d.i32()
	switch {
	case n == fullyFinished && d.info.Version > 2:
		if coordinated {
			d.fail(at, corruptf("a finished operator with coordinator state"))
			return
		}
		if d.err == nil {
			d.info.FinishedOperators++
		}
		return
	case n < 0 || n > max(parallelism, 0):
		d.fail(at, corruptf("%d subtasks of an operator with parallelism %d", n, parallelism))
		return
	}
	for range n {
		d.subtaskState(parallelism)
		if d.err != nil {
			return
		}
	}
}

func (d *decoder) subtaskState(parallelism int32) {
	at := d.offset()
	index := d.i32()
	finished := index < 0 && d.info.Version > 2
	if finished {
		index = -(index + 1)
	}
	if index < 0 || d.err == nil && index >= parallelism {
		d.fail(at, corruptf("subtask %d of an operator with parallelism %d", index, parallelism))
	}
	if d.err != nil {
		return
	}
	d.subtask = index
	d.info.Subtasks++
	if finished {
		d.info.FinishedSubtasks++
		return
	}
	if d.info.Version == 2 {
		d.i64() // duration
		at = d.offset()
		if legacy := d.i32(); legacy != 0 {
			d.fail(at, unsupportedf("state of Flink 1.1"))
		}
	}
	d.part = inManagedOperatorState
	d.operatorStates()
	d.part = inRawOperatorState
	d.operatorStates()
	d.part = inManagedKeyedState
	d.keyedState(0, ofSubtask)
	d.part = inRawKeyedState
	d.keyedState(0, ofSubtask)
	if d.info.Version >= 3 {
		d.part = inInputChannels
		d.channels()
		d.part = inResultSubpartitions
		d.channels()
	}
	d.part = inSubtask
	if d.info.Version >= 7 && d.flag("the mark of a regional checkpoint") {
		d.regional()
	}
}

// regional reads the id of the older checkpoint that this subtask's state is
// from. Its files are referred to like any others.
func (d *decoder) regional() {
	at := d.offset()
	id := d.i64()
	if id < 0 {
		d.fail(at, corruptf("checkpoint id %d", id))
	}
	if d.err == nil {
		if d.info.RegionalSubtasks == 0 || id < d.info.OldestRegional {
			d.info.OldestRegional = id
		}
		d.info.RegionalSubtasks++
	}
}

// emit hands out d.ref.
func (d *decoder) emit() {
	if d.err != nil {
		return
	}
	if len(d.ref.Path) == 0 {
		d.fail(d.ref.Offset, corruptf("a %v without a path", d.ref.Kind))
		return
	}
	d.info.References++
	if err := d.fn(&d.ref); err != nil {
		d.stop(err)
	}
}

// add counts bytes, of which there are never 2^63 in a file.
func add(sum *int64, n int64) {
	if *sum > math.MaxInt64-n {
		*sum = math.MaxInt64
		return
	}
	*sum += n
}
