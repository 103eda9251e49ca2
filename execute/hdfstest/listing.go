package hdfstest

import (
	"fmt"
	"slices"

	"fsweep/execute"
)

func listingCases() []test {
	return []test{
		{"entries come in the order of their names as signed bytes", nil, func(c *scene) {
			for _, name := range []string{"b", "a", "B", "a.", "a-", "10", "9", "\u00e9", "a b", "ab"} {
				c.put("d/"+name, "")
			}
			c.admin.Mkdir(c, c.at("d"), owner, 0o755)
			page, err := c.List(c.ctx(), execute.At(c.at("d")), nil)
			if err != nil {
				c.Fatal(err)
			}
			c.equal("entries", names(page.Entries), "\u00e9|10|9|B|a|a b|a-|a.|ab|b")
			c.equal("left", page.Left, int64(0))
		}},
		{"an entry has name, id, kind, length, mtime, owner and permission", nil, func(c *scene) {
			c.put("d/f", "abcd")
			c.mkdirAs("d/g", foreigner, 0o711)
			c.put("d/g/x", "")
			c.admin.SetTimes(c, c.at("d/f"), 1_700_000_000_123, -1)
			page, err := c.List(c.ctx(), execute.At(c.at("d")), nil)
			if err != nil || len(page.Entries) != 2 {
				c.Fatalf("%+v, %v", page, err)
			}
			for _, e := range page.Entries {
				want := *c.stat(c.at("d/" + string(e.Name)))
				c.equal("status", fmt.Sprintf("%+v", e), fmt.Sprintf("%+v", want))
			}
		}},
		{"entries behind a name", nil, func(c *scene) {
			for _, name := range []string{"a", "b", "c"} {
				c.put("d/"+name, "")
			}
			for after, want := range map[string]string{"": "a|b|c", "a": "b|c", "aa": "b|c", "c": "", "z": ""} {
				page, err := c.List(c.ctx(), execute.At(c.at("d")), []byte(after))
				if err != nil {
					c.Fatal(err)
				}
				c.equal(fmt.Sprintf("entries behind %q", after), names(page.Entries), want)
			}
		}},
		{"an empty directory has no entries", nil, func(c *scene) {
			page, err := c.List(c.ctx(), execute.At(c.mkdir("d")), nil)
			if err != nil || len(page.Entries) != 0 || page.Left != 0 {
				c.Errorf("%+v, %v", page, err)
			}
		}},
		{"a directory of 2345 entries comes in pages", nil, func(c *scene) {
			c.many("d", 2345)
			var all []string
			pages := 0
			for after, left := []byte(nil), int64(1); left > 0; pages++ {
				page, err := c.List(c.ctx(), execute.At(c.at("d")), after)
				if err != nil || len(page.Entries) == 0 {
					c.Fatalf("page %d: %v", pages, err)
				}
				for _, e := range page.Entries {
					all = append(all, string(e.Name))
				}
				after, left = page.Entries[len(page.Entries)-1].Name, page.Left
				c.equal("left", left, int64(2345-len(all)))
			}
			c.equal("entries", len(all), 2345)
			c.equal("ordered", slices.IsSorted(all), true)
			c.equal("pages at least", pages >= 2, true)
		}},
		{"entries that vanish between two pages, the last one seen too, hide no other", nil, func(c *scene) {
			c.many("d", 1100)
			page, err := c.List(c.ctx(), execute.At(c.at("d")), nil)
			if err != nil || page.Left == 0 {
				c.Fatalf("left %+v, %v", page, err)
			}
			n := len(page.Entries)
			for _, i := range []int{0, n - 1, n} {
				c.admin.Delete(c, c.at("d/"+entryName(i)))
			}
			next, err := c.List(c.ctx(), execute.At(c.at("d")), page.Entries[n-1].Name)
			if err != nil {
				c.Fatal(err)
			}
			c.equal("first entry of the second page", string(next.Entries[0].Name), entryName(n+1))
			c.equal("entries", len(next.Entries)+int(next.Left), 1100-n-1)
		}},
		{"a file is not a directory", nil, func(c *scene) {
			f := c.put("f", "abc")
			_, err := c.List(c.ctx(), execute.At(f), nil)
			c.fails(err, execute.ErrNotDirectory)
			_, err = c.List(c.ctx(), execute.ByID(c.id(f)), nil)
			c.fails(err, execute.ErrNotDirectory)
		}},
		{"nothing stands at the path", nil, func(c *scene) {
			_, err := c.List(c.ctx(), execute.At(c.at("none")), nil)
			c.fails(err, execute.ErrNotFound)
		}},
		{"a symlink is not followed", nil, func(c *scene) {
			c.mkdir("d")
			c.admin.Symlink(c, c.at("link"), c.at("d"))
			_, err := c.List(c.ctx(), execute.At(c.at("link")), nil)
			c.fails(err, execute.ErrSymlink)
			_, err = c.List(c.ctx(), execute.ByID(c.id(c.at("link"))), nil)
			c.fails(err, execute.ErrSymlink)
			c.put("d/x", "")
			page, err := c.List(c.ctx(), execute.At(c.dir), nil)
			if err != nil || names(page.Entries) != "d|link" || page.Entries[1].Kind != execute.Symlink {
				c.Errorf("%+v, %v", page, err)
			}
		}},
		{"the list of a directory needs READ and EXECUTE", nil, func(c *scene) {
			for _, permission := range []uint16{0o700, 0o711, 0o744} {
				c.mkdirAs("d", foreigner, permission)
				_, err := c.List(c.ctx(), execute.At(c.at("d")), nil)
				c.fails(err, execute.ErrPermission)
				c.class(err, accessControl)
			}
		}},
	}
}

func entryName(i int) string { return fmt.Sprintf("e%05d", i) }

// many makes a directory with many empty directories.
func (s *scene) many(rel string, n int) {
	s.Helper()
	s.mkdir(rel)
	for i := range n {
		if err := s.Mkdirs(s.ctx(), s.at(rel+"/"+entryName(i)), 0o700); err != nil {
			s.Fatal(err)
		}
	}
}
