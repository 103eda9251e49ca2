package hdfstest

import (
	"errors"

	"fsweep/execute"
)

// snapshotted makes a directory of the owner's that has snapshots: d, with f and z/g.
func (s *scene) snapshotted() {
	s.Helper()
	s.put("d/f", "abc")
	s.put("d/z/g", "abcd")
	s.mkdir("d")
	s.mkdir("d/z")
	s.admin.AllowSnapshots(s, s.at("d"))
	s.admin.Snapshot(s, s.at("d"), "s1")
}

func snapshotCases() []test {
	return []test{
		{"a snapshottable directory with a snapshot cannot be moved", nil, func(c *scene) {
			c.snapshotted()
			for _, m := range []execute.Move{c.move(c.at("d"), c.at("moved")), c.trashed(c.at("d"), c.at("moved"))} {
				c.refused(m, execute.ErrSnapshot, snapshotClass)
			}
		}},
		{"nor can one above it", nil, func(c *scene) {
			c.mkdir("up/d")
			c.mkdir("up")
			c.admin.AllowSnapshots(c, c.at("up/d"))
			c.admin.Snapshot(c, c.at("up/d"), "s1")
			c.refused(c.move(c.at("up"), c.at("moved")), execute.ErrSnapshot, snapshotClass)
		}},
		{"a snapshottable directory, or one above it, is not brought below another one", []need{from(3, 0)}, func(c *scene) {
			c.admin.AllowSnapshots(c, c.mkdir("to"))
			c.mkdir("to/sub")
			c.mkdir("up")
			c.admin.AllowSnapshots(c, c.mkdir("up/d"))
			for _, to := range []string{"to/new", "to/sub/new"} {
				c.refused(c.move(c.at("up/d"), c.at(to)), execute.ErrSnapshot, snapshotClass)
				c.refused(c.trashed(c.at("up"), c.at(to)), execute.ErrSnapshot, snapshotClass)
			}
		}},
		{"a snapshottable directory can be brought below another one before Hadoop 3", []need{before(3, 0)}, func(c *scene) {
			c.admin.AllowSnapshots(c, c.mkdir("to"))
			c.admin.AllowSnapshots(c, c.mkdir("d"))
			c.moves(c.move(c.at("d"), c.at("to/d")))
		}},
		{"without snapshots, and when the last one is deleted, it moves", nil, func(c *scene) {
			c.admin.AllowSnapshots(c, c.mkdir("none"))
			c.moves(c.move(c.at("none"), c.at("moved")))
			c.snapshotted()
			c.admin.DeleteSnapshot(c, c.at("d"), "s1")
			c.moves(c.move(c.at("d"), c.at("moved too")))
		}},
		{"what lies below one moves, and its id finds it", nil, func(c *scene) {
			c.snapshotted()
			g := c.id(c.at("d/z/g"))
			c.moves(c.trashed(c.at("d/z"), c.at("moved")))
			c.is(c.at("moved/g"), g)
			c.equal("id", c.look(execute.ByID(g)).ID, g)
		}},
		{"its id finds it also when the old name is taken", []need{dataNodes}, func(c *scene) {
			c.snapshotted()
			f := c.id(c.at("d/f"))
			c.moves(c.move(c.at("d/f"), c.at("moved")))
			c.put("d/f", "another")
			c.equal("length", c.look(execute.ByID(f)).Length, int64(3))
		}},
		{"the copy in a snapshot has the same id", nil, func(c *scene) {
			c.snapshotted()
			c.equal("id", c.id(c.at("d/.snapshot/s1/f")), c.id(c.at("d/f")))
			f := c.id(c.at("d/f"))
			c.admin.Delete(c, c.at("d/f"))
			c.equal("id of a deleted file's copy", c.id(c.at("d/.snapshot/s1/f")), f)
		}},
		{"nothing is made or moved inside of a snapshot", nil, func(c *scene) {
			c.snapshotted()
			for _, dir := range []string{"d/.snapshot/s1", "d/.snapshot"} {
				c.fails(c.Mkdirs(c.ctx(), c.at(dir+"/new"), 0o700), execute.ErrInvalid)
				c.stays(c.move(c.put("x", ""), c.at(dir+"/x")), execute.ErrInvalid)
			}
		}},
		{"a deleted inode that a snapshot holds is gone", nil, func(c *scene) {
			c.snapshotted()
			f, z, g := c.id(c.at("d/f")), c.id(c.at("d/z")), c.id(c.at("d/z/g"))
			c.admin.Delete(c, c.at("d/f"))
			c.admin.Delete(c, c.at("d/z"))
			for _, id := range []uint64{f, z, g} {
				c.gone(id)
			}
			c.admin.DeleteSnapshot(c, c.at("d"), "s1")
			for _, id := range []uint64{f, z, g} {
				c.gone(id)
			}
		}},
		{"a deleted inode leads to a new one at its path: that is not the one asked for", nil, func(c *scene) {
			c.snapshotted()
			f := c.id(c.at("d/f"))
			c.admin.Delete(c, c.at("d/f"))
			again := c.id(c.put("d/f", "abc"))
			c.gone(f)
			c.is(c.at("d/f"), again)
			_, err := c.Stat(c.ctx(), execute.ByID(f))
			var replaced *execute.ReplacedError
			if !errors.As(err, &replaced) || replaced.Asked != f || replaced.Got != again {
				c.Errorf("%v, want the inodes %d and %d", err, f, again)
			}
		}},
		{"so does a deleted directory, and what was in it", nil, func(c *scene) {
			c.snapshotted()
			z, g := c.id(c.at("d/z")), c.id(c.at("d/z/g"))
			c.admin.Delete(c, c.at("d/z"))
			again := c.id(c.put("d/z/g", "abcdef"))
			c.gone(z)
			c.gone(g)
			c.is(c.at("d/z/g"), again)
		}},
		{"a rename that nobody looks before acts on the new one", nil, func(c *scene) {
			c.snapshotted()
			m := c.move(c.at("d/f"), c.at("moved"))
			c.admin.Delete(c, c.at("d/f"))
			again := c.id(c.put("d/f", "another"))
			if err := c.Resend(c.ctx(), m, c.call()); err != nil {
				c.Fatal(err)
			}
			c.is(m.To, again)
		}},
		{"a rename that nobody looks before finds no deleted inode", nil, func(c *scene) {
			c.snapshotted()
			m := c.move(c.at("d/f"), c.at("moved"))
			c.admin.Delete(c, c.at("d/f"))
			err := c.Resend(c.ctx(), m, c.call())
			c.fails(err, execute.ErrNotFound)
			c.class(err, fileNotFound)
			c.none(m.To)
		}},
		{"moved, then purged, and held by a snapshot: gone", nil, func(c *scene) {
			c.snapshotted()
			f, z, g := c.id(c.at("d/f")), c.id(c.at("d/z")), c.id(c.at("d/z/g"))
			c.moves(c.move(c.at("d/f"), c.at("trashed")))
			c.moves(c.move(c.at("d/z"), c.at("trashed too")))
			c.admin.Delete(c, c.at("trashed"))
			c.admin.Delete(c, c.at("trashed too"))
			_, err := c.Stat(c.ctx(), execute.ByID(f))
			c.class(err, "java.lang.IllegalArgumentException")
			for _, id := range []uint64{f, z, g} {
				c.gone(id)
			}
			c.put("d/f", "abc")
			c.gone(f)
			c.admin.DeleteSnapshot(c, c.at("d"), "s1")
			c.gone(f)
		}},
		{"space stays charged at the source and is charged at the target too", nil, func(c *scene) {
			c.mkdir("q")
			c.put("q/d/a", "")
			c.put("q/d/b", "")
			c.mkdir("q/d")
			c.admin.Chown(c, c.at("q"), owner, "")
			c.admin.AllowSnapshots(c, c.at("q"))
			c.admin.Snapshot(c, c.at("q"), "s1")
			c.put("q/d/c", "")
			c.admin.SetQuota(c, c.at("q"), 5, -1)
			c.moves(c.trashed(c.at("q/d"), c.at("moved")))
			if err := c.Mkdirs(c.ctx(), c.at("q/one"), 0o700); err != nil {
				c.Error(err)
			}
			c.fails(c.Mkdirs(c.ctx(), c.at("q/two"), 0o700), execute.ErrQuota)
		}},
	}
}
