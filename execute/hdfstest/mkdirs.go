package hdfstest

import (
	"strings"

	"fsweep/execute"
)

func mkdirsCases() []test {
	return []test{
		{"all that is missing is made, with the permission, as the user's", nil, func(c *scene) {
			for permission, rel := range map[uint16]string{0o700: "a", 0o755: "b", 0o777: "c"} {
				if err := c.Mkdirs(c.ctx(), c.at(rel+"/x/y"), permission); err != nil {
					c.Fatal(err)
				}
				for _, dir := range []string{rel, rel + "/x", rel + "/x/y"} {
					st := c.stat(c.at(dir))
					if st.Kind != execute.Directory || st.Permission != permission || st.Owner != owner {
						c.Errorf("%s: %+v, want permission %o", dir, st, permission)
					}
				}
			}
		}},
		{"the group is that of the directory above", nil, func(c *scene) {
			c.mkdir("d")
			c.admin.Chown(c, c.at("d"), owner, "flink")
			if err := c.Mkdirs(c.ctx(), c.at("d/x/y"), 0o700); err != nil {
				c.Fatal(err)
			}
			c.equal("group", c.stat(c.at("d/x/y")).Group, "flink")
		}},
		{"one that exists stays as it is", nil, func(c *scene) {
			id := c.id(c.mkdirAs("d", foreigner, 0o711))
			c.put("d/f", "")
			if err := c.Mkdirs(c.ctx(), c.at("d"), 0o700); err != nil {
				c.Fatal(err)
			}
			c.is(c.at("d"), id)
			c.equal("permission", c.stat(c.at("d")).Permission, uint16(0o711))
			c.equal("owner", c.stat(c.at("d")).Owner, foreigner)
		}},
		{"twice is no error", nil, func(c *scene) {
			for range 2 {
				if err := c.Mkdirs(c.ctx(), c.at("d/e"), 0o700); err != nil {
					c.Fatal(err)
				}
			}
		}},
		{"a file stands at the path", nil, func(c *scene) {
			f := c.id(c.put("f", "abc"))
			err := c.Mkdirs(c.ctx(), c.at("f"), 0o700)
			c.fails(err, execute.ErrExists)
			c.class(err, alreadyExists)
			c.is(c.at("f"), f)
		}},
		{"a file stands above", nil, func(c *scene) {
			c.put("f", "abc")
			err := c.Mkdirs(c.ctx(), c.at("f/a/b"), 0o700)
			c.fails(err, execute.ErrNotDirectory)
			c.class(err, parentNotDir)
		}},
		{"a symlink stands above", nil, func(c *scene) {
			c.mkdir("real")
			c.admin.Symlink(c, c.at("link"), c.at("real"))
			err := c.Mkdirs(c.ctx(), c.at("link/a"), 0o700)
			c.fails(err, execute.ErrSymlink)
			c.none(c.at("real/a"))
		}},
		{"WRITE is needed above", nil, func(c *scene) {
			c.mkdirAs("d", foreigner, 0o755)
			err := c.Mkdirs(c.ctx(), c.at("d/a/b"), 0o700)
			c.fails(err, execute.ErrPermission)
			c.class(err, accessControl)
			c.none(c.at("d/a"))
		}},
		{"the quota above is full: what fits is made, the rest refused", nil, func(c *scene) {
			c.mkdir("d")
			c.admin.SetQuota(c, c.at("d"), 2, -1)
			err := c.Mkdirs(c.ctx(), c.at("d/a/b"), 0o700)
			c.fails(err, execute.ErrQuota)
			c.class(err, nsQuota)
			c.equal("permission", c.stat(c.at("d/a")).Permission, uint16(0o700))
			c.none(c.at("d/a/b"))
			if err := c.Mkdirs(c.ctx(), c.at("d/a"), 0o700); err != nil {
				c.Error(err)
			}
		}},
		{"hostile paths are refused", nil, func(c *scene) {
			c.mkdir("d")
			for _, path := range []string{
				"", "d", c.dir[1:] + "/x", c.at("d/../x"), c.at("./x"), c.at("d/.."), c.at("x:y"), c.at("d") + "//x", c.at(".snapshot"), "/.reserved/x",
			} {
				if err := c.Mkdirs(c.ctx(), path, 0o700); err == nil || isUnknown(err) {
					c.Errorf("%q: %v, want a refusal", path, err)
				}
			}
			c.none(c.at("x"))
			c.none(c.at("d/x"))
		}},
		{"names of 255 and 256 bytes", nil, func(c *scene) {
			if err := c.Mkdirs(c.ctx(), c.at(strings.Repeat("n", 255)), 0o700); err != nil {
				c.Error(err)
			}
			err := c.Mkdirs(c.ctx(), c.at("made/"+strings.Repeat("n", 256)+"/x"), 0o700)
			c.fails(err, execute.ErrInvalid)
			c.class(err, nameTooLong)
			c.equal("kind of what is above", c.stat(c.at("made")).Kind, execute.Directory)
		}},
	}
}
