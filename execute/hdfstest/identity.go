package hdfstest

import (
	"fsweep/execute"
)

func identityCases() []test {
	return []test{
		{"an id of an inode path finds the inode", []need{dataNodes}, func(c *scene) {
			f := c.stat(c.put("f", "abc"))
			got, err := c.Stat(c.ctx(), execute.ByID(f.ID))
			if err != nil {
				c.Fatal(err)
			}
			c.equal("id", got.ID, f.ID)
			c.equal("length", got.Length, int64(3))
			c.equal("name", string(got.Name), "")
		}},
		{"id and mtime stay when an inode is renamed, and the id finds it there", nil, func(c *scene) {
			c.mkdir("a")
			c.mkdir("b")
			old := c.stat(c.put("a/f", "abc"))
			c.moves(c.move(c.at("a/f"), c.at("b/g")))
			got := c.look(execute.ByID(old.ID))
			c.equal("id", got.ID, old.ID)
			c.equal("mtime", got.MTimeMs, old.MTimeMs)
			c.is(c.at("b/g"), old.ID)
		}},
		{"an id finds its inode when the old name is taken", []need{dataNodes}, func(c *scene) {
			id := c.id(c.put("f", "abc"))
			c.admin.Rename(c, c.at("f"), c.at("moved"))
			c.put("f", "other")
			c.equal("length", c.look(execute.ByID(id)).Length, int64(3))
		}},
		{"an id is gone when the inode is deleted", nil, func(c *scene) {
			id := c.id(c.put("f", "abc"))
			c.admin.Delete(c, c.at("f"))
			c.gone(id)
		}},
		{"an id is gone also when the path was created again", nil, func(c *scene) {
			id := c.id(c.put("f", "abc"))
			c.admin.Delete(c, c.at("f"))
			again := c.id(c.put("f", "abc"))
			c.gone(id)
			c.is(c.at("f"), again)
		}},
		{"an id that was never given is gone", nil, func(c *scene) { c.gone(1 << 40) }},
		{"ids beyond what NameNodes know are gone", nil, func(c *scene) {
			for _, id := range []uint64{1<<63 - 1, 1 << 63, 1<<64 - 1} {
				_, err := c.Stat(c.ctx(), execute.ByID(id))
				c.fails(err, execute.ErrNotFound)
			}
		}},
		{"a path created again has a new id", nil, func(c *scene) {
			old := c.id(c.put("f", "abc"))
			c.admin.Delete(c, c.at("f"))
			if again := c.id(c.put("f", "abc")); again <= old {
				c.Errorf("id %d after %d", again, old)
			}
		}},
		{"ID/.. is the parent, and follows the inode", nil, func(c *scene) {
			a, b := c.id(c.mkdir("a")), c.id(c.mkdir("b"))
			f := c.id(c.put("a/f", "abc"))
			c.equal("parent", c.parent(f), a)
			c.equal("parent of the parent", c.parent(a), c.id(c.dir))
			c.admin.Rename(c, c.at("a/f"), c.at("b/f"))
			c.equal("parent after the move", c.parent(f), b)
		}},
		{"climbing ID/.. ends at the root, whose id is 16385", nil, func(c *scene) {
			id := c.id(c.mkdir("a/b"))
			for range 5 {
				id = c.parent(id)
			}
			c.equal("id", id, uint64(16385))
			c.equal("id of /", c.id("/"), uint64(16385))
		}},
		{"the parent of an id that is gone is not found", nil, func(c *scene) {
			_, err := c.Stat(c.ctx(), execute.ParentOf(1<<40))
			c.fails(err, execute.ErrNotFound)
		}},
		{"a directory is listed by id wherever it is", nil, func(c *scene) {
			id := c.id(c.mkdir("a"))
			c.put("a/x", "")
			c.put("a/y", "")
			c.admin.Rename(c, c.at("a"), c.at("b"))
			page, err := c.List(c.ctx(), execute.ByID(id), nil)
			if err != nil {
				c.Fatal(err)
			}
			c.equal("entries", names(page.Entries), "x|y")
		}},
		{"a rename by id moves the inode from wherever it is", nil, func(c *scene) {
			c.mkdir("a")
			m := c.move(c.put("a/f", "abc"), c.at("target"))
			c.admin.Rename(c, c.at("a/f"), c.at("a/g"))
			if err := c.rename(m); err != nil {
				c.Fatal(err)
			}
			c.is(c.at("target"), m.ID)
			c.none(c.at("a/g"))
		}},
		{"a rename is refused as changed when another directory holds the inode", nil, func(c *scene) {
			c.mkdir("a")
			c.mkdir("b")
			m := c.move(c.put("a/f", "abc"), c.at("target"))
			c.admin.Rename(c, c.at("a/f"), c.at("b/f"))
			c.fails(c.rename(m), execute.ErrChanged)
			c.is(c.at("b/f"), m.ID)
			c.none(c.at("target"))
		}},
		{"a rename of an inode that was replaced at its path leaves the new one", nil, func(c *scene) {
			m := c.move(c.put("f", "abc"), c.at("target"))
			c.admin.Delete(c, c.at("f"))
			again := c.id(c.put("f", "abc"))
			c.fails(c.rename(m), execute.ErrNotFound)
			c.is(c.at("f"), again)
			c.none(c.at("target"))
		}},
	}
}

// parent gives the id of the directory that holds an inode, as the owner sees it.
func (s *scene) parent(id uint64) uint64 {
	s.Helper()
	st, err := s.Stat(s.ctx(), execute.ParentOf(id))
	if err != nil {
		s.Fatalf("parent of %d: %v", id, err)
	}
	return st.ID
}
