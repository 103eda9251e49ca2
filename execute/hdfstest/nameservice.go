package hdfstest

import (
	"context"
	"errors"
	"time"

	"fsweep/execute"
)

func nameserviceCases() []test {
	return []test{
		{"the defaults of the NameNode", nil, func(c *scene) {
			d, err := c.Defaults(c.ctx())
			if err != nil || d.TrashInterval <= 0 || d.TrashInterval%time.Minute != 0 || d.BlockSize <= 0 {
				c.Errorf("%+v, %v; the suite needs a cluster with trash", d, err)
			}
		}},
		{"no safe mode", nil, func(c *scene) {
			if on, err := c.SafeMode(c.ctx()); err != nil || on {
				c.Errorf("%v, %v", on, err)
			}
		}},
		{"a context that has ended: its error, and nothing changes", nil, func(c *scene) {
			m, call := c.move(c.put("f", "abc"), c.at("target")), c.call()
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			_, err := c.Stat(ctx, execute.At(c.dir))
			c.ended(err, context.Canceled)
			c.ended(c.Rename(ctx, m, call), context.Canceled)
			c.ended(c.Resend(ctx, m, call), context.Canceled)
			c.ended(c.Mkdirs(ctx, c.at("new"), 0o700), context.Canceled)
			c.unmoved(m)
			c.none(c.at("new"))
			late, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
			defer cancel()
			_, err = c.Active(late)
			c.ended(err, context.DeadlineExceeded)
		}},
		{"a failover: looks and changes go to the new ACTIVE NameNode", []need{ha}, func(c *scene) {
			old, err := c.Active(c.ctx())
			if err != nil {
				c.Fatal(err)
			}
			m, call := c.move(c.put("f", "abc"), c.at("target")), c.call()
			c.admin.Failover(c)
			if err := c.Rename(c.ctx(), m, call); err != nil {
				c.Fatal(err)
			}
			c.is(m.To, m.ID)
			nn, err := c.Active(c.ctx())
			if err != nil || nn == old || nn.Nameservice != old.Nameservice || nn.ID == "" {
				c.Errorf("%+v, %v, before %+v", nn, err, old)
			}
			c.admin.Failover(c)
			c.moves(c.move(m.To, m.From))
			if err := c.Mkdirs(c.ctx(), c.at("new"), 0o700); err != nil {
				c.Error(err)
			}
		}},
		{"a failover before a call is sent again", []need{ha}, func(c *scene) {
			m, call := c.move(c.put("f", "abc"), c.at("target")), c.call()
			c.admin.Failover(c)
			c.again(c.Ports, m, call)
			c.is(m.To, m.ID)
		}},
		{"no NameNode is ACTIVE: ErrUnavailable, and nothing changes", []need{ha}, func(c *scene) {
			m, call := c.move(c.put("f", "abc"), c.at("target")), c.call()
			c.admin.AllStandby(c)
			func() {
				defer c.admin.Failover(c)
				_, err := c.Stat(c.short(), execute.At(c.dir))
				c.unavailable(err)
				_, err = c.Active(c.short())
				c.unavailable(err)
				_, err = c.NewCall(c.short())
				c.unavailable(err)
				c.unavailable(c.Mkdirs(c.short(), c.at("new"), 0o700))
				c.unavailable(c.Rename(c.short(), m, call))
				c.unavailable(c.Resend(c.short(), m, call))
			}()
			c.unmoved(m)
			c.none(c.at("new"))
			c.moves(m)
		}},
	}
}

func (s *scene) ended(err, want error) {
	s.Helper()
	if !errors.Is(err, want) || isUnknown(err) {
		s.Errorf("error %v, want %v", err, want)
	}
}

// unavailable also takes the end of the context, which may come first.
func (s *scene) unavailable(err error) {
	s.Helper()
	if !errors.Is(err, execute.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) || isUnknown(err) {
		s.Errorf("error %v, want %v", err, execute.ErrUnavailable)
	}
}

func (s *scene) short() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	s.Cleanup(cancel)
	return ctx
}
