package plan

import (
	"sync"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/namespace"
)

// Collector takes from the pass of [flink.Look] what a plan needs to know of
// files, so that most plans need no pass of their own: for every directory below a
// root the sum of the fingerprints of what is in it, before it is known what becomes
// an item; what is said of unfinished `_metadata` files; and whether paths of the
// policy are files.
//
// Memory: a bit for each directory of the image.
type Collector struct {
	t    *namespace.Tree
	p    *cleanup.Policy
	at   placed
	near bitSet // directories in which a file is looked for
	look map[namespace.Dir][]*watch

	mu sync.Mutex // protects ids of places
}

// NewCollector makes a Collector for one Look and one plan, or none, of a policy.
func NewCollector(t *namespace.Tree, p *cleanup.Policy) *Collector {
	c := &Collector{t: t, p: p, near: make(bitSet, (t.NumDirs()+63)/64), look: map[namespace.Dir][]*watch{}}
	c.places()
	return c
}

// Options gives the options of a Look that is to be seen.
func (c *Collector) Options(workers int) flink.Options {
	return flink.Options{Workers: workers, Seen: c.found, Also: c.wants, Sum: c.number, Extra: c.facts}
}

// wants tells whether a file can be a path of the policy.
func (c *Collector) wants(parent namespace.Dir, _ []byte) bool { return c.near.has(parent) }

// number is what a fingerprint adds for a file or symlink.
func (c *Collector) number(e *namespace.Entry) [4]uint64 { return fingerprinted(c.t, e).Number() }

// facts gives what a plan says of an unfinished `_metadata`.
func (c *Collector) facts(e *namespace.Entry) ([]byte, error) {
	destination := namespace.NoDir
	if q := c.at.quarantine; q != nil {
		destination = q.dir
	}
	f, err := factsOf(c.t, destination, e)
	return f.pack(nil), err
}

// found notes that a path of the policy is a file or symlink.
func (c *Collector) found(e *namespace.Entry) error {
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
	return nil
}

func (c *Collector) watch(d namespace.Dir, w *watch) {
	c.look[d] = append(c.look[d], w)
	c.near.set(d)
}

// bitSet is a set of directories.
type bitSet []uint64

func newBitSet(t *namespace.Tree) bitSet { return make(bitSet, (t.NumDirs()+63)/64) }

func (s bitSet) has(d namespace.Dir) bool { return s[d/64]>>(d%64)&1 != 0 }
func (s bitSet) set(d namespace.Dir)      { s[d/64] |= 1 << (d % 64) }
func (s bitSet) clear(d namespace.Dir)    { s[d/64] &^= 1 << (d % 64) }
