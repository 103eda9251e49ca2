package planfile

import (
	"hash/maphash"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// stage is how far a file has come; it never goes back.
type stage int

const (
	stageHeader stage = iota
	stageKnown
	stageGuard
	stageItem
	stageQuota
	stageFooter
)

// checker keeps the rules that concern more than one line, for writer and reader
// alike. Lines come in the order of the file; all errors wrap ErrInvalid.
type checker struct {
	h     *Header
	at    stage
	count Footer

	last Path // of the present kind of line, for the order

	seed     maphash.Seed
	guarded  idSet             // hashes of guards outside items, in roots, and of the directories above them, below the root
	outside  Path              // the last of them
	claims   map[uint64]claims // of guards that name an item, by its inode id, until it was there
	ids      idSet             // of items
	enclosed []Path
	item     openItem
	replay   *replay // instead of guarded and claims; nil: there is none

	planned []Sums // by root, without deferred items
	effects map[uint64]*effectSum
}

// claims are hashes of the directories below the root that hold all guards which name
// one item, from the uppermost on; 0: not all are in one directory there.
type claims [maxItemDepth]uint64

// openItem is the item whose directories follow.
type openItem struct {
	open                bool
	path                Path
	directory           bool
	id                  uint64
	entries, children   int64
	dirs                int64
	totals              Totals
	last                Name
	dirIDs, directories idSet
}

// effectSum adds up the effects on one quota directory.
type effectSum struct {
	planned Effect // of items that are not deferred
	seen    bool   // its quota line was there
}

func newChecker() *checker {
	return &checker{seed: maphash.MakeSeed(), effects: map[uint64]*effectSum{}, claims: map[uint64]claims{}}
}

// enter moves to the part of the file that a line belongs to.
func (k *checker) enter(to stage, line string) error {
	if k.at > to || k.at == stageFooter {
		return invalidf("a %s line is not allowed here", line)
	}
	if to > stageItem || to == stageItem && line == typeItem {
		if err := k.closeItem(); err != nil {
			return err
		}
	}
	if k.at != to {
		k.at, k.last = to, ""
	}
	return nil
}

// next demands a clean path behind that of the line before.
func (k *checker) next(p Path) error {
	if err := p.Clean(); err != nil {
		return err
	}
	switch {
	case p == k.last:
		return invalidf("path %q is there twice", p)
	case p < k.last:
		return invalidf("path %q stands behind %q: lines are sorted by the bytes of their paths", p, k.last)
	}
	k.last = p
	return nil
}

// innermost gives the index of the innermost root that holds p, or -1.
func (k *checker) innermost(p Path) int {
	found := -1
	for i := range k.h.Roots {
		if p.Below(k.h.Roots[i].Path) && (found < 0 || len(k.h.Roots[i].Path) > len(k.h.Roots[found].Path)) {
			found = i
		}
	}
	return found
}

// in gives the root that p stands in, and demands that it is the one named.
func (k *checker) in(p, root Path) (int, error) {
	i := k.innermost(p)
	switch {
	case i < 0 && root != "":
		return i, invalidf("path %q is not in its root %q", p, root)
	case i >= 0 && k.h.Roots[i].Path != root:
		return i, invalidf("path %q is in root %q, not in %q", p, k.h.Roots[i].Path, root)
	}
	return i, nil
}

func (k *checker) known(l *Known) error {
	if err := k.enter(stageKnown, typeKnown); err != nil {
		return err
	}
	if err := k.next(l.Path); err != nil {
		return err
	}
	root, err := k.in(l.Path, l.Root)
	if err != nil {
		return err
	}
	if root < 0 {
		return invalidf("path %q is in no root", l.Path)
	}
	if l.InodeID == 0 {
		return invalidf("no inode id")
	}
	layout, depth := k.h.Roots[root].Layout, strings.Count(string(l.Path[len(l.Root)+1:]), "/")+1
	if !slices.Contains(knownAt[l.Kind][layout], depth) {
		return invalidf("%q is no place for a %q in a root of layout %s", l.Path, l.Kind, layout)
	}
	k.count.Known++
	return nil
}

// knownAt has the depths of what is known in a root.
var knownAt = map[KnownKind]map[Layout][]int{
	KnownJob:       {LayoutJobRun: {1}, LayoutSavepoints: {1}},
	KnownRun:       {LayoutJobRun: {2}, LayoutRun: {1}},
	KnownSavepoint: {LayoutSavepoints: {1, 2}},
	KnownCluster:   {LayoutHAStorage: {1}},
	KnownEntry:     {LayoutJobRun: {1, 2}, LayoutRun: {1}, LayoutSavepoints: {1, 2}, LayoutHAStorage: {1}, LayoutChildren: {1}},
}

func (k *checker) guard(g *Guard) error {
	if err := k.enter(stageGuard, typeGuard); err != nil {
		return err
	}
	if err := k.next(g.Path); err != nil {
		return err
	}
	root, err := k.in(g.Path, g.Root)
	switch {
	case err != nil:
		return err
	case g.Kind != GuardMetadata && g.Kind != GuardHAPointer:
		return invalidf("unknown kind of guard %q", g.Kind)
	case g.InodeID == 0:
		return invalidf("no inode id")
	case g.Length < 0:
		return invalidf("length %d", g.Length)
	case g.Owner == "":
		return invalidf("no owner")
	case (g.Waived == "") != (g.WaivedUntilMs == 0) || g.WaivedUntilMs < 0:
		return invalidf("waived and waived_until_ms go together")
	case g.Item != 0 && root < 0:
		return invalidf("a guard in no root is in no item")
	}
	switch from := len(g.Root) + 1; {
	case k.replay != nil:
	case g.Item != 0:
		k.claim(g, from)
	case root >= 0:
		k.guardPath(g.Path, k.outside, from)
		k.outside = g.Path
	}
	k.count.Guards++
	return nil
}

// maxItemDepth is how deep below its root an item can stand that is a directory.
const maxItemDepth = 3

// claim notes that a guard is in an item that comes later.
func (k *checker) claim(g *Guard, from int) {
	var all claims
	for i, depth := from, 0; i < len(g.Path) && depth < maxItemDepth; i++ {
		if g.Path[i] == '/' {
			all[depth] = k.hash(string(g.Path[:i]))
			depth++
		}
	}
	if before, ok := k.claims[g.Item]; ok {
		for depth := range all {
			if all[depth] != before[depth] {
				all[depth] = 0
			}
		}
	}
	k.claims[g.Item] = all
}

// claimsOf demands that all guards that name an item are in it.
func (k *checker) claimsOf(i *Item) error {
	all, ok := k.claims[i.InodeID]
	if !ok {
		return nil
	}
	if !slices.Contains(all[:], k.hash(string(i.Path))) {
		return invalidf("a guard names item %d, but is not in %q", i.InodeID, i.Path)
	}
	delete(k.claims, i.InodeID)
	return nil
}

// guardPath notes a guard and the directories above it, as far as they are not
// those of the guard before.
func (k *checker) guardPath(p, before Path, from int) {
	same := 0
	for same < len(p) && same < len(before) && p[same] == before[same] {
		same++
	}
	for i := max(from, same); i <= len(p); i++ {
		if i == len(p) || p[i] == '/' {
			k.guarded.add(k.hash(string(p[:i])))
		}
	}
}

func (k *checker) hash(s string) uint64 { return max(1, maphash.String(k.seed, s)) }

func (k *checker) quota(q *Quota) error {
	if err := k.enter(stageQuota, typeQuota); err != nil {
		return err
	}
	if q.Path != "/" {
		if err := k.next(q.Path); err != nil {
			return err
		}
	} else if k.last != "" {
		return invalidf("path %q is there twice, or not the first", q.Path)
	} else {
		k.last = q.Path
	}
	sum := k.effects[q.InodeID]
	switch {
	case sum == nil:
		return invalidf("no item changes the quota of inode %d", q.InodeID)
	case sum.seen:
		return invalidf("a second quota line for inode %d", q.InodeID)
	}
	sum.seen = true
	for _, v := range []struct {
		name                 string
		before, after, freed int64
	}{
		{"ns_used", q.NSBefore, q.NSAfter, sum.planned.Inodes},
		{"ds_used", q.DSBefore, q.DSAfter, sum.planned.Space},
		{"DISK", q.TypesBefore.Disk, q.TypesAfter.Disk, sum.planned.Types.Disk},
		{"SSD", q.TypesBefore.SSD, q.TypesAfter.SSD, sum.planned.Types.SSD},
		{"ARCHIVE", q.TypesBefore.Archive, q.TypesAfter.Archive, sum.planned.Types.Archive},
		{"PROVIDED", q.TypesBefore.Provided, q.TypesAfter.Provided, sum.planned.Types.Provided},
		{"NVDIMM", q.TypesBefore.NVDIMM, q.TypesAfter.NVDIMM, sum.planned.Types.NVDIMM},
	} {
		if v.before-v.after != v.freed {
			return invalidf("%s: %d before, %d after, but items free %d", v.name, v.before, v.after, v.freed)
		}
	}
	k.count.Quotas++
	return nil
}

// footer gives the footer that belongs here.
func (k *checker) footer() (Footer, error) {
	if err := k.enter(stageFooter, typeFooter); err != nil {
		return Footer{}, err
	}
	if k.replay != nil {
		if err := k.replay.end(k.count.Guards); err != nil {
			return Footer{}, err
		}
	}
	if len(k.claims) > 0 {
		return Footer{}, invalidf("a guard names item %d, which is not there", slices.Min(slices.Collect(maps.Keys(k.claims))))
	}
	for id, sum := range k.effects {
		if !sum.seen {
			return Footer{}, invalidf("no quota line for inode %d, whose quota items change", id)
		}
	}
	return k.count, k.belts()
}

// belts holds the plan to its own limits.
func (k *checker) belts() error {
	b := &k.h.Belts
	var items, entries, length int64
	for i := range k.planned {
		r, sums := &k.h.Roots[i], &k.planned[i]
		if r.Mode != ModeExecute {
			continue
		}
		items, entries, length = items+sums.Items, entries+sums.Entries, length+sums.Totals.Length
		if b.MaxPercentOfRoot > 0 && moreThan(sums.Entries, 100, r.Inodes, b.MaxPercentOfRoot) {
			return invalidf("%d of the %d inodes of %q are planned, more than max_percent_of_root %d", sums.Entries, r.Inodes, r.Path, b.MaxPercentOfRoot)
		}
	}
	for _, v := range []struct {
		name       string
		value, max int64
	}{{"max_items", items, b.MaxItems}, {"max_inodes", entries, b.MaxInodes}, {"max_bytes", length, b.MaxBytes}} {
		if v.max > 0 && v.value > v.max {
			return invalidf("%d are planned, more than %s %d", v.value, v.name, v.max)
		}
	}
	return nil
}

// moreThan: a x b > c x d, of numbers that are not negative.
func moreThan(a, b, c, d int64) bool {
	high, low := bits.Mul64(uint64(a), uint64(b))
	otherHigh, otherLow := bits.Mul64(uint64(c), uint64(d))
	return high > otherHigh || high == otherHigh && low > otherLow
}

// add adds up what cannot be negative.
func add(sum *int64, v int64) bool {
	if v < 0 || *sum > math.MaxInt64-v {
		return false
	}
	*sum += v
	return true
}

func (s *Sums) add(i *Item) bool {
	t, f := &i.Totals, &i.Freed
	return add(&s.Items, 1) && add(&s.Entries, i.Entries) && s.Totals.add(t) &&
		add(&s.Freed.Now, f.Now) && add(&s.Freed.AfterTrash, f.AfterTrash) && add(&s.Freed.HeldBySnapshots, f.HeldBySnapshots)
}

func (t *Totals) add(o *Totals) bool {
	return add(&t.Files, o.Files) && add(&t.Directories, o.Directories) && add(&t.Symlinks, o.Symlinks) &&
		add(&t.Length, o.Length) && add(&t.Space, o.Space)
}

// add adds effects, which can have either sign and wrap around like the NameNode's.
func (e *Effect) add(o *Effect) {
	e.Inodes += o.Inodes
	e.Space += o.Space
	e.Types.Disk += o.Types.Disk
	e.Types.SSD += o.Types.SSD
	e.Types.Archive += o.Types.Archive
	e.Types.Provided += o.Types.Provided
	e.Types.NVDIMM += o.Types.NVDIMM
}
