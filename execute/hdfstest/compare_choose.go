package hdfstest

import (
	"path"
	"slices"
	"strings"
)

func (c *comparison) pick(is func(found) bool) []found {
	return slices.DeleteFunc(slices.Clone(c.tree), func(f found) bool { return !is(f) })
}

func (c *comparison) at(p string) (found, bool) {
	i := slices.IndexFunc(c.tree, func(f found) bool { return f.path == p })
	if i < 0 {
		return found{}, false
	}
	return c.tree[i], true
}

// held tells whether snapshots forbid to delete something.
func (c *comparison) held(p string) bool {
	return slices.ContainsFunc(c.tree, func(f found) bool {
		return (f.path == p || strings.HasPrefix(f.path, p+"/")) && len(c.snapshots[f.ID]) > 0
	})
}

// bounded tells whether there is a quota above something.
func (c *comparison) bounded(p string) bool {
	return slices.ContainsFunc(c.tree, func(f found) bool { return strings.HasPrefix(p, f.path+"/") && c.quotas[f.ID] })
}

// nested tells whether a snapshottable directory stands above or below.
func (c *comparison) nested(p string) bool {
	return slices.ContainsFunc(c.tree, func(f found) bool {
		return c.allowed[f.ID] && (strings.HasPrefix(f.path, p+"/") || strings.HasPrefix(p, f.path+"/"))
	})
}

// id gives an inode's, mostly of one that lives.
func (c *comparison) id() uint64 {
	if n := len(c.tree); n > 0 && c.rng.IntN(4) > 0 {
		return c.tree[c.rng.IntN(n)].ID
	}
	return c.known[c.rng.IntN(len(c.known))]
}

func (c *comparison) name() string { return []string{"a", "b", "c", "d"}[c.rng.IntN(4)] }

func (c *comparison) user() string { return []string{owner, foreigner}[c.rng.IntN(2)] }

func (c *comparison) permission() uint16 {
	return []uint16{0o777, 0o777, 0o755, 0o755, 0o700, 0o711, 0o555, 0o1777}[c.rng.IntN(8)]
}

// path gives some path, often one that exists or could be made.
func (c *comparison) path() string {
	p := c.dir
	if n := len(c.tree); n > 0 && c.rng.IntN(4) > 0 {
		p = c.tree[c.rng.IntN(n)].path
	}
	for range []int{0, 1, 1, 1, 2}[c.rng.IntN(5)] {
		p = path.Join(p, c.name())
	}
	if p == c.dir {
		p = path.Join(p, c.name())
	}
	return p
}
