package hdfstest

import (
	"errors"

	"fsweep/execute"
)

func trashCases() []test {
	home := execute.TrashRoot{Path: "/user/" + owner + "/.Trash", Kind: execute.HomeTrash}
	return []test{
		{"the trash of the home", nil, func(c *scene) {
			c.trashRoot(c.at("d/f"), home)
			c.trashRoot(c.put("f", ""), home)
			c.trashRoot("/x", home)
		}},
		{"the trash of an encryption zone", []need{zones}, func(c *scene) {
			zone := c.mkdir("zone")
			c.admin.EncryptionZone(c, zone)
			want := execute.TrashRoot{Path: zone + "/.Trash/" + owner, Kind: execute.ZoneTrash}
			c.trashRoot(c.mkdir("zone/d"), want)
			c.trashRoot(zone+"/d/none/yet", want)
			c.trashRoot(zone, home)
			zone2, err := c.EncryptionZone(c.ctx(), zone+"/d")
			if err != nil || zone2 != zone {
				c.Errorf("zone %q, %v, want %q", zone2, err, zone)
			}
		}},
		{"outside of zones there is none", nil, func(c *scene) {
			for _, path := range []string{c.dir, c.at("none"), "/"} {
				if zone, err := c.EncryptionZone(c.ctx(), path); err != nil || zone != "" {
					c.Errorf("%s: %q, %v", path, zone, err)
				}
			}
		}},
		{"which zone and trash a directory has is told to who may read it", nil, func(c *scene) {
			c.put("d/f", "abc")
			c.mkdirAs("d", foreigner, 0o711)
			_, err := c.EncryptionZone(c.ctx(), c.at("d"))
			c.class(err, accessControl)
			c.fails(err, execute.ErrPermission)
			_, err = c.TrashRoot(c.ctx(), c.at("d/f"))
			c.fails(err, execute.ErrPermission)
			if zone, err := c.EncryptionZone(c.ctx(), c.at("d/none")); err != nil || zone != "" {
				c.Errorf("of what does not exist: %q, %v", zone, err)
			}
		}},
		{"the trash of a snapshottable directory", []need{snapTrash}, func(c *scene) {
			dir := c.mkdir("d")
			c.admin.AllowSnapshots(c, dir)
			want := execute.TrashRoot{Path: dir + "/.Trash/" + owner, Kind: execute.SnapshotTrash}
			c.trashRoot(dir+"/x", want)
			c.mkdir("d/e")
			c.trashRoot(dir+"/e/x/y", want)
			c.trashRoot(dir+"x/y", home)
			c.trashRoot(dir, home)
			foreign := c.mkdirAs("foreign", foreigner, 0o777)
			c.admin.AllowSnapshots(c, foreign)
			c.trashRoot(foreign+"/x", home)
			if d, err := c.Defaults(c.ctx()); err != nil || !d.SnapshotTrash {
				c.Errorf("%+v, %v", d, err)
			}
		}},
		{"a move to the trash of the home, as it is done", nil, func(c *scene) {
			c.put("d/f", "abc")
			c.mkdir("d")
			m := c.trashed(c.at("d"), home.Path+"/Current"+c.at("d"))
			c.stays(m, execute.ErrNoParent)
			if err := c.Mkdirs(c.ctx(), home.Path+"/Current"+c.dir, 0o700); err != nil {
				c.Fatal(err)
			}
			c.moves(m)
			for _, dir := range []string{home.Path, home.Path + "/Current"} {
				c.equal("permission of "+dir, c.stat(dir).Permission, uint16(0o700))
				c.equal("owner of "+dir, c.stat(dir).Owner, owner)
			}
		}},
		{"the emptier renames Current: ids stay, climbing goes through it, the next move finds no parent", nil, func(c *scene) {
			current := c.at("t/Current")
			c.mkdir("t")
			if err := c.Mkdirs(c.ctx(), current+"/a", 0o700); err != nil {
				c.Fatal(err)
			}
			m := c.move(c.put("f", "abc"), current+"/a/f")
			c.moves(m)
			was := c.id(current)
			to := c.admin.RenameCurrent(c, c.at("t"))
			c.is(to, was)
			c.is(to+"/a/f", m.ID)
			c.none(current)
			at := m.ID
			for _, want := range []string{to + "/a", to, c.at("t"), c.dir} {
				at = c.parent(at)
				c.equal("climbing", at, c.id(want))
			}
			g := c.move(c.put("g", "abc"), current+"/a/g")
			c.stays(g, execute.ErrNoParent)
			if err := c.Mkdirs(c.ctx(), current+"/a", 0o700); err != nil {
				c.Fatal(err)
			}
			c.moves(g)
			c.admin.Delete(c, to)
			if _, err := c.Stat(c.ctx(), execute.ByID(m.ID)); !errors.Is(err, execute.ErrNotFound) {
				c.Errorf("purged: %v", err)
			}
		}},
	}
}

func (s *scene) trashRoot(path string, want execute.TrashRoot) {
	s.Helper()
	got, err := s.TrashRoot(s.ctx(), path)
	if err != nil || *got != want {
		s.Errorf("trash root of %s: %+v, %v, want %+v", path, got, err, want)
	}
}
