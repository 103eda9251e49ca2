package hdfstest

import (
	"fsweep/execute"
)

func refusalCases() []test { return append(quotaCases(), guardCases()...) }

func quotaCases() []test {
	return []test{
		{"the target's namespace quota is full", nil, func(c *scene) {
			c.mkdir("d")
			c.mkdir("d/e")
			c.put("d/e/f", "abc")
			c.mkdir("to")
			c.admin.SetQuota(c, c.at("to"), 3, -1)
			m := c.move(c.at("d"), c.at("to/d"))
			c.refused(m, execute.ErrQuota, nsQuota)
			m = c.trashed(c.at("d"), c.at("to/d"))
			c.refused(m, execute.ErrQuota, nsQuota)
			c.admin.SetQuota(c, c.at("to"), 4, -1)
			c.moves(m)
		}},
		{"the target's space quota is full", []need{dataNodes}, func(c *scene) {
			c.put("f", "abc")
			c.mkdir("to")
			c.admin.SetQuota(c, c.at("to"), -1, 1)
			c.refused(c.move(c.at("f"), c.at("to/f")), execute.ErrQuota, dsQuota)
		}},
		{"a space quota that is exceeded lets pass what takes none", []need{dataNodes}, func(c *scene) {
			c.mkdir("to")
			c.put("to/full", "abc")
			c.admin.SetQuota(c, c.at("to"), -1, 1)
			if err := c.Mkdirs(c.ctx(), c.at("to/a/b"), 0o700); err != nil {
				c.Errorf("mkdirs: %v", err)
			}
			c.mkdir("d")
			c.put("d/empty", "")
			c.moves(c.trashed(c.at("d"), c.at("to/a/d")))
			c.refused(c.move(c.put("f", "x"), c.at("to/a/f")), execute.ErrQuota, dsQuota)
		}},
		{"a quota further above the target is full", nil, func(c *scene) {
			c.mkdir("to/a/b")
			c.admin.SetQuota(c, c.at("to"), 3, -1)
			c.refused(c.move(c.put("f", ""), c.at("to/a/b/f")), execute.ErrQuota, nsQuota)
		}},
		{"a full quota lets renames below it pass", nil, func(c *scene) {
			c.put("q/a/f", "")
			c.mkdir("q/a")
			c.mkdir("q/b")
			c.admin.Chown(c, c.at("q"), owner, "")
			c.admin.SetQuota(c, c.at("q"), 4, -1)
			c.moves(c.move(c.at("q/a/f"), c.at("q/b/g")))
		}},
		{"a directory's own quota goes along, even an exceeded one", nil, func(c *scene) {
			c.put("d/f", "")
			c.mkdir("d")
			c.admin.SetQuota(c, c.at("d"), 1, -1)
			c.moves(c.trashed(c.at("d"), c.at("moved")))
		}},
	}
}

func guardCases() []test {
	return []test{
		{"safe mode: looks are answered, changes are refused", nil, func(c *scene) {
			m := c.move(c.put("d/f", "abc"), c.at("moved"))
			c.mkdir("d")
			c.admin.SafeMode(c, true)
			defer c.admin.SafeMode(c, false)
			if on, err := c.SafeMode(c.ctx()); err != nil || !on {
				c.Errorf("safe mode %v, %v", on, err)
			}
			c.refused(m, execute.ErrSafeMode, safeModeClass)
			for _, rel := range []string{"new", "d"} {
				err := c.Mkdirs(c.ctx(), c.at(rel), 0o700)
				c.fails(err, execute.ErrSafeMode)
				c.class(err, safeModeClass)
			}
			if sum, err := c.Summary(c.ctx(), execute.At(c.at("d")), 100); err != nil || sum.Inodes() != 2 {
				c.Errorf("%+v, %v", sum, err)
			}
			if _, err := c.Active(c.ctx()); err != nil {
				c.Error(err)
			}
			c.admin.SafeMode(c, false)
			if on, err := c.SafeMode(c.ctx()); err != nil || on {
				c.Errorf("safe mode %v, %v", on, err)
			}
			c.moves(m)
		}},
		{"a protected directory with entries, and one above it", []need{from(3, 4)}, func(c *scene) {
			c.mkdir("up")
			c.mkdir("up/d")
			c.mkdir("up/d/x")
			defer c.admin.Protect(c)
			c.admin.Protect(c, c.at("up/d"))
			for _, m := range []execute.Move{
				c.move(c.at("up/d"), c.at("moved")), c.move(c.at("up"), c.at("moved")), c.trashed(c.at("up"), c.at("moved")),
			} {
				c.refused(m, execute.ErrPermission, accessControl)
			}
			c.moves(c.move(c.at("up/d/x"), c.at("x")))
		}},
		{"a protected directory does not stop a rename before Hadoop 3.3", []need{before(3, 3)}, func(c *scene) {
			c.mkdir("d")
			c.mkdir("d/x")
			defer c.admin.Protect(c)
			c.admin.Protect(c, c.at("d"))
			c.moves(c.move(c.at("d"), c.at("moved")))
		}},
		{"encryption zones: no moves into, out of, or between them", []need{zones}, func(c *scene) {
			for _, zone := range []string{"z1", "z2"} {
				c.admin.EncryptionZone(c, c.mkdir(zone))
			}
			c.mkdir("d")
			c.mkdir("z1/d")
			for _, m := range []execute.Move{
				c.move(c.at("d"), c.at("z1/in")), c.move(c.at("z1/d"), c.at("out")), c.move(c.at("z1/d"), c.at("z2/d")),
				c.trashed(c.at("z1/d"), c.at("out")),
			} {
				c.refused(m, nil, ioException)
				c.none(m.To)
			}
			c.moves(c.move(c.at("z1/d"), c.at("z1/e")))
		}},
		{"encryption zones: the root itself can be moved", []need{zones}, func(c *scene) {
			c.admin.EncryptionZone(c, c.mkdir("zone"))
			c.moves(c.move(c.at("zone"), c.at("moved")))
			if zone, err := c.EncryptionZone(c.ctx(), c.at("moved")); err != nil || zone != c.at("moved") {
				c.Errorf("%q, %v", zone, err)
			}
		}},
	}
}
