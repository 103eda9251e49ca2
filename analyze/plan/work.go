package plan

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/namespace"
	"fsweep/fsimage"
	"fsweep/proto/planfile"
)

// work is an item on its way into the plan.
type work struct {
	item     *cleanup.Item
	path     planfile.Path
	dir      namespace.Dir // NoDir of a file
	deferred string        // the first reason
	left     bool          // left out of the plan

	sum  planfile.Sum
	file *fileFacts // of a file, when it was seen
}

// fileFacts are what an image says of a file that is an item by itself.
type fileFacts struct {
	id, parent    uint64
	parentDir     namespace.Dir
	length, space int64 // bytes; on disk, as the content summary has it
	mtime, atime  int64
	permission    fsimage.Permission
	moved         namespace.Moved // what moving it gives back
	there         namespace.Usage // what a quarantine is charged for it
	open          bool
}

// addItems takes the items of the decision and marks the directories in them.
func (b *builder) addItems() {
	for _, list := range [][]*cleanup.Item{b.r.Decision.Items, b.r.Decision.Deferred} {
		for _, i := range list {
			w := &work{item: i, path: planfile.Path(i.Path), dir: namespace.NoDir}
			if len(i.Deferred) > 0 {
				w.deferred = string(i.Deferred[0].Rule)
			}
			b.items = append(b.items, w)
		}
	}
	slices.SortFunc(b.items, func(x, y *work) int { return cmp.Compare(x.path, y.path) })
	for n, w := range b.items {
		dir, ok := b.find(w.item.INodeID)
		if !ok {
			if f := b.r.Collector.unfinished[w.item.INodeID]; f != nil {
				w.file, w.sum = &f.facts, f.sum
			}
			continue
		}
		w.dir = dir
		b.mark(dir, uint32(n)+1)
		b.addDirs(w)
	}
}

// addSweeps marks the directories whose files may become items.
func (b *builder) addSweeps() {
	b.sweeps = slices.Clone(b.r.Decision.Sweeps)
	// The order of what lies in them: none is in another.
	slices.SortFunc(b.sweeps, func(x, y *cleanup.Sweep) int { return cmp.Compare(x.Path+"/", y.Path+"/") })
	for n, s := range b.sweeps {
		if dir, ok := b.find(s.INodeID); ok {
			b.mark(dir, uint32(len(b.items)+n)+1)
		}
	}
	if len(b.sweeps) == 0 {
		return
	}
	b.spool = newSpool(b.r.TempDir, b.workers(), b.sweeps)
	if b.r.sortMemory > 0 {
		b.spool.limit = b.r.sortMemory
	}
	for i := range b.d.Guards {
		if g := &b.d.Guards[i]; b.sweepOf(b.code(g.Parent)) != nil {
			b.guardIDs[g.INodeID] = true
		}
	}
}

func (b *builder) workers() int { return max(b.r.Workers, 1) }

// find gives the directory with an inode id.
func (b *builder) find(id uint64) (namespace.Dir, bool) {
	return b.t.Lookup(strconv.AppendUint([]byte("/.reserved/.inodes/"), id, 10))
}

// mark gives a directory and all below it a code.
func (b *builder) mark(top namespace.Dir, code uint32) {
	todo := []namespace.Dir{top}
	for len(todo) > 0 {
		d := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		b.column[d] = code
		todo = slices.AppendSeq(todo, b.d.Subdirectories(d))
	}
}

// addDirs makes the sum of an item: the tree has all that is said of directories, and
// the Collector the sums of what else is in each.
func (b *builder) addDirs(w *work) {
	todo := []namespace.Dir{w.dir}
	for len(todo) > 0 {
		d := todo[len(todo)-1]
		todo = slices.AppendSeq(todo[:len(todo)-1], b.d.Subdirectories(d))
		w.sum.Add(planfile.Entry{InodeID: b.t.ID(d), ParentID: b.t.ID(b.t.Parent(d)), Kind: planfile.EntryDirectory, MTimeMs: b.t.MTimeMs(d), Name: b.t.Name(d)})
		if in := b.r.Collector.sum(d); in != nil {
			w.sum.Merge(in)
		}
	}
}

// code gives the code of a directory, 0 of none.
func (b *builder) code(d namespace.Dir) uint32 {
	if d == namespace.NoDir {
		return 0
	}
	return b.column[d]
}

// workOf gives the item that a code stands for, nil if for none.
func (b *builder) workOf(code uint32) *work {
	if code == 0 || int(code) > len(b.items) {
		return nil
	}
	return b.items[code-1]
}

func (b *builder) sweepOf(code uint32) *cleanup.Sweep {
	if n := int(code) - len(b.items) - 1; n >= 0 {
		return b.sweeps[n]
	}
	return nil
}

// judge leaves out items about which the image contradicts itself, with all other
// items of their jobs: whatever is wrong there can be wrong in those as well.
func (b *builder) judge() {
	bad := map[*cleanup.JobDecision]bool{}
	n := 0
	var around enclosing
	for _, w := range b.items {
		if !around.apart(w.path) || !b.sound(w) {
			bad[w.item.Job] = true
			n++
		}
	}
	if n > 0 {
		b.warn(fmt.Sprintf("The image contradicts itself about %s: with all others of their jobs they are left out.", plural(n, "item", "items")))
	}
	for _, w := range b.items {
		w.left = bad[w.item.Job]
	}
	b.bad = bad
	b.fasten()
}

// enclosing are the paths, of those that came in order, that the next one can lie in.
type enclosing []planfile.Path

// apart tells whether a path is none of those before and in none of them. What is not
// has a name that something else has, too.
func (e *enclosing) apart(p planfile.Path) bool {
	for len(*e) > 0 && !strings.HasPrefix(string(p), string((*e)[len(*e)-1])) {
		*e = (*e)[:len(*e)-1]
	}
	for _, o := range *e {
		if p == o || p.Below(o) {
			return false
		}
	}
	*e = append(*e, p)
	return true
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// sound tells whether what the image says of an item fits together and has only
// names that a client can use.
func (b *builder) sound(w *work) bool {
	if w.path.Clean() != nil {
		return false
	}
	if w.dir == namespace.NoDir {
		f := w.file
		return f != nil && !f.open && f.parent == w.item.ParentID && f.sound()
	}
	children, dirs, names := int64(0), int64(0), true
	todo := []namespace.Dir{w.dir}
	for len(todo) > 0 {
		d := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		children += b.t.ChildCount(d)
		dirs++
		var last []byte
		for c := range b.d.Subdirectories(d) {
			name := b.t.Name(c)
			names = names && !impossible(name) && string(name) != string(last)
			last = name
			todo = append(todo, c)
		}
	}
	t, entries := totals(b.t.Summary(w.dir).Counts), int64(w.sum.Count())
	counted := min(t.Files, t.Directories, t.Symlinks, t.Length, t.Space) >= 0
	return names && counted && children == entries-1 && dirs <= t.Directories &&
		entries-dirs <= t.Files+t.Symlinks && entries <= t.Files+t.Symlinks+t.Directories &&
		b.t.ID(w.dir) == w.item.INodeID && b.t.ID(b.t.Parent(w.dir)) == w.item.ParentID
}

// impossible tells whether no client can make or use a name.
func impossible(name []byte) bool {
	switch string(name) {
	case "", ".", "..", ".snapshot":
		return true
	}
	return bytes.IndexByte(name, '/') >= 0
}

func totals(c namespace.Counts) planfile.Totals {
	return planfile.Totals{Files: c.Files, Directories: c.Directories, Symlinks: c.Symlinks, Length: c.Length, Space: c.Space}
}

// belts are the limits once more, in the numbers of the plan's lines, to which the plan
// is held by whoever reads it. Those of the decision count units as discovery did: an
// item can be left out, or have other numbers in its line.
type belts struct {
	limits                 planfile.Belts
	items, entries, length int64
	roots                  map[*cleanup.RootDecision]int64
	// What was deferred here, as [cleanup.Decide] has it: a unit for what is older in its
	// group, a part for those behind it.
	unit map[*cleanup.JobDecision]*cleanup.UnitDecision
	part map[*cleanup.UnitDecision]cleanup.Path
}

// admit counts an item, or gives all belts that it would break.
func (k *belts) admit(i *cleanup.Item, entries, length int64) (why []cleanup.Fact) {
	if !i.Root.Executable {
		return nil
	}
	over := func(rule cleanup.Rule, used, more, limit int64) {
		if more > limit-used { // a sum could overflow
			why = append(why, cleanup.Fact{Rule: rule, N: used + more, Limit: limit})
		}
	}
	l, t := &k.limits, &i.Root.Root.Totals
	over(cleanup.BeltItems, k.items, 1, l.MaxItems)
	over(cleanup.BeltInodesMove, 0, entries, l.MaxInodesPerMove)
	over(cleanup.BeltInodes, k.entries, entries, l.MaxInodes)
	over(cleanup.BeltPercent, k.roots[i.Root], entries, (t.Directories+t.Files+t.Symlinks)*l.MaxPercentOfRoot/100)
	if l.MaxBytes > 0 {
		over(cleanup.BeltBytes, k.length, length, l.MaxBytes)
	}
	if len(why) == 0 {
		k.items++
		k.entries += entries
		k.length += length
		k.roots[i.Root] += entries
	}
	return why
}

// behind tells whether something that must go before an item was deferred. Debris in a
// unit that stays, and units that nothing groups, stand for themselves.
func (k *belts) behind(i *cleanup.Item) []cleanup.Fact {
	if i.Unit.Verdict != cleanup.Candidate {
		return nil
	}
	if u := k.unit[i.Job]; u != nil && u != i.Unit && i.Job.Name != "" {
		return []cleanup.Fact{{Rule: cleanup.NewerDeferred, Path: u.Path}}
	}
	if part, ok := k.part[i.Unit]; ok {
		return []cleanup.Fact{{Rule: cleanup.EarlierPartStays, Path: part}}
	}
	return nil
}

// deferred notes for [belts.behind] that an item stays.
func (k *belts) deferred(i *cleanup.Item) {
	if i.Unit.Verdict != cleanup.Candidate {
		return
	}
	k.part[i.Unit] = i.Path
	if k.unit[i.Job] == nil {
		k.unit[i.Job] = i.Unit
	}
}

// Undeletable defers an item with an erasure coded file that a snapshot shows as well:
// NameNodes up to now fail to delete such a file once it was renamed, so it must never
// get into the trash.
const Undeletable cleanup.Rule = "undeletable"

func (b *builder) undeletable(w *work) bool {
	if w.dir == namespace.NoDir {
		return w.file.moved.Undeletable
	}
	m, err := b.t.IfMoved(w.dir)
	return err == nil && m.Undeletable // with an error nothing is written
}

// fasten holds the items against the belts, in the order of the decision.
func (b *builder) fasten() {
	b.belts = belts{
		limits: limits(&b.r.Policy.Belts), roots: map[*cleanup.RootDecision]int64{},
		unit: map[*cleanup.JobDecision]*cleanup.UnitDecision{}, part: map[*cleanup.UnitDecision]cleanup.Path{},
	}
	of := make(map[*cleanup.Item]*work, len(b.items))
	for _, w := range b.items {
		of[w.item] = w
	}
	for _, i := range b.r.Decision.Items {
		w := of[i]
		if w.left {
			continue
		}
		entries, length := int64(1), int64(0)
		if w.dir == namespace.NoDir {
			length = w.file.length
		} else {
			entries, length = int64(w.sum.Count()), b.t.Summary(w.dir).Length
		}
		why := b.belts.behind(i)
		switch {
		case len(why) > 0:
		case b.undeletable(w):
			why = []cleanup.Fact{{Rule: Undeletable}}
		default:
			why = b.belts.admit(i, entries, length)
		}
		if len(why) > 0 {
			w.deferred = string(why[0].Rule)
			b.out.Deferrals[i] = why
			b.belts.deferred(i)
		}
	}
}
