package flinkmeta

// Tags of handles: one numbering for all, but each stands only at some places.
// They do not follow the version of the file: Flink gave new tags to old versions.
const (
	handleNull               = 0
	handleInline             = 1
	handleFile               = 2
	handleKeyGroups          = 3
	handlePartitionable      = 4
	handleIncremental        = 5
	handleRelative           = 6
	handleSavepointKeyGroups = 7
	handleChangelog          = 8
	handleChangesInline      = 9
	handleChangesFiles       = 10
	handleIncrementalV2      = 11
	handleKeyGroupsV2        = 12
	handleChangesFilesV2     = 13
	handleChangelogV2        = 14
	handleSegment            = 15
	handleEmptySegment       = 16
	handleMerged             = 17
)

// Tags of channel state handles since version 6.
const (
	channelInput        = 1
	channelSubpartition = 2
	channelMergedInput  = 3
	channelMergedOutput = 4
)

const (
	// maxDepth of handles in handles. Flink nests changelog, its parts, files: 3.
	maxDepth = 16

	maxMode         = 2  // SPLIT_DISTRIBUTE, UNION, BROADCAST
	unknownFileSize = -1 // Flink's own mark, the only negative size it takes
)

func (d *decoder) operatorStates() {
	at := d.offset()
	switch n := d.i32(); n {
	case 0:
	case 1:
		d.operatorStateHandle()
	default: // Flink's reader takes any number for one; its writer knows these two
		d.fail(at, corruptf("%d operator states in one place", n))
	}
}

func (d *decoder) operatorStateHandle() {
	at := d.offset()
	tag := d.u8()
	switch tag {
	case handlePartitionable, handleMerged:
	case handleNull: // 0 before it would have said so
		d.fail(at, corruptf("no handle where one must be"))
		return
	default:
		d.fail(at, unsupportedf("operator state handle of kind %d", tag))
		return
	}
	for range d.count("state names") {
		d.skipString()
		at := d.offset()
		if mode := d.u8(); mode > maxMode {
			d.fail(at, corruptf("distribution mode %d", mode))
		}
		d.offsets("offsets")
		if d.err != nil {
			return
		}
	}
	if tag == handlePartitionable {
		d.stream(0, true)
		return
	}
	d.directory()
	d.directory()
	d.flag("the mark of an empty handle")
	at = d.offset()
	if tag := d.stream(0, true); tag != handleSegment && tag != handleEmptySegment {
		d.fail(at, corruptf("a handle of kind %d where only segments are", tag))
	}
}

// offsets passes over a list of positions in a state file.
func (d *decoder) offsets(what string) {
	d.skip(8 * int64(d.count(what)))
}

// directory reads one of the directories of merged files.
func (d *decoder) directory() {
	d.start(Directory, d.offset())
	d.ref.Size = -1
	d.ref.Path = d.appendString(d.ref.Path[:0])
	d.emit()
}

// keyGroups reads the range of key groups and gives their number.
func (d *decoder) keyGroups() int64 {
	at := d.offset()
	start := d.i32()
	n := d.count("key groups")
	if start < 0 || start+n < start { // the sum wraps around
		d.fail(at, corruptf("%d key groups from %d on", n, start))
	}
	return int64(n)
}

// keyedPlace is where a keyed state handle stands; it bounds which it can be.
type keyedPlace uint8

const (
	ofSubtask      keyedPlace = iota // any, or none
	ofMaterialized                   // any
	ofChanges                        // changes only
)

func (p keyedPlace) takes(tag byte) bool {
	switch tag {
	case handleNull:
		return p == ofSubtask
	case handleChangesInline, handleChangesFiles, handleChangesFilesV2:
		return true
	default:
		return p != ofChanges
	}
}

// keyedState reads a handle of keyed state.
func (d *decoder) keyedState(depth int, place keyedPlace) {
	at := d.offset()
	if depth > maxDepth {
		d.fail(at, unsupportedf("handles nested more than %d deep", maxDepth))
		return
	}
	tag := d.u8()
	if d.err == nil && tag <= handleMerged && !place.takes(tag) {
		d.fail(at, corruptf("a handle of kind %d in a changelog", tag))
		return
	}
	switch tag {
	case handleNull:
	case handleKeyGroups, handleSavepointKeyGroups, handleKeyGroupsV2:
		d.skip(8 * d.keyGroups())
		d.stream(0, true)
		if tag == handleKeyGroupsV2 {
			d.skipString() // id of the handle
		}
	case handleIncremental, handleIncrementalV2:
		d.incremental(tag)
	case handleChangelog, handleChangelogV2:
		d.changelog(tag, depth)
	case handleChangesInline:
		d.changesInline()
	case handleChangesFiles, handleChangesFilesV2:
		d.changesFiles(tag)
	default:
		d.fail(at, unsupportedf("keyed state handle of kind %d", tag))
	}
}

func (d *decoder) incremental(tag byte) {
	d.i64()        // checkpoint id
	d.skipString() // backend
	d.keyGroups()
	if tag == handleIncrementalV2 {
		d.i64() // size of this checkpoint
	}
	d.stream(0, true) // the backend's own metadata
	for range 2 {     // shared, private
		for range d.count("state files") {
			d.skipString() // local name
			d.stream(0, true)
			if d.err != nil {
				return
			}
		}
	}
	if tag == handleIncrementalV2 {
		d.skipString() // id of the handle
	}
}

func (d *decoder) changelog(tag byte, depth int) {
	d.keyGroups()
	d.i64() // size of this checkpoint
	for _, place := range []keyedPlace{ofMaterialized, ofChanges} {
		for range d.count("parts of a changelog") {
			d.keyedState(depth+1, place)
			if d.err != nil {
				return
			}
		}
	}
	d.i64() // materialization id
	if tag == handleChangelogV2 {
		d.i64() // checkpoint id
	}
	d.skipString() // id of the handle
}

func (d *decoder) changesInline() {
	d.keyGroups()
	d.skip(16) // from, to
	for range d.count("changes") {
		d.i32() // key group
		n := int64(d.count("bytes of a change"))
		d.skip(n)
		if d.err != nil {
			return
		}
		add(&d.info.ChangeBytes, n)
	}
	d.skipString() // id of the handle
}

func (d *decoder) changesFiles(tag byte) {
	d.keyGroups()
	for range d.count("files of changes") {
		d.i64() // offset
		d.stream(0, false)
		if d.err != nil {
			return
		}
	}
	d.skip(16)     // size, size of this checkpoint
	d.skipString() // id of the handle
	if tag == handleChangesFilesV2 {
		d.skipString() // name of the storage
	}
}

// channels reads a list of handles of in-flight data.
func (d *decoder) channels() {
	for range d.count("channel handles") {
		d.channel()
		if d.err != nil {
			return
		}
	}
}

func (d *decoder) channel() {
	at := d.offset()
	tag := byte(channelInput)
	if d.info.Version >= 6 {
		tag = d.u8()
	}
	switch tag {
	case channelInput, channelSubpartition:
		d.skip(12) // subtask; gate and channel, or partition and subpartition
		d.offsets("offsets")
		d.i64() // size
		d.stream(0, true)
	case channelMergedInput, channelMergedOutput:
		d.skip(12) // subtask, size
		d.stream(0, false)
		d.skip(int64(d.count("bytes of offsets")))
	default:
		d.fail(at, unsupportedf("channel state handle of kind %d", tag))
	}
}

// stream reads a handle of a stream of bytes and gives its tag. Where Flink's
// classes insist on one (required), none is refused.
func (d *decoder) stream(depth int, required bool) byte {
	at := d.offset()
	tag := d.u8()
	switch tag {
	case handleNull:
		if required {
			d.fail(at, corruptf("no handle where one must be"))
		}
	case handleInline:
		d.inline()
	case handleFile:
		d.start(File, at)
		d.ref.Size = d.size(unknownFileSize)
		d.ref.Path = d.appendString(d.ref.Path[:0])
		d.emit()
	case handleRelative:
		d.start(Relative, at)
		d.ref.Path = d.appendString(d.ref.Path[:0])
		d.ref.Size = d.size(unknownFileSize)
		d.emit()
	case handleSegment:
		d.segment(at)
	case handleEmptySegment:
		if d.err == nil {
			d.info.EmptySegments++
		}
	case handleKeyGroups:
		if depth == maxDepth {
			d.fail(at, unsupportedf("handles nested more than %d deep", maxDepth))
			return tag
		}
		d.skip(8 * d.keyGroups())
		d.stream(depth+1, true)
	default:
		d.fail(at, unsupportedf("state handle of kind %d", tag))
	}
	return tag
}

// start begins a reference; its slices are used again.
func (d *decoder) start(kind Kind, at int64) {
	d.ref = Reference{Kind: kind, Path: d.ref.Path[:0], LogicalID: d.ref.LogicalID[:0], Offset: at}
}

func (d *decoder) segment(at int64) {
	d.start(Segment, at)
	d.ref.Start = d.size(0)
	d.ref.Size = d.size(0)
	where := d.offset()
	switch scope := d.i32(); scope {
	case int32(Exclusive), int32(Shared):
		d.ref.Scope = Scope(scope)
	default:
		d.fail(where, corruptf("scope %d of a segment", scope))
	}
	d.ref.Path = d.appendString(d.ref.Path[:0])
	d.ref.LogicalID = d.appendString(d.ref.LogicalID[:0])
	d.emit()
}

// size reads a number of bytes, which may be as low as least.
func (d *decoder) size(least int64) int64 {
	at := d.offset()
	n := d.i64()
	if n < least {
		d.fail(at, corruptf("a size or position of %d bytes", n))
	}
	return n
}

// inline passes over state that is in the file itself, after its tag. Its name
// looks like a path, but no such file ever was.
func (d *decoder) inline() {
	d.skipString()
	n := int64(d.count("bytes of state"))
	d.skip(n)
	if d.err == nil {
		d.info.InlineHandles++
		add(&d.info.InlineBytes, n)
	}
}
