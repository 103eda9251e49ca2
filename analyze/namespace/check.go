package namespace

import (
	"fmt"
	"slices"

	"fsweep/fsimage"
)

// idList counts inodes and remembers those with the lowest ids.
type idList struct {
	n   int64
	ids []uint64
}

const idListMax = 10

func (l *idList) add(id uint64) {
	l.n++
	l.remember(id)
}

// remember keeps the lowest ids, sorted, so that it does not matter in which
// order they come.
func (l *idList) remember(id uint64) {
	i, known := slices.BinarySearch(l.ids, id)
	if known || i == idListMax {
		return
	}
	l.ids = slices.Insert(l.ids, i, id)
	l.ids = l.ids[:min(len(l.ids), idListMax)]
}

func (l *idList) merge(o *idList) {
	l.n += o.n
	for _, id := range o.ids {
		l.remember(id)
	}
}

// problemCounts counts contradictions in an image.
type problemCounts struct {
	announced, records int64
	doubleParent       int64 // ids that stand in several lists of children
	doubleDirectory    int64 // directories with several lists of children
	loop               int64 // the root, or a directory itself, as its child
	duplicate          int64 // records with an id that an earlier one has
	circles            idList
	badNames           idList
	missing            idList  // inodes that snapshots name
	unreachable        idList  // files and symlinks that nothing leads to
	unknownEC          idList  // files with a policy that nobody defines
	bytes              float64 // about what all files take on disk, too large to wrap around
}

func (c *problemCounts) merge(o *problemCounts) {
	c.duplicate += o.duplicate
	c.badNames.merge(&o.badNames)
	c.missing.merge(&o.missing)
	c.unknownEC.merge(&o.unknownEC)
	c.unreachable.merge(&o.unreachable)
	c.bytes += o.bytes
}

// check turns what was counted into findings.
func (l *loader) check() {
	c := &l.counts
	if c.announced != c.records {
		l.findings = append(l.findings, CountFinding(c.announced, c.records))
	}
	l.findN("duplicate_inode", c.duplicate, nil, "inode records have the id of an earlier record and were ignored")
	l.findN("several_parents", c.doubleParent, nil, "entries of directories name an inode that another entry names too; the first one counts")
	l.findN("several_child_lists", c.doubleDirectory, nil, "directories have several lists of children, which were joined")
	l.findN("impossible_child", c.loop, nil, "entries name the root, or the directory itself, as a child and were ignored")
	l.findN("directory_circle", c.circles.n, c.circles.ids, "directories lie below themselves and cannot be reached from the root")
	l.findN("impossible_name", c.badNames.n, c.badNames.ids, "live inodes have a name that no client can make or use; their inode path is shown instead")
	l.findN("missing_inode_of_snapshot", c.missing.n, c.missing.ids, "inodes that snapshots name are missing")
	l.findN("unknown_erasure_coding_policy", c.unknownEC.n, c.unknownEC.ids, "erasure coded files have a policy that the image does not define; their parity is not known and not counted")
	if c.bytes >= 1<<63 {
		l.find("overflow", 1, nil, "lengths or space add up to more than 2^63 bytes; sums wrap around like the NameNode's")
	}
	l.checkRecords()
	l.duplicate = c.duplicate > 0
	if int64(len(l.open)) != l.leases && !l.hasSnapshots() && !l.o.NoSums {
		l.find("leases", 1, nil, "%d live files are under construction, section %s lists %d", len(l.open), fsimage.SectionUnderConstruction, l.leases)
	}
}

// CountFinding says that section INODE holds another number of inodes than its
// header announces, an unsigned number there.
func CountFinding(announced, records int64) Finding {
	return Finding{
		Code: "inode_count", Count: 1,
		Message: fmt.Sprintf("section %s announces %d inodes and holds %d", fsimage.SectionINode, uint64(announced), records),
	}
}

func (l *loader) hasSnapshots() bool {
	return l.snaps.dirs.len()+l.snaps.files.len()+len(l.snaps.refs) > 0
}

// checkRecords looks for ids in lists of children without a record, and for
// directories that nothing leads to.
func (l *loader) checkRecords() {
	var dangling, unreachable, childless idList
	dangling.n = int64(l.ids.len - l.seen.len())
	for d := range Dir(l.dirSet.len) {
		if !l.dirSeen.has(uint32(d)) {
			childless.add(l.ID(d))
		}
	}
	for d := range Dir(l.numDirs) {
		if l.Parent(d) == NoDir && d != l.root && l.attr.at(d).flags&flagRecord != 0 && l.kept.get(l.ID(d)) == nil && !l.circle[d] {
			unreachable.add(l.ID(d))
		}
	}
	l.findN("dangling_child", dangling.n, nil, "entries of directories name inodes that have no record")
	l.findN("children_of_no_directory", childless.n, childless.ids, "lists of children belong to inodes that are no directories")
	l.findN("unreachable_inode", l.counts.unreachable.n, l.counts.unreachable.ids, "files and symlinks are in no directory and in no snapshot")
	l.findN("unreachable_directory", unreachable.n, unreachable.ids, "directories are in no other directory and in no snapshot")
}

func (l *loader) findN(code string, n int64, ids []uint64, message string) {
	if n > 0 {
		l.find(code, n, ids, "%d %s", n, message)
	}
}

func (l *loader) find(code string, n int64, ids []uint64, format string, args ...any) {
	l.findings = append(l.findings, Finding{Code: code, Count: n, Message: fmt.Sprintf(format, args...), INodes: ids})
}
