package hdfstest

import "fsweep/execute"

const (
	run        = execute.ExecuteAccess
	write      = execute.WriteAccess
	readList   = execute.ReadAccess | execute.ExecuteAccess
	everything = execute.ReadAccess | execute.WriteAccess | execute.ExecuteAccess
)

func surveyCases() []test {
	return []test{
		{"exactly one NameNode says that it is ACTIVE, all tell their version", nil, func(c *scene) {
			active, err := c.Active(c.ctx())
			if err != nil {
				c.Fatal(err)
			}
			n := 0
			for _, nn := range c.survey().NameNodes(c.ctx()) {
				if nn.Role == execute.ActiveRole {
					n++
					if nn.NameNode != active {
						c.Errorf("%v, and the ACTIVE one is %v", nn.NameNode, active)
					}
				}
				if nn.Err != nil || nn.Role == execute.UnknownRole || nn.Version != c.cluster.Can().Version || nn.ClusterID == "" || nn.NamespaceID == 0 {
					c.Errorf("%+v", nn)
				}
			}
			if n != 1 {
				c.Errorf("%d are ACTIVE", n)
			}
		}},
		{"the user is who the ports act as, and has groups or none", nil, func(c *scene) {
			s := c.survey()
			groups, err := s.Groups(c.ctx())
			if s.User() != owner || err != nil || groups == nil {
				c.Errorf("%q, %q, %v", s.User(), groups, err)
			}
		}},
		{"access of the owner, by path and by id", nil, func(c *scene) {
			d := c.mkdirAs("d", owner, 0o500)
			for _, ref := range []execute.Ref{execute.At(d), execute.ByID(c.id(d))} {
				c.may(ref, readList)
				c.mayNot(ref, write)
				c.mayNot(ref, everything)
			}
			c.may(execute.ParentOf(c.id(d)), everything)
		}},
		{"access of others", nil, func(c *scene) {
			d := c.mkdirAs("d", foreigner, 0o711)
			c.may(execute.At(d), run)
			c.mayNot(execute.At(d), readList)
			c.mayNot(execute.At(d), write)
		}},
		{"the owner's bits count for the owner, even where others may more", nil, func(c *scene) {
			c.mayNot(execute.At(c.mkdirAs("d", owner, 0o077)), run)
		}},
		{"EXECUTE is needed above", nil, func(c *scene) {
			c.put("d/f", "abc")
			f := c.id(c.at("d/f"))
			c.mkdirAs("d", foreigner, 0o700)
			c.mayNot(execute.At(c.at("d/f")), run)
			c.mayNot(execute.ByID(f), run)
			c.mayNot(execute.At(c.at("d/none")), run)
		}},
		{"a sticky bit is not looked at", nil, func(c *scene) {
			c.may(execute.At(c.mkdirAs("d", foreigner, 0o1777)), everything)
		}},
		{"access to what is not there", nil, func(c *scene) {
			gone := c.id(c.put("f", "abc"))
			c.admin.Delete(c, c.at("f"))
			for _, ref := range []execute.Ref{execute.At(c.at("f")), execute.ByID(gone)} {
				c.fails(c.survey().Access(c.ctx(), ref, run), execute.ErrNotFound)
			}
		}},
		{"the superuser may everything", nil, func(c *scene) {
			d := c.mkdirAs("d", owner, 0)
			if err := c.cluster.Survey(c, root).Access(c.ctx(), execute.At(d), everything); err != nil {
				c.Error(err)
			}
		}},
	}
}

// survey is the port of the owner.
func (s *scene) survey() execute.Surveyor { return s.cluster.Survey(s, owner) }

func (s *scene) may(ref execute.Ref, want execute.Access) {
	s.Helper()
	if err := s.survey().Access(s.ctx(), ref, want); err != nil {
		s.Errorf("%v, %d: %v", ref, want, err)
	}
}

func (s *scene) mayNot(ref execute.Ref, want execute.Access) {
	s.Helper()
	err := s.survey().Access(s.ctx(), ref, want)
	s.fails(err, execute.ErrPermission)
	s.class(err, accessControl)
}
