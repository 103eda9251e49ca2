package hdfstest

import (
	"fsweep/execute"
)

func retryCases() []test {
	return []test{
		{"calls are never the same, and clients neither", nil, func(c *scene) {
			other := c.cluster.As(c, owner)
			seen := make(map[execute.Call]bool)
			for range 5 {
				call := c.call()
				again, err := other.NewCall(c.ctx())
				if err != nil {
					c.Fatal(err)
				}
				if again.ClientID == call.ClientID || call.ClientID == [16]byte{} {
					c.Errorf("client ids %x, %x", call.ClientID, again.ClientID)
				}
				for _, one := range []execute.Call{call, again} {
					one.NameNode = execute.NameNode{}
					if seen[one] {
						c.Errorf("call %+v twice", one)
					}
					seen[one] = true
				}
			}
		}},
		{"a call names the ACTIVE NameNode", nil, func(c *scene) {
			nn, err := c.Active(c.ctx())
			if err != nil || nn.Address == "" {
				c.Fatalf("%+v, %v", nn, err)
			}
			c.equal("NameNode", c.call().NameNode, nn)
		}},
		{"a call is used once, by its own client", nil, func(c *scene) {
			m, call := c.done("f", "target")
			other := c.move(c.put("g", "abc"), c.at("elsewhere"))
			if err := c.Rename(c.ctx(), other, call); err == nil {
				c.Error("a call was used twice")
			}
			if err := c.cluster.As(c, owner).Rename(c.ctx(), other, c.call()); err == nil {
				c.Error("a call of another client was used")
			}
			c.unmoved(other)
			c.is(m.To, m.ID)
		}},
		{"sent again: success, one effect", nil, func(c *scene) {
			m, call := c.done("f", "target")
			for range 3 {
				c.again(c.Ports, m, call)
			}
			c.is(m.To, m.ID)
		}},
		{"sent again by another client", nil, func(c *scene) {
			m, call := c.done("f", "target")
			c.again(c.cluster.As(c, owner), m, call)
			c.is(m.To, m.ID)
		}},
		{"sent again by another user: success, and nothing is done", nil, func(c *scene) {
			m, call := c.done("f", "target")
			other := m
			other.To = c.at("elsewhere")
			c.again(c.cluster.As(c, foreigner), other, call)
			c.is(m.To, m.ID)
			c.none(other.To)
		}},
		{"sent again when the source was created again: success, the source stays", nil, func(c *scene) {
			m, call := c.done("f", "target")
			again := c.id(c.put("f", "abc"))
			c.again(c.Ports, m, call)
			c.is(c.at("f"), again)
			c.is(m.To, m.ID)
		}},
		{"sent again when the inode was moved back: success, and it stays there", nil, func(c *scene) {
			m, call := c.done("f", "target")
			c.admin.Rename(c, m.To, m.From)
			c.again(c.Ports, m, call)
			c.is(m.From, m.ID)
			c.none(m.To)
		}},
		{"the same ids with another target: success, and nothing is done", nil, func(c *scene) {
			m, call := c.done("f", "target")
			other := m
			other.To = c.at("elsewhere")
			c.again(c.Ports, other, call)
			c.is(m.To, m.ID)
			c.none(other.To)
		}},
		{"the same ids for another inode: success, and nothing is done", nil, func(c *scene) {
			_, call := c.done("f", "target")
			other := c.move(c.put("g", "abc"), c.at("elsewhere"))
			c.again(c.Ports, other, call)
			c.unmoved(other)
		}},
		{"a new call for the same move: the target is taken", nil, func(c *scene) {
			m, _ := c.done("f", "target")
			err := c.Resend(c.ctx(), m, c.call())
			c.fails(err, execute.ErrExists)
			c.class(err, alreadyExists)
			c.is(m.To, m.ID)
		}},
		{"a new call for a new inode at the source: the target is taken", nil, func(c *scene) {
			first, _ := c.done("f", "target")
			c.stays(c.move(c.put("f", "abc"), c.at("target")), execute.ErrExists)
			c.is(first.To, first.ID)
		}},
		{"a call that failed is carried out when it is sent again", nil, func(c *scene) {
			m := c.move(c.put("f", "abc"), c.at("no/target"))
			call := c.call()
			c.fails(c.Rename(c.ctx(), m, call), execute.ErrNoParent)
			c.fails(c.Resend(c.ctx(), m, call), execute.ErrNoParent)
			c.mkdir("no")
			c.again(c.Ports, m, call)
			c.is(m.To, m.ID)
			c.none(m.From)
		}},
		{"a call that was never sent is carried out when it is sent again", nil, func(c *scene) {
			m := c.move(c.put("f", "abc"), c.at("target"))
			c.again(c.Ports, m, c.call())
			c.is(m.To, m.ID)
		}},
		{"in safe mode a known call is still answered with success", nil, func(c *scene) {
			m, call := c.done("f", "target")
			c.admin.SafeMode(c, true)
			defer c.admin.SafeMode(c, false)
			c.again(c.Ports, m, call)
			c.fails(c.Resend(c.ctx(), m, c.call()), execute.ErrSafeMode)
		}},
		{"after a failover a known call is answered with success", []need{ha}, func(c *scene) {
			m, call := c.done("f", "target")
			again := c.id(c.put("f", "abc"))
			c.admin.Failover(c)
			c.again(c.Ports, m, call)
			c.again(c.cluster.As(c, owner), m, call)
			c.is(c.at("f"), again)
			c.is(m.To, m.ID)
		}},
		{"after a failover a failed call is carried out", []need{ha}, func(c *scene) {
			m := c.move(c.put("f", "abc"), c.at("no/target"))
			call := c.call()
			c.fails(c.Rename(c.ctx(), m, call), execute.ErrNoParent)
			c.mkdir("no")
			c.admin.Failover(c)
			c.again(c.Ports, m, call)
			c.is(m.To, m.ID)
		}},
	}
}

// done makes a file and moves it; it gives the move and its call.
func (s *scene) done(from, to string) (execute.Move, execute.Call) {
	s.Helper()
	m, call := s.move(s.put(from, "abc"), s.at(to)), s.call()
	if err := s.Rename(s.ctx(), m, call); err != nil {
		s.Fatalf("rename: %v", err)
	}
	s.is(m.To, m.ID)
	return m, call
}

// again sends a call once more; it must succeed.
func (s *scene) again(as Ports, m execute.Move, call execute.Call) {
	s.Helper()
	if err := as.Resend(s.ctx(), m, call); err != nil {
		s.Errorf("sent again: %v", err)
	}
}
