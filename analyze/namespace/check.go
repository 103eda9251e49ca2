package namespace

import (
	"fmt"
	"slices"

	"fsweep/fsimage"
)

// idList counts inodes and remembers the first few.
type idList struct {
	n   int64
	ids []uint64
}

const idListMax = 10

func (l *idList) add(id uint64) {
	l.n++
	if len(l.ids) < idListMax && !slices.Contains(l.ids, id) {
		l.ids = append(l.ids, id)
	}
}

func (l *idList) merge(o *idList) {
	l.n += o.n
	l.ids = append(l.ids, o.ids...)
	slices.Sort(l.ids)
	l.ids = l.ids[:min(len(l.ids), idListMax)]
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
	missing            idList // inodes that snapshots name
}

func (c *problemCounts) merge(o *problemCounts) {
	c.duplicate += o.duplicate
	c.badNames.merge(&o.badNames)
	c.missing.merge(&o.missing)
}

// check turns what was counted into findings.
func (l *loader) check() {
	c := &l.counts
	if c.announced != c.records {
		l.find("inode_count", 1, nil, "section %s announces %d inodes and holds %d", fsimage.SectionINode, c.announced, c.records)
	}
	l.findN("duplicate_inode", c.duplicate, nil, "inode records have the id of an earlier record and were ignored")
	l.findN("several_parents", c.doubleParent, nil, "entries of directories name an inode that another entry names too; the first one counts")
	l.findN("several_child_lists", c.doubleDirectory, nil, "directories have several lists of children, which were joined")
	l.findN("impossible_child", c.loop, nil, "entries name the root, or the directory itself, as a child and were ignored")
	l.findN("directory_circle", c.circles.n, c.circles.ids, "directories lie below themselves and cannot be reached from the root")
	l.findN("impossible_name", c.badNames.n, c.badNames.ids, "live inodes have a name that no client can make or use; their inode path is shown instead")
	l.findN("missing_inode_of_snapshot", c.missing.n, c.missing.ids, "inodes that snapshots name are missing")
	l.checkRecords()
	l.duplicate = c.duplicate > 0
	if int64(len(l.open)) != l.leases && !l.hasSnapshots() && !l.o.NoSums {
		l.find("leases", 1, nil, "%d live files are under construction, section %s lists %d", len(l.open), fsimage.SectionUnderConstruction, l.leases)
	}
}

func (l *loader) hasSnapshots() bool {
	return len(l.snaps.dirs)+len(l.snaps.files)+len(l.snaps.refs) > 0
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
		if l.Parent(d) == NoDir && d != l.root && l.attr.at(d).flags&flagRecord != 0 && l.kept.get(l.ID(d)) == nil {
			unreachable.add(l.ID(d))
		}
	}
	l.findN("dangling_child", dangling.n, nil, "entries of directories name inodes that have no record")
	l.findN("children_of_no_directory", childless.n, childless.ids, "lists of children belong to inodes that are no directories")
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
