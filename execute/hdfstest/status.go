package hdfstest

import (
	"bytes"
	"strings"

	"fsweep/execute"
)

func statusCases() []test { return append(inodeCases(), mtimeCases()...) }

func inodeCases() []test {
	return []test{
		{"a file", []need{dataNodes}, func(c *scene) {
			c.put("f", "abcd")
			c.admin.Chmod(c, c.at("f"), 0o640)
			c.admin.Chown(c, c.at("f"), foreigner, "flink")
			c.admin.SetTimes(c, c.at("f"), 1_700_000_000_123, 1_600_000_000_456)
			st, err := c.Stat(c.ctx(), execute.At(c.at("f")))
			if err != nil {
				c.Fatal(err)
			}
			want := execute.Status{
				ID: st.ID, Kind: execute.File, Name: []byte("f"), Length: 4, MTimeMs: 1_700_000_000_123, ATimeMs: 1_600_000_000_456,
				Owner: foreigner, Group: "flink", Permission: 0o640, Replication: st.Replication, BlockSize: st.BlockSize,
			}
			c.same(st, &want)
			if st.ID <= 16385 || st.Replication < 1 || st.BlockSize < 1 {
				c.Errorf("%+v", st)
			}
		}},
		{"a directory", nil, func(c *scene) {
			c.mkdirAs("d", owner, 0o1751)
			for _, name := range []string{"a", "b", "c"} {
				c.put("d/"+name, "abc")
			}
			c.admin.SetTimes(c, c.at("d"), 1_700_000_000_123, -1)
			st, err := c.Stat(c.ctx(), execute.At(c.at("d")))
			if err != nil {
				c.Fatal(err)
			}
			want := execute.Status{
				ID: st.ID, Kind: execute.Directory, Name: []byte("d"), MTimeMs: 1_700_000_000_123, ATimeMs: st.ATimeMs,
				Owner: owner, Group: st.Group, Permission: 0o1751, Children: 3,
			}
			c.same(st, &want)
		}},
		{"a symlink, also a dangling one, is not followed", nil, func(c *scene) {
			c.admin.Symlink(c, c.at("link"), c.at("nowhere"))
			st, err := c.Stat(c.ctx(), execute.At(c.at("link")))
			if err != nil || st.Kind != execute.Symlink || st.Length != 0 || st.Children != 0 {
				c.Fatalf("%+v, %v", st, err)
			}
			if byID := c.look(execute.ByID(st.ID)); byID.Kind != execute.Symlink {
				c.Errorf("by id: %+v", byID)
			}
		}},
		{"nothing stands at the path", nil, func(c *scene) {
			for _, rel := range []string{"none", "none/a", "none/a/b"} {
				_, err := c.Stat(c.ctx(), execute.At(c.at(rel)))
				c.fails(err, execute.ErrNotFound)
			}
		}},
		{"a file stands above", nil, func(c *scene) {
			c.put("f", "abc")
			_, err := c.Stat(c.ctx(), execute.At(c.at("f/x")))
			c.fails(err, execute.ErrNotDirectory)
			_, err = c.cluster.As(c, root).Stat(c.ctx(), execute.At(c.at("f/x")))
			c.fails(err, execute.ErrNotFound)
		}},
		{"a symlink stands above", nil, func(c *scene) {
			c.put("d/x", "")
			c.admin.Symlink(c, c.at("link"), c.at("d"))
			_, err := c.Stat(c.ctx(), execute.At(c.at("link/x")))
			c.fails(err, execute.ErrSymlink)
			c.class(err, unresolvedPath)
		}},
		{"a relative path is refused", nil, func(c *scene) {
			for _, path := range []string{c.dir[1:], "f", "./f"} {
				_, err := c.Stat(c.ctx(), execute.At(path))
				c.fails(err, execute.ErrInvalid)
			}
		}},
		{"dots and empty names in a path are refused", nil, func(c *scene) {
			c.mkdir("d")
			for _, rel := range []string{"d/../d", "d/.", "./d", "/d", "d/"} {
				_, err := c.Stat(c.ctx(), execute.At(c.at(rel)))
				c.fails(err, execute.ErrInvalid)
			}
		}},
		{"hostile names are found", nil, func(c *scene) {
			for _, name := range []string{"a\nb", " blank ", "*", "[x]?", "\"'`$(x)", "\u00e9\u4e16", "a\\b", "%2e", strings.Repeat("n", 255)} {
				st, err := c.Stat(c.ctx(), execute.At(c.put(name, "abc")))
				if err != nil || string(st.Name) != name {
					c.Errorf("%q: %+v, %v", name, st, err)
				}
			}
		}},
		{"a name that is no UTF-8 cannot be asked for", nil, func(c *scene) {
			c.put("f", "")
			_, err := c.Stat(c.ctx(), execute.At(c.at("f\xff")))
			c.fails(err, execute.ErrInvalid)
		}},
		{"an access control list shows", nil, func(c *scene) {
			c.admin.SetACL(c, c.put("f", ""))
			c.equal("ACL", c.stat(c.at("f")).ACL, true)
			c.equal("ACL of another", c.stat(c.put("g", "")).ACL, false)
		}},
		{"a snapshottable directory shows", []need{from(3, 0)}, func(c *scene) {
			c.admin.AllowSnapshots(c, c.mkdir("d"))
			c.equal("snapshottable", c.stat(c.at("d")).Snapshottable, true)
			c.equal("snapshottable below", c.stat(c.mkdir("d/e")).Snapshottable, false)
		}},
		{"an encryption zone shows on all of it", []need{zones}, func(c *scene) {
			c.admin.EncryptionZone(c, c.mkdir("zone"))
			c.equal("zone", c.stat(c.at("zone")).Encrypted, true)
			c.equal("directory", c.stat(c.mkdir("zone/d")).Encrypted, true)
			c.equal("outside", c.stat(c.dir).Encrypted, false)
		}},
		{"a file in an encryption zone shows", []need{zones, dataNodes}, func(c *scene) {
			c.admin.EncryptionZone(c, c.mkdir("zone"))
			c.equal("file", c.stat(c.put("zone/f", "abc")).Encrypted, true)
			c.equal("outside", c.stat(c.put("f", "abc")).Encrypted, false)
		}},
		{"an erasure coded file shows", []need{coding}, func(c *scene) {
			c.admin.PutErasureCoded(c, c.at("d/f"), nil)
			c.equal("coded", c.stat(c.at("d/f")).ErasureCoded, true)
			c.equal("another", c.stat(c.put("f", "")).ErasureCoded, false)
		}},
		{"isFileClosed", nil, func(c *scene) {
			c.put("f", "")
			c.admin.Open(c, c.at("open"))
			for path, want := range map[string]bool{c.at("f"): true, c.at("open"): false} {
				for _, ref := range []execute.Ref{execute.At(path), execute.ByID(c.id(path))} {
					if got, err := c.Closed(c.ctx(), ref); err != nil || got != want {
						c.Errorf("%s: %v, %v", ref, got, err)
					}
				}
			}
			_, err := c.Closed(c.ctx(), execute.At(c.at("none")))
			c.fails(err, execute.ErrNotFound)
			if _, err := c.Closed(c.ctx(), execute.At(c.dir)); err == nil {
				c.Error("a directory has an answer")
			}
		}},
	}
}

// same compares statuses.
func (s *scene) same(got, want *execute.Status) {
	s.Helper()
	a, b := *got, *want
	named := bytes.Equal(a.Name, b.Name)
	a.Name, b.Name = nil, nil
	if !named || !equalStatus(&a, &b) {
		s.Errorf("status\n%+v, want\n%+v", *got, *want)
	}
}

// longAgo is set before something that may move an mtime.
const longAgo = 1_500_000_000_000

// mtimeCases say what moves the mtime of a directory.
func mtimeCases() []test {
	moves := func(name string, needs []need, do func(c *scene)) test {
		return test{"the mtime moves: " + name, needs, func(c *scene) { c.mtime(do, true) }}
	}
	rests := func(name string, needs []need, do func(c *scene)) test {
		return test{"the mtime rests: " + name, needs, func(c *scene) { c.mtime(do, false) }}
	}
	return []test{
		moves("a child is made", nil, func(c *scene) { c.put("d/new", "") }),
		moves("a directory is made in it", nil, func(c *scene) { c.mkdir("d/new") }),
		moves("a child is deleted", nil, func(c *scene) { c.admin.Delete(c, c.at("d/f")) }),
		moves("a child is overwritten", nil, func(c *scene) { c.put("d/f", "other") }),
		moves("a child is renamed in it", nil, func(c *scene) { c.admin.Rename(c, c.at("d/f"), c.at("d/g")) }),
		moves("a child is moved away", nil, func(c *scene) { c.admin.Rename(c, c.at("d/f"), c.at("away")) }),
		moves("a child is moved there", nil, func(c *scene) { c.admin.Rename(c, c.at("other"), c.at("d/other")) }),
		moves("the Mover moves a child away", nil, func(c *scene) { c.moves(c.move(c.at("d/f"), c.at("away"))) }),
		moves("a snapshot of it is taken", nil, func(c *scene) {
			c.admin.AllowSnapshots(c, c.at("d"))
			c.admin.SetTimes(c, c.at("d"), longAgo, -1)
			c.admin.Snapshot(c, c.at("d"), "s")
		}),
		rests("a child's permission and owner", nil, func(c *scene) {
			c.admin.Chmod(c, c.at("d/f"), 0o600)
			c.admin.Chown(c, c.at("d/f"), foreigner, "x")
		}),
		rests("a child's extended attribute, access control list, times", nil, func(c *scene) {
			c.admin.SetXAttr(c, c.at("d/f"), "user.x", []byte{1})
			c.admin.SetTimes(c, c.at("d/f"), 1, 1)
			c.admin.SetACL(c, c.at("d/f"))
		}),
		rests("a child grows", []need{dataNodes}, func(c *scene) { c.admin.Append(c, c.at("d/f"), []byte("more")) }),
		rests("anything in a grandchild", nil, func(c *scene) {
			c.put("d/sub/new", "")
			c.admin.Delete(c, c.at("d/sub/f"))
			c.mkdir("d/sub/dir")
		}),
		rests("its own permission, owner, quota, attribute", nil, func(c *scene) {
			c.admin.Chmod(c, c.at("d"), 0o777)
			c.admin.Chown(c, c.at("d"), foreigner, "x")
			c.admin.SetQuota(c, c.at("d"), 1000, -1)
			c.admin.SetXAttr(c, c.at("d"), "user.x", []byte{1})
		}),
		rests("a look at it", nil, func(c *scene) {
			_, err := c.List(c.ctx(), execute.At(c.at("d")), nil)
			if err != nil {
				c.Error(err)
			}
		}),
		rests("a rename out of it is refused", nil, func(c *scene) { c.stays(c.move(c.at("d/f"), c.at("d/sub")), execute.ErrExists) }),
		{"the mtime rests: the directory itself is moved; those of both parents move", nil, func(c *scene) {
			c.put("a/d/f", "")
			c.mkdir("a")
			c.mkdir("b")
			for _, rel := range []string{"a", "b", "a/d"} {
				c.admin.SetTimes(c, c.at(rel), longAgo, -1)
			}
			c.moves(c.move(c.at("a/d"), c.at("b/d")))
			c.equal("mtime", c.stat(c.at("b/d")).MTimeMs, int64(longAgo))
			a, b := c.stat(c.at("a")).MTimeMs, c.stat(c.at("b")).MTimeMs
			if a == longAgo || a != b {
				c.Errorf("mtimes of the parents: %d, %d", a, b)
			}
		}},
	}
}

// mtime does something to a directory whose mtime was set back.
func (s *scene) mtime(do func(c *scene), moved bool) {
	s.Helper()
	s.put("d/f", "abc")
	s.put("d/sub/f", "abc")
	s.put("other", "abc")
	s.mkdir("d")
	s.admin.SetTimes(s, s.at("d"), longAgo, -1)
	id := s.id(s.at("d"))
	do(s)
	if got := s.look(execute.ByID(id)).MTimeMs; (got != longAgo) != moved {
		s.Errorf("mtime %d, was %d", got, int64(longAgo))
	}
}
