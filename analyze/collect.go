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
}

// sumTable finds sums by the id of a string table. Ids are small numbers
// counted from 1, unless an image is made to hurt.
type sumTable struct {
	pages [maxSmall / pageSize]*[pageSize]Totals // so large that no two workers share a cache line
	large map[uint32]*Totals
}

const (
	maxSmall = 1 << 12
	pageSize = 1 << 6
)

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
	page := t.pages[id/pageSize]
	if page == nil {
		page = new([pageSize]Totals)
		t.pages[id/pageSize] = page
	}
	return &page[id%pageSize]
}

func (t *sumTable) addTo(m map[uint32]*Totals) {
	add := func(id uint32, s *Totals) {
		if m[id] == nil {
			m[id] = &Totals{}
		}
		m[id].add(s)
	}
	for p, page := range t.pages {
		if page == nil {
			continue
		}
		for i := range page {
			if page[i] != (Totals{}) {
				add(uint32(p*pageSize+i), &page[i])
			}
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
func (c *collector) see(_ namespace.Dir, n *fsimage.INode, s namespace.FileSums) {
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
		if n.File.Striped {
			c.striped(&n.File, s)
		}
	}
}

func (c *collector) striped(f *fsimage.INodeFile, s namespace.FileSums) {
	row := c.ec[f.ECPolicy]
	if row == nil {
		row = &PolicyRow{}
		c.ec[f.ECPolicy] = row
	}
	row.add(&PolicyRow{Files: 1, Length: s.Length, SpaceConsumed: s.Space})
}

// collectors has one collector a worker.
type collectors struct{ all []*collector }

// observe is called before the workers start, one call after the other; with 0
// when reading starts or starts over.
func (c *collectors) observe(worker int) namespace.Observer {
	if worker == 0 {
		c.all = nil
	}
	one := &collector{ec: map[uint32]*PolicyRow{}}
	c.all = append(c.all, one)
	return one.see
}

// collected is what all workers saw. The sums wrap around like the NameNode's,
// so their order does not matter.
type collected struct {
	users, groups map[uint32]*Totals
	ec            map[uint32]*PolicyRow
}

func (c *collectors) merge() collected {
	m := collected{map[uint32]*Totals{}, map[uint32]*Totals{}, map[uint32]*PolicyRow{}}
	for _, one := range c.all {
		one.users.addTo(m.users)
		one.groups.addTo(m.groups)
		mergeRows(m.ec, one.ec)
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
