package hdfstest

import (
	"errors"
	"fmt"
	"reflect"

	"fsweep/execute"
)

func equalStatus(a, b *execute.Status) bool { return reflect.DeepEqual(a, b) }

func summaryCases() []test {
	return []test{
		{"a directory counts itself, what is below, and symlinks as files", []need{dataNodes}, func(c *scene) {
			c.put("d/a", "abc")
			c.put("d/e/b", "abcd")
			c.mkdir("d/e/empty")
			c.admin.Symlink(c, c.at("d/link"), c.at("d/e"))
			c.sums(execute.At(c.at("d")), 3, 3, 7)
			c.sums(execute.ByID(c.id(c.at("d"))), 3, 3, 7)
		}},
		{"an empty directory is one inode", nil, func(c *scene) { c.sums(execute.At(c.mkdir("d")), 0, 1, 0) }},
		{"a file is one inode", []need{dataNodes}, func(c *scene) { c.sums(execute.At(c.put("f", "abc")), 1, 0, 3) }},
		{"space counts replicas", []need{dataNodes}, func(c *scene) {
			sum := c.sums(execute.At(c.put("f", "abc")), 1, 0, 3)
			c.equal("space", sum.Space, 3*int64(c.stat(c.at("f")).Replication))
		}},
		{"nothing is there", nil, func(c *scene) {
			_, err := c.Summary(c.ctx(), execute.At(c.at("none")), 100)
			c.fails(err, execute.ErrNotFound)
		}},
		{"the limit: as many inodes are counted, one more is ErrBudget with what was counted", nil, func(c *scene) {
			for i := range 3 {
				c.put(fmt.Sprintf("d/%d/f", i), "")
			}
			c.sumsWithin(execute.At(c.at("d")), 7, 3, 4, 0)
			sum, err := c.Summary(c.ctx(), execute.At(c.at("d")), 6)
			c.budget(err)
			if sum == nil || sum.Inodes() != 7 {
				c.Errorf("%+v, want 7 inodes", sum)
			}
		}},
		{"more direct entries than the limit are not counted at all", nil, func(c *scene) {
			for i := range 5 {
				c.put(fmt.Sprintf("d/%d", i), "")
			}
			_, err := c.Summary(c.ctx(), execute.At(c.at("d")), 4)
			c.budget(err)
		}},
		{"a directory below without r or x: no answer, not a partial one", nil, func(c *scene) {
			for _, permission := range []uint16{0o700, 0o711, 0o744} {
				c.put("d/x", "")
				c.mkdirAs("d/closed", foreigner, permission)
				sum, err := c.Summary(c.ctx(), execute.At(c.at("d")), 100)
				c.fails(err, execute.ErrPermission)
				c.class(err, accessControl)
				if sum != nil {
					c.Errorf("a partial answer: %+v", sum)
				}
			}
		}},
		{"files need no permission", []need{dataNodes}, func(c *scene) {
			c.put("d/x", "abc")
			c.admin.Chown(c, c.at("d/x"), foreigner, "")
			c.admin.Chmod(c, c.at("d/x"), 0)
			c.sums(execute.At(c.at("d")), 1, 1, 3)
		}},
		{"what was deleted and is held by a snapshot counts", []need{dataNodes}, func(c *scene) {
			c.mkdir("d")
			c.put("d/z/f", "ab")
			c.admin.AllowSnapshots(c, c.at("d"))
			c.admin.Snapshot(c, c.at("d"), "s")
			c.admin.Delete(c, c.at("d/z"))
			c.sums(execute.At(c.at("d")), 1, 2, 2)
			c.admin.DeleteSnapshot(c, c.at("d"), "s")
			c.sums(execute.At(c.at("d")), 0, 1, 0)
		}},
		{"what was moved out and is held by a snapshot counts in both places", []need{dataNodes, from(3, 0)}, func(c *scene) {
			c.mkdir("d")
			c.put("d/k/l", "abcde")
			c.put("d/k/later", "x")
			c.admin.Delete(c, c.at("d/k/later"))
			c.admin.AllowSnapshots(c, c.at("d"))
			c.admin.Snapshot(c, c.at("d"), "s")
			c.admin.Rename(c, c.at("d/k"), c.at("k"))
			c.sums(execute.At(c.at("d")), 1, 2, 5)
			c.sums(execute.At(c.at("k")), 1, 1, 5)
		}},
		{"what was moved out and is held by a snapshot counts at the target only before Hadoop 3", []need{dataNodes, before(3, 0)}, func(c *scene) {
			c.mkdir("d")
			c.put("d/k/l", "abcde")
			c.admin.AllowSnapshots(c, c.at("d"))
			c.admin.Snapshot(c, c.at("d"), "s")
			c.admin.Rename(c, c.at("d/k"), c.at("k"))
			c.sums(execute.At(c.at("d")), 0, 1, 0)
			c.sums(execute.At(c.at("k")), 1, 1, 5)
		}},
	}
}

func (s *scene) budget(err error) {
	s.Helper()
	if !errors.Is(err, execute.ErrBudget) {
		s.Errorf("error %v, want %v", err, execute.ErrBudget)
	}
}

func (s *scene) sums(ref execute.Ref, files, directories, length int64) *execute.Summary {
	s.Helper()
	return s.sumsWithin(ref, 1000, files, directories, length)
}

func (s *scene) sumsWithin(ref execute.Ref, limit, files, directories, length int64) *execute.Summary {
	s.Helper()
	sum, err := s.Summary(s.ctx(), ref, limit)
	if err != nil {
		s.Fatalf("summary of %s: %v", ref, err)
	}
	if sum.Files != files || sum.Directories != directories || sum.Length != length {
		s.Errorf("summary of %s: %+v, want %d files, %d directories, %d bytes", ref, sum, files, directories, length)
	}
	return sum
}

func xattrCases() []test {
	return []test{
		{"none", nil, func(c *scene) {
			for _, path := range []string{c.put("f", ""), c.mkdir("d")} {
				if all, err := c.XAttrs(c.ctx(), execute.At(path)); err != nil || len(all) != 0 {
					c.Errorf("%s: %v, %v", path, all, err)
				}
			}
		}},
		{"those of a file and a directory, by path and by id", nil, func(c *scene) {
			for _, path := range []string{c.put("f", ""), c.mkdir("d")} {
				c.admin.SetXAttr(c, path, "user.fsweep.keep", []byte("yes\x00\xff"))
				for _, ref := range []execute.Ref{execute.At(path), execute.ByID(c.id(path))} {
					all, err := c.XAttrs(c.ctx(), ref)
					if err != nil || len(all) != 1 || all[0].Namespace != "user" || all[0].Name != "fsweep.keep" || string(all[0].Value) != "yes\x00\xff" {
						c.Errorf("%s: %v, %v", ref, all, err)
					}
				}
			}
		}},
		{"several, one without value", nil, func(c *scene) {
			f := c.put("f", "")
			c.admin.SetXAttr(c, f, "user.a", nil)
			c.admin.SetXAttr(c, f, "user.b", []byte("2"))
			all, err := c.XAttrs(c.ctx(), execute.At(f))
			got := make(map[string]string)
			for _, x := range all {
				got[x.Name] = string(x.Value)
			}
			if err != nil || len(all) != 2 || got["b"] != "2" || got["a"] != "" {
				c.Errorf("%v, %v", all, err)
			}
		}},
		{"those of namespace trusted are the superuser's", nil, func(c *scene) {
			f := c.put("f", "")
			c.admin.SetXAttr(c, f, "trusted.x", []byte("1"))
			if all, err := c.XAttrs(c.ctx(), execute.At(f)); err != nil || len(all) != 0 {
				c.Errorf("%v, %v", all, err)
			}
			if all, err := c.cluster.As(c, root).XAttrs(c.ctx(), execute.At(f)); err != nil || len(all) != 1 {
				c.Errorf("as root: %v, %v", all, err)
			}
		}},
		{"they need READ, though the status does not", nil, func(c *scene) {
			f := c.put("f", "")
			c.admin.Chown(c, f, foreigner, "")
			c.admin.Chmod(c, f, 0o600)
			_, err := c.XAttrs(c.ctx(), execute.At(f))
			c.fails(err, execute.ErrPermission)
			c.class(err, accessControl)
			if _, err := c.Stat(c.ctx(), execute.At(f)); err != nil {
				c.Error(err)
			}
		}},
		{"of a directory that can be entered only", nil, func(c *scene) {
			_, err := c.XAttrs(c.ctx(), execute.At(c.mkdirAs("d", foreigner, 0o711)))
			c.fails(err, execute.ErrPermission)
		}},
		{"nothing is there", nil, func(c *scene) {
			_, err := c.XAttrs(c.ctx(), execute.At(c.at("none")))
			c.fails(err, execute.ErrNotFound)
		}},
	}
}
