package hdfstest

import (
	"fsweep/execute"
)

func permissionCases() []test { return append(pathPermissions(), trashPermissions()...) }

func pathPermissions() []test {
	return []test{
		{"a foreign directory of 0700 above: nothing below is seen, by path or by id", nil, func(c *scene) {
			c.put("d/sub/f", "abc")
			c.admin.Chown(c, c.at("d/sub"), owner, "")
			c.mkdirAs("d", foreigner, 0o700)
			f, sub := c.id(c.at("d/sub/f")), c.id(c.at("d/sub"))
			for _, ref := range []execute.Ref{
				execute.At(c.at("d/sub/f")), execute.ByID(f), execute.ParentOf(f), execute.At(c.at("d/sub")), execute.ByID(sub), execute.At(c.at("d/none")),
			} {
				_, err := c.Stat(c.ctx(), ref)
				c.fails(err, execute.ErrPermission)
				c.class(err, accessControl)
			}
			_, err := c.List(c.ctx(), execute.ByID(sub), nil)
			c.fails(err, execute.ErrPermission)
			_, err = c.Summary(c.ctx(), execute.ByID(sub), 100)
			c.fails(err, execute.ErrPermission)
			_, err = c.Closed(c.ctx(), execute.ByID(f))
			c.fails(err, execute.ErrPermission)
			m := c.move(c.at("d/sub/f"), c.at("moved"))
			c.fails(c.rename(m), execute.ErrPermission)
			c.fails(c.Resend(c.ctx(), m, c.call()), execute.ErrPermission)
			c.unmoved(m)
		}},
		{"a foreign directory of 0700 itself has a status", nil, func(c *scene) {
			if _, err := c.Stat(c.ctx(), execute.At(c.mkdirAs("d", foreigner, 0o700))); err != nil {
				c.Error(err)
			}
		}},
		{"EXECUTE alone lets through", nil, func(c *scene) {
			c.put("d/f", "abc")
			c.mkdirAs("d", foreigner, 0o711)
			if _, err := c.Stat(c.ctx(), execute.At(c.at("d/f"))); err != nil {
				c.Error(err)
			}
		}},
		{"owner bits count for the owner, even where others may more", nil, func(c *scene) {
			c.put("d/f", "abc")
			c.mkdirAs("d", owner, 0o077)
			_, err := c.Stat(c.ctx(), execute.At(c.at("d/f")))
			c.fails(err, execute.ErrPermission)
		}},
		{"WRITE is needed on the source's directory", nil, func(c *scene) {
			c.put("d/f", "abc")
			c.mkdirAs("d", foreigner, 0o755)
			for _, m := range []execute.Move{c.move(c.at("d/f"), c.at("moved")), c.trashed(c.at("d/f"), c.at("moved"))} {
				c.refused(m, execute.ErrPermission, accessControl)
			}
		}},
		{"WRITE is needed on the target's directory", nil, func(c *scene) {
			c.mkdirAs("to", foreigner, 0o755)
			c.refused(c.move(c.put("f", "abc"), c.at("to/f")), execute.ErrPermission, accessControl)
		}},
		{"EXECUTE is needed above the target", nil, func(c *scene) {
			c.mkdirAs("to/sub", foreigner, 0o777)
			c.mkdirAs("to", foreigner, 0o700)
			c.refused(c.move(c.put("f", "abc"), c.at("to/sub/f")), execute.ErrPermission, accessControl)
		}},
		{"a taken target in a foreign directory is a matter of permission", nil, func(c *scene) {
			c.put("to/f", "old")
			c.mkdirAs("to", foreigner, 0o755)
			c.stays(c.move(c.put("f", "abc"), c.at("to/f")), execute.ErrPermission)
		}},
		{"no permission on the inode itself is needed", nil, func(c *scene) {
			c.admin.Mkdir(c, c.at("d"), foreigner, 0)
			c.moves(c.move(c.at("d"), c.at("moved")))
			f := c.put("f", "abc")
			c.admin.Chown(c, f, foreigner, "")
			c.admin.Chmod(c, f, 0o600)
			c.moves(c.move(f, c.at("moved too")))
		}},
		{"a sticky bit on the directory keeps foreign entries in it", nil, func(c *scene) {
			c.put("d/f", "abc")
			c.admin.Chown(c, c.at("d/f"), foreigner, "")
			c.mkdirAs("d", root, 0o1777)
			for _, m := range []execute.Move{c.move(c.at("d/f"), c.at("moved")), c.trashed(c.at("d/f"), c.at("moved"))} {
				c.refused(m, execute.ErrPermission, accessControl)
			}
		}},
		{"a sticky bit lets own entries go, and all entries of an own directory", nil, func(c *scene) {
			c.put("d/f", "abc")
			c.mkdirAs("d", root, 0o1777)
			c.moves(c.move(c.at("d/f"), c.at("moved")))
			c.put("own/f", "abc")
			c.admin.Chown(c, c.at("own/f"), foreigner, "")
			c.mkdirAs("own", owner, 0o1777)
			c.moves(c.move(c.at("own/f"), c.at("moved too")))
		}},
		{"the superuser may all of that", nil, func(c *scene) {
			c.put("d/f", "abc")
			c.mkdirAs("d", foreigner, 0o1700)
			m := c.trashed(c.at("d"), c.at("moved"))
			su := c.cluster.As(c, root)
			call, err := su.NewCall(c.ctx())
			if err != nil {
				c.Fatal(err)
			}
			if err := su.Rename(c.ctx(), m, call); err != nil {
				c.Error(err)
			}
			c.is(m.To, m.ID)
		}},
	}
}

// trashPermissions are the check of the whole subtree, which only TO_TRASH has.
func trashPermissions() []test {
	// tree makes an own directory with one below that is another's.
	tree := func(c *scene, inner string, permission uint16, entries bool) string {
		c.mkdir("d")
		if entries {
			c.put("d/a/in/x", "abc")
		}
		c.mkdir("d/a")
		c.mkdirAs("d/a/in", inner, permission)
		return c.at("d")
	}
	return []test{
		{"a foreign 0700 directory inside with entries: TO_TRASH is refused, a plain rename moves it", nil, func(c *scene) {
			d := tree(c, foreigner, 0o700, true)
			c.refused(c.trashed(d, c.at("moved")), execute.ErrPermission, accessControl)
			c.moves(c.move(d, c.at("moved")))
		}},
		{"a foreign 0755 directory inside with entries: TO_TRASH is refused, a plain rename moves it", nil, func(c *scene) {
			d := tree(c, foreigner, 0o755, true)
			c.stays(c.trashed(d, c.at("moved")), execute.ErrPermission)
			c.moves(c.move(d, c.at("moved")))
		}},
		{"a foreign empty 0700 directory inside moves with TO_TRASH", nil, func(c *scene) {
			c.moves(c.trashed(tree(c, foreigner, 0o700, false), c.at("moved")))
		}},
		{"an own directory inside that may not be written is refused with TO_TRASH", nil, func(c *scene) {
			c.stays(c.trashed(tree(c, owner, 0o555, true), c.at("moved")), execute.ErrPermission)
		}},
		{"a foreign directory with entries at the top is refused with TO_TRASH", nil, func(c *scene) {
			c.put("d/x", "abc")
			c.mkdirAs("d", foreigner, 0o755)
			c.stays(c.trashed(c.at("d"), c.at("moved")), execute.ErrPermission)
			c.moves(c.move(c.at("d"), c.at("moved")))
		}},
		{"a foreign directory that all may write moves with TO_TRASH", nil, func(c *scene) {
			c.moves(c.trashed(tree(c, foreigner, 0o777, true), c.at("moved")))
		}},
		{"foreign files of 0600 move with TO_TRASH", nil, func(c *scene) {
			c.mkdir("d")
			c.put("d/f", "abc")
			c.admin.Chown(c, c.at("d/f"), foreigner, "")
			c.admin.Chmod(c, c.at("d/f"), 0o600)
			c.moves(c.trashed(c.at("d"), c.at("moved")))
			c.moves(c.trashed(c.at("moved/f"), c.at("f")))
		}},
		{"a sticky bit deep inside keeps foreign entries from TO_TRASH", []need{from(3, 0)}, func(c *scene) {
			d := tree(c, owner, 0o1777, true)
			c.admin.Chown(c, c.at("d/a/in"), root, "")
			c.admin.Chown(c, c.at("d/a/in/x"), foreigner, "")
			c.refused(c.trashed(d, c.at("moved")), execute.ErrPermission, accessControl)
			c.moves(c.move(d, c.at("moved")))
		}},
		{"a sticky bit deep inside is not looked at before Hadoop 3", []need{before(3, 0)}, func(c *scene) {
			d := tree(c, owner, 0o1777, true)
			c.admin.Chown(c, c.at("d/a/in"), root, "")
			c.admin.Chown(c, c.at("d/a/in/x"), foreigner, "")
			c.moves(c.trashed(d, c.at("moved")))
		}},
	}
}
