package fakehdfs

import (
	"context"
	"errors"
	"slices"
	"testing"

	"fsweep/execute"
)

var _ execute.Surveyor = (*Client)(nil)

// Survey implements hdfstest.Cluster.
func (c cluster) Survey(_ testing.TB, user string) execute.Surveyor { return c.fs.Client(user) }

// User implements [execute.Surveyor].
func (c *Client) User() string { return c.user }

// Groups implements [execute.Surveyor].
func (c *Client) Groups(ctx context.Context) ([]string, error) {
	groups := []string{}
	err := c.ask(ctx, "Groups", "getGroupsForUser", nowhere, func(_ *state, who *caller) error {
		groups = append(groups, who.groups...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return groups, nil
}

// Access implements [execute.Surveyor].
func (c *Client) Access(ctx context.Context, ref execute.Ref, want execute.Access) error {
	return c.about(ctx, "Access", "checkAccess", ref, func(s *state, who *caller) error {
		l, err := s.tree.reach(who, ref.Path(), true)
		if err != nil {
			return err
		}
		if l.last() == nil {
			return refuse(fileNotFound, execute.ErrNotFound, "Path not found: %s", l.path)
		}
		return s.tree.need(who, l.last(), uint16(want))
	})
}

// NameNodes implements [execute.Surveyor]: one message to each NameNode. All have the
// version of the cluster and its clock.
func (c *Client) NameNodes(ctx context.Context) []execute.NameNodeState {
	c.fs.mu.Lock()
	nodes := []execute.NameNode{c.fs.state.nameNode(0)}
	if c.fs.state.opts.HA {
		nodes = append(nodes, c.fs.state.nameNode(1))
	}
	version := c.fs.state.opts.Version
	c.fs.mu.Unlock()
	var all []execute.NameNodeState
	for i, nn := range nodes {
		op := Op{Port: "NameNodes", Call: "msync", User: c.user, Client: c.number, NameNode: nn.Address, Path: "/", nameNode: i}
		got := c.fs.operate(ctx, c.process, op, func(*state) error { return nil })
		n := execute.NameNodeState{NameNode: nn, Role: execute.ActiveRole, Version: version, ClusterID: "CID-fake", NamespaceID: 1}
		if remote, ok := errors.AsType[*execute.RemoteError](got.err); ok && remote.Class == standby {
			n.Role = execute.StandbyRole
		} else if got.err != nil {
			n = execute.NameNodeState{NameNode: nn, Err: got.err}
		}
		all = append(all, n)
	}
	return slices.Clip(all)
}
