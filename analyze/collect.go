package analyze

import (
	"fsweep/analyze/namespace"
	"fsweep/fsimage"
)

// collector sums what one worker sees. Nothing in it is shared, and the way
// from an inode to its sums is a comparison with the last owner or an index.
type collector struct {
	users, groups       sumTable
	lastUser, lastGroup uint32
	user, group         *Totals // of those; nil at first
	ec                  map[uint32]*PolicyRow
	special             map[dirPolicy]*PolicyRow // nil: there were too many
	lastSpecial         dirPolicy
	specialRow          *PolicyRow
	maxSpecial          int
}

// dirPolicy is what decides, together with the directory's own storage policy,
// about the effective one of a file in it.
type dirPolicy struct {
	dir     namespace.Dir
	own     uint8 // the file's own policy, 0 for none
	striped bool
}

// maxSpecial limits how many combinations of directory and policy one worker
// remembers. With more of them, it is better to read the image once more.
const maxSpecial = 1 << 15

// sumTable finds sums by the id of a string table. Ids are small numbers
// counted from 1, unless an image is made to hurt.
type sumTable struct {
	small []*Totals
	large map[uint32]*Totals
}

const maxSmall = 1 << 12

func (t *sumTable) at(id uint32) *Totals {
	if id >= maxSmall {
		s := t.large[id]
		if s == nil {
			if t.large == nil {
				t.large = map[uint32]*Totals{}
			}
			s = &Totals{}
			t.large[id] = s
		}
		return s
	}
	if t.small == nil {
		t.small = make([]*Totals, maxSmall)
	}
	if t.small[id] == nil {
		t.small[id] = &Totals{}
	}
	return t.small[id]
}

func (t *sumTable) addTo(m map[uint32]*Totals) {
	add := func(id uint32, s *Totals) {
		if m[id] == nil {
			m[id] = &Totals{}
		}
		m[id].add(s)
	}
	for id, s := range t.small {
		if s != nil {
			add(uint32(id), s)
		}
	}
	for id, s := range t.large {
		add(id, s)
	}
}

func (t *Totals) add(o *Totals) {
	t.Directories += o.Directories
	t.Files += o.Files
	t.Symlinks += o.Symlinks
	t.Length += o.Length
	t.SpaceConsumed += o.SpaceConsumed
}

func (p *PolicyRow) add(o *PolicyRow) {
	p.Files += o.Files
	p.Length += o.Length
	p.SpaceConsumed += o.SpaceConsumed
}

func (c *collector) owner(p fsimage.Permission) (user, group *Totals) {
	if u := p.User(); c.user == nil || u != c.lastUser {
		c.lastUser, c.user = u, c.users.at(u)
	}
	if g := p.Group(); c.group == nil || g != c.lastGroup {
		c.lastGroup, c.group = g, c.groups.at(g)
	}
	return c.user, c.group
}

// see is a [namespace.Observer].
func (c *collector) see(parent namespace.Dir, n *fsimage.INode, s namespace.FileSums) {
	switch n.Type {
	case fsimage.DirectoryType:
		u, g := c.owner(n.Directory.Permission)
		u.Directories++
		g.Directories++
	case fsimage.SymlinkType:
		u, g := c.owner(n.Symlink.Permission)
		u.Symlinks++
		g.Symlinks++
	case fsimage.FileType:
		u, g := c.owner(n.File.Permission)
		u.Files++
		u.Length += s.Length
		u.SpaceConsumed += s.Space
		g.Files++
		g.Length += s.Length
		g.SpaceConsumed += s.Space
		c.policies(parent, &n.File, s)
	}
}

// policies takes down the files that are striped or have a storage policy of
// their own; those of all others follow from the tree when it is complete.
func (c *collector) policies(parent namespace.Dir, f *fsimage.INodeFile, s namespace.FileSums) {
	if !f.Striped && f.StoragePolicy == 0 {
		return
	}
	add := PolicyRow{Files: 1, Length: s.Length, SpaceConsumed: s.Space}
	if f.Striped {
		row := c.ec[f.ECPolicy]
		if row == nil {
			row = &PolicyRow{}
			c.ec[f.ECPolicy] = row
		}
		row.add(&add)
	}
	if c.special == nil {
		return
	}
	key := dirPolicy{parent, knownPolicy(f.StoragePolicy), f.Striped}
	if c.specialRow == nil || key != c.lastSpecial {
		if c.special[key] == nil {
			if len(c.special) == c.maxSpecial {
				c.special, c.specialRow = nil, nil
				return
			}
			c.special[key] = &PolicyRow{}
		}
		c.lastSpecial, c.specialRow = key, c.special[key]
	}
	c.specialRow.add(&add)
}

// collectors has one collector a worker.
type collectors struct {
	all        []*collector
	maxSpecial int
}

// observe is called before the workers start, one call after the other.
func (c *collectors) observe(int) namespace.Observer {
	one := &collector{ec: map[uint32]*PolicyRow{}, special: map[dirPolicy]*PolicyRow{}, maxSpecial: c.maxSpecial}
	c.all = append(c.all, one)
	return one.see
}

// collected is what all workers saw. The sums wrap around like the NameNode's,
// so their order does not matter.
type collected struct {
	users, groups map[uint32]*Totals
	ec            map[uint32]*PolicyRow
	special       map[dirPolicy]*PolicyRow // nil: there were too many
}

func (c *collectors) merge() collected {
	m := collected{map[uint32]*Totals{}, map[uint32]*Totals{}, map[uint32]*PolicyRow{}, map[dirPolicy]*PolicyRow{}}
	for _, one := range c.all {
		one.users.addTo(m.users)
		one.groups.addTo(m.groups)
		mergeRows(m.ec, one.ec)
		if one.special == nil {
			m.special = nil
		}
		if m.special != nil {
			mergeRows(m.special, one.special)
		}
	}
	return m
}

func mergeRows[K comparable](to, from map[K]*PolicyRow) {
	for k, row := range from {
		if to[k] == nil {
			to[k] = &PolicyRow{}
		}
		to[k].add(row)
	}
}
