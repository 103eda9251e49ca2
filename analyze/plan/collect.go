package plan

import (
	"bytes"
	"sync"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/namespace"
	"fsweep/fsimage"
	"fsweep/proto/planfile"
)

// Collector takes from the pass of [flink.Discover] what a plan needs to know of
// files, so that most plans need no pass of their own: for every directory below a
// root the sum of the fingerprints of what is in it, before it is known what becomes
// an item; what is said of unfinished `_metadata` files; and whether paths of the
// policy are files.
//
// Memory: 4 bytes and a bit for each directory of the image, 40 for each below a root
// that has files.
type Collector struct {
	t    *namespace.Tree
	p    *cleanup.Policy
	at   placed
	near bitSet // directories in which a file is looked for
	look map[namespace.Dir][]*watch

	mu         sync.Mutex // protects what follows
	column     []uint32   // the number of the sum of a directory, from 1 on
	sums       []*[sumBlock]planfile.Sum
	used       int
	unfinished map[uint64]*unfinished

	workers []*fsimage.Apart[collecting]
}

// sumBlock is how many sums are made at once: a slice that grows would be copied.
const sumBlock = 1 << 9

// unfinished is a file that was to become a `_metadata`.
type unfinished struct {
	facts fileFacts
	sum   planfile.Sum
}

// collecting is what one goroutine collects. The sum of a directory is made here until
// another one needs the place: its files are close together in an image.
type collecting struct {
	c     *Collector
	slots [256]struct {
		dir namespace.Dir
		sum planfile.Sum
	}
}

// NewCollector makes a Collector for one Discover and one plan, or none, of a policy.
func NewCollector(t *namespace.Tree, p *cleanup.Policy) *Collector {
	c := &Collector{
		t: t, p: p, near: make(bitSet, (t.NumDirs()+63)/64), look: map[namespace.Dir][]*watch{},
		column: make([]uint32, t.NumDirs()), unfinished: map[uint64]*unfinished{},
	}
	c.places()
	return c
}

// Options gives the options of a Discover that is to be seen.
func (c *Collector) Options(workers int) flink.Options {
	return flink.Options{Workers: workers, Seen: c.worker, Also: c.wants}
}

// wants tells whether a file can be a path of the policy.
func (c *Collector) wants(parent namespace.Dir, _ []byte) bool { return c.near.has(parent) }

// worker is called for one worker after the other, before they start.
func (c *Collector) worker(int) func(e *namespace.Entry, inRoot bool) error {
	w := &fsimage.Apart[collecting]{}
	w.V.c = c
	for i := range w.V.slots {
		w.V.slots[i].dir = namespace.NoDir
	}
	c.workers = append(c.workers, w)
	return w.V.see
}

func (w *collecting) see(e *namespace.Entry, inRoot bool) error {
	c := w.c
	if c.near.has(e.Parent) {
		c.found(e)
	}
	if !inRoot {
		return nil
	}
	s := &w.slots[e.Parent%namespace.Dir(len(w.slots))]
	if s.dir != e.Parent {
		w.evict(int(e.Parent) % len(w.slots))
		s.dir = e.Parent
	}
	s.sum.Add(fingerprinted(c.t, e))
	if e.INode.Type == fsimage.FileType && looksUnfinished(e.INode.Name) {
		return c.addUnfinished(e)
	}
	return nil
}

func (w *collecting) evict(slot int) {
	s := &w.slots[slot]
	if s.dir == namespace.NoDir {
		return
	}
	c := w.c
	c.mu.Lock()
	defer c.mu.Unlock()
	n := &c.column[s.dir]
	if *n == 0 {
		if c.used%sumBlock == 0 {
			c.sums = append(c.sums, new([sumBlock]planfile.Sum))
		}
		c.used++
		*n = uint32(c.used)
	}
	c.sumAt(*n).Merge(&s.sum)
	s.sum.Reset()
	s.dir = namespace.NoDir
}

func (c *Collector) sumAt(n uint32) *planfile.Sum { return &c.sums[(n-1)/sumBlock][(n-1)%sumBlock] }

// finish adds what the workers still have. They must have ended.
func (c *Collector) finish() {
	for _, w := range c.workers {
		for i := range w.V.slots {
			w.V.evict(i)
		}
	}
	c.workers = nil
}

// sum gives the sum of what is in a directory beside directories; nil if that is
// nothing. Not after release.
func (c *Collector) sum(d namespace.Dir) *planfile.Sum {
	if n := c.column[d]; n != 0 {
		return c.sumAt(n)
	}
	return nil
}

// release gives up the sums: those of items were taken from them.
func (c *Collector) release() { c.column, c.sums = nil, nil }

// looksUnfinished is true of all names of unfinished `_metadata` files and few others.
func looksUnfinished(name []byte) bool {
	return bytes.HasPrefix(bytes.TrimPrefix(name, []byte(".")), []byte("_metadata."))
}

func (c *Collector) addUnfinished(e *namespace.Entry) error {
	destination := namespace.NoDir
	if q := c.at.quarantine; q != nil {
		destination = q.dir
	}
	f, err := factsOf(c.t, destination, e)
	if err != nil {
		return err
	}
	u := &unfinished{facts: f}
	u.sum.Add(fingerprinted(c.t, e))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unfinished[e.INode.ID] = u
	return nil
}

// found notes that a path of the policy is a file or symlink.
func (c *Collector) found(e *namespace.Entry) {
	for _, w := range c.look[e.Parent] {
		if w.name != string(e.INode.Name) {
			continue
		}
		c.mu.Lock()
		if id := &w.place.InodeID; *id == 0 || e.INode.ID < *id { // of two with one name, which are broken, always the same
			*id = e.INode.ID
		}
		c.mu.Unlock()
	}
}

func (c *Collector) watch(d namespace.Dir, w *watch) {
	c.look[d] = append(c.look[d], w)
	c.near.set(d)
}

// bitSet is a set of directories.
type bitSet []uint64

func (s bitSet) has(d namespace.Dir) bool { return s[d/64]>>(d%64)&1 != 0 }
func (s bitSet) set(d namespace.Dir)      { s[d/64] |= 1 << (d % 64) }
func (s bitSet) clear(d namespace.Dir)    { s[d/64] &^= 1 << (d % 64) }
