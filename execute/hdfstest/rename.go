package hdfstest

import (
	"strings"

	"fsweep/execute"
)

// Classes of refusals that kinds alone do not tell apart.
const (
	accessControl  = "org.apache.hadoop.security.AccessControlException"
	alreadyExists  = "org.apache.hadoop.fs.FileAlreadyExistsException"
	fileNotFound   = "java.io.FileNotFoundException"
	ioException    = "java.io.IOException"
	nameTooLong    = "org.apache.hadoop.hdfs.protocol.FSLimitException$PathComponentTooLongException"
	parentNotDir   = "org.apache.hadoop.fs.ParentNotDirectoryException"
	nsQuota        = "org.apache.hadoop.hdfs.protocol.NSQuotaExceededException"
	dsQuota        = "org.apache.hadoop.hdfs.protocol.DSQuotaExceededException"
	safeModeClass  = "org.apache.hadoop.hdfs.server.namenode.SafeModeException"
	snapshotClass  = "org.apache.hadoop.hdfs.protocol.SnapshotException"
	unresolvedPath = "org.apache.hadoop.hdfs.protocol.UnresolvedPathException"
)

func renameCases() []test {
	return []test{
		{"a file moves", nil, func(c *scene) {
			c.mkdir("to")
			m := c.move(c.put("f", "abc"), c.at("to/g"))
			c.moves(m)
			c.none(m.From)
		}},
		{"a directory moves with all that it holds", nil, func(c *scene) {
			c.mkdir("to")
			f := c.id(c.put("d/e/f", "abc"))
			m := c.move(c.at("d"), c.at("to/d"))
			c.moves(m)
			c.none(m.From)
			c.is(c.at("to/d/e/f"), f)
		}},
		{"a symlink itself moves, not what it points at", nil, func(c *scene) {
			f := c.id(c.put("f", "abc"))
			c.admin.Symlink(c, c.at("link"), c.at("f"))
			c.moves(c.move(c.at("link"), c.at("moved")))
			c.is(c.at("f"), f)
		}},
		{"the target is taken by a file", nil, func(c *scene) {
			m := c.move(c.put("f", "abc"), c.put("target", "old"))
			old := c.id(m.To)
			c.refused(m, execute.ErrExists, alreadyExists)
			c.is(m.To, old)
		}},
		{"the target is taken by an empty directory: not replaced", nil, func(c *scene) {
			m := c.move(c.mkdir("d"), c.mkdir("target"))
			old := c.id(m.To)
			c.refused(m, execute.ErrExists, alreadyExists)
			c.is(m.To, old)
		}},
		{"the target is a directory: not entered", nil, func(c *scene) {
			c.put("target/x", "")
			m := c.move(c.mkdir("d"), c.at("target"))
			c.refused(m, execute.ErrExists, alreadyExists)
			c.none(c.at("target/d"))
		}},
		{"a file onto a directory: not entered", nil, func(c *scene) {
			m := c.move(c.put("f", "abc"), c.mkdir("target"))
			c.refused(m, execute.ErrExists, ioException)
			c.none(c.at("target/f"))
		}},
		{"a directory onto a file: not replaced", nil, func(c *scene) {
			m := c.move(c.mkdir("d"), c.put("target", "old"))
			old := c.id(m.To)
			c.refused(m, execute.ErrExists, ioException)
			c.is(m.To, old)
		}},
		{"the target is taken by a symlink", nil, func(c *scene) {
			c.admin.Symlink(c, c.at("target"), c.at("nowhere"))
			c.refused(c.move(c.put("f", "abc"), c.at("target")), execute.ErrExists, alreadyExists)
		}},
		{"source and target are the same", nil, func(c *scene) {
			m := c.move(c.put("f", "abc"), c.at("f"))
			c.refused(m, execute.ErrExists, alreadyExists)
		}},
		{"TO_TRASH does not overwrite either", nil, func(c *scene) {
			m := c.trashed(c.put("f", "abc"), c.put("target", "old"))
			old := c.id(m.To)
			c.refused(m, execute.ErrExists, alreadyExists)
			c.is(m.To, old)
		}},
		{"TO_TRASH moves", nil, func(c *scene) {
			c.mkdir("d")
			c.put("d/f", "abc")
			c.moves(c.trashed(c.at("d"), c.at("moved")))
		}},
		{"a directory into itself", nil, func(c *scene) {
			c.mkdir("d/e")
			c.refused(c.move(c.at("d"), c.at("d/e/new")), nil, ioException)
		}},
		{"the source is gone", nil, func(c *scene) {
			m := c.move(c.put("f", "abc"), c.at("target"))
			c.admin.Delete(c, c.at("f"))
			c.fails(c.rename(m), execute.ErrNotFound)
			c.none(m.To)
		}},
		{"the source is gone, and nobody looks before", nil, func(c *scene) {
			m := c.move(c.put("f", "abc"), c.at("target"))
			c.admin.Delete(c, c.at("f"))
			err := c.Resend(c.ctx(), m, c.call())
			c.fails(err, execute.ErrNotFound)
			c.class(err, fileNotFound)
			c.none(m.To)
		}},
		{"the target's parent is missing", nil, func(c *scene) {
			c.refused(c.move(c.put("f", "abc"), c.at("no/target")), execute.ErrNoParent, fileNotFound)
			c.none(c.at("no"))
		}},
		{"all of the target's parents are missing", nil, func(c *scene) {
			c.refused(c.move(c.put("f", "abc"), c.at("no/a/b/target")), execute.ErrNoParent, fileNotFound)
			c.none(c.at("no"))
		}},
		{"the target's parent is a file", nil, func(c *scene) {
			c.put("file", "")
			c.refused(c.move(c.put("f", "abc"), c.at("file/target")), execute.ErrNotDirectory, parentNotDir)
		}},
		{"a file stands further above the target", nil, func(c *scene) {
			c.put("file", "")
			c.refused(c.move(c.put("f", "abc"), c.at("file/a/target")), execute.ErrNotDirectory, parentNotDir)
		}},
		{"a symlink stands in the target's path", nil, func(c *scene) {
			c.mkdir("real")
			c.admin.Symlink(c, c.at("link"), c.at("real"))
			c.refused(c.move(c.put("f", "abc"), c.at("link/target")), execute.ErrSymlink, unresolvedPath)
			c.none(c.at("real/target"))
		}},
		{"hostile targets are refused", nil, func(c *scene) {
			c.mkdir("d")
			m := c.move(c.put("f", "abc"), "")
			for _, to := range []string{
				"", "/", "f2", "d/f2", c.dir[1:] + "/f2", c.at("d/../f2"), c.at("./f2"), c.at("d/.."), c.at("."),
				c.at("f:2"), "//" + c.dir[1:] + "//f2", c.at("d") + "//f2", c.at(".snapshot"), "/.reserved/f2",
			} {
				m.To = to
				if err := c.Resend(c.ctx(), m, c.call()); err == nil {
					c.Errorf("a rename to %q succeeded", to)
				} else if isUnknown(err) {
					c.Errorf("a rename to %q: %v, want a refusal", to, err)
				}
				c.unmoved(m)
			}
			c.none(c.at("f2"))
			c.none(c.at("d/f2"))
		}},
		{"the root cannot be moved", nil, func(c *scene) {
			err := c.Resend(c.ctx(), execute.Move{ID: 16385, ParentID: 16385, From: "/", To: c.at("root")}, c.call())
			c.fails(err, execute.ErrInvalid)
			c.none(c.at("root"))
		}},
		{"names with newlines, blanks, quotes and wildcards", nil, func(c *scene) {
			c.mkdir("to")
			for _, name := range []string{"a\nb", " blank ", "*", "[x]?", "\"'`$(x)", "\u00e9\u4e16", "\x01\x7f", "-rf", "a\\b", "~"} {
				m := c.move(c.put(name, "abc"), c.at("to/"+name))
				c.moves(m)
				c.none(m.From)
			}
		}},
		{"a name of 255 bytes", nil, func(c *scene) {
			c.mkdir("to")
			c.moves(c.move(c.put("f", "abc"), c.at("to/"+strings.Repeat("n", 255))))
		}},
		{"a name of 250 bytes takes no suffix of 13 digits", nil, func(c *scene) {
			c.mkdir("to")
			long := strings.Repeat("n", 250)
			c.put("to/"+long, "old")
			m := c.move(c.put(long, "abc"), c.at("to/"+long))
			c.stays(m, execute.ErrExists)
			m.To += "1767323045000"
			c.refused(m, execute.ErrInvalid, nameTooLong)
		}},
		{"a name of 256 bytes", nil, func(c *scene) {
			c.refused(c.move(c.put("f", "abc"), c.at(strings.Repeat("n", 256))), execute.ErrInvalid, nameTooLong)
		}},
		{"a name of 256 bytes in 128 letters", nil, func(c *scene) {
			c.refused(c.move(c.put("f", "abc"), c.at(strings.Repeat("\u00e9", 128))), execute.ErrInvalid, nameTooLong)
		}},
		{"a path of more than 8000 characters", nil, func(c *scene) {
			c.refused(c.move(c.put("f", "abc"), c.at(strings.Repeat(strings.Repeat("n", 200)+"/", 41)+"f")), nil, ioException)
		}},
		{"an open file moves, and stays open", nil, func(c *scene) {
			c.mkdir("d")
			c.admin.Open(c, c.at("d/open"))
			open := c.id(c.at("d/open"))
			c.moves(c.move(c.at("d"), c.at("moved")))
			closed, err := c.cluster.As(c, root).Closed(c.ctx(), execute.ByID(open))
			if err != nil || closed {
				c.Errorf("closed: %v, %v", closed, err)
			}
		}},
	}
}
