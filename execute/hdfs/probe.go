package hdfs

import (
	"context"
	"errors"
	"sync"

	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// State is what a NameNode is, by what it answers.
type State string

// The states of a NameNode.
const (
	Active      State = "active"
	Standby     State = "standby"
	Observer    State = "observer"
	Unreachable State = "unreachable" // no connection, or no answer
	Refusing    State = "refusing"    // it answers with an error of another kind
)

// NameNodeState is the state of one NameNode. Err is what it answered if it is not ACTIVE.
type NameNodeState struct {
	execute.NameNode
	State State
	Err   error
}

// NameNodes asks all NameNodes of the nameservice at once what they are. It takes as long as
// one try of a call at most.
func (c *Client) NameNodes(ctx context.Context) []NameNodeState {
	states := make([]NameNodeState, len(c.nodes))
	var wg sync.WaitGroup
	for i, n := range c.nodes {
		wg.Go(func() {
			conn, err := c.confirmed(ctx, n, 0)
			if err == nil {
				c.give(n, conn)
			}
			states[i] = NameNodeState{NameNode: n.NameNode, State: stateOf(err), Err: err}
		})
	}
	wg.Wait()
	return states
}

func stateOf(err error) State {
	var lost *lostError
	switch {
	case err == nil:
		return Active
	case hasClass(err, standbyClass):
		return Standby
	case hasClass(err, observerClass):
		return Observer
	case errors.As(err, &lost):
		return Unreachable
	}
	return Refusing
}

// Access is what a user may want to do with an object: the bits of a permission.
type Access uint8

// The kinds of access, to be added up.
const (
	Execute Access = 1 << iota
	Write
	Read
)

// CheckAccess asks the NameNode whether the user may do that, ACLs and whatever else decides
// included, but not sticky bits. It gives nil, or [execute.ErrPermission].
func (c *Client) CheckAccess(ctx context.Context, ref execute.Ref, access Access) error {
	mode := hadoop.FsActionProto(access & (Execute | Write | Read))
	return c.about(ctx, ref, &hadoop.CheckAccessRequestProto{Path: proto.String(ref.Path()), Mode: &mode}, &hadoop.CheckAccessResponseProto{})
}
