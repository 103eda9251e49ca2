package fakehdfs

import (
	"context"
	"errors"
	"fmt"

	"fsweep/execute"
)

// Mkdirs implements [execute.Mover].
func (c *Client) Mkdirs(ctx context.Context, path string, permission uint16) error {
	if err := checkTarget(path); err != nil {
		return err
	}
	op := Op{Port: "Mkdirs", Call: "mkdirs", Mutating: true, Path: path}
	var got answer
	for try := range 2 {
		got = c.send(ctx, op, func(s *state, who *caller) error { return s.mkdirs(who, path, permission) })
		if got.err == nil || errors.Is(got.err, ErrDead) || try == 0 && !got.lost {
			return got.err // what is refused later says nothing about what was lost
		}
		if isContext(got.err) {
			break
		}
	}
	return fmt.Errorf("mkdirs %q: %w: %w", path, execute.ErrUnknown, got.err)
}

// NewCall implements [execute.Mover].
func (c *Client) NewCall(ctx context.Context) (execute.Call, error) {
	nn, err := c.msync(ctx, "NewCall")
	if err != nil {
		return execute.Call{}, err
	}
	call := execute.Call{ClientID: c.id, CallID: c.calls.Add(1), NameNode: nn}
	c.unsent.Store(call.CallID, true)
	return call, nil
}

// Rename implements [execute.Mover].
func (c *Client) Rename(ctx context.Context, move execute.Move, call execute.Call) error {
	if err := check(move); err != nil {
		return err
	}
	if _, ok := c.unsent.LoadAndDelete(call.CallID); !ok || call.ClientID != c.id {
		return fmt.Errorf("call %d was not prepared by this client, or was used already", call.CallID)
	}
	if _, err := c.stat(ctx, "Rename", execute.ByID(move.ID)); err != nil {
		return err
	}
	parent, err := c.stat(ctx, "Rename", execute.ParentOf(move.ID))
	if err != nil {
		return err
	}
	if parent.ID != move.ParentID {
		return fmt.Errorf("inode %d lies in directory %d, not in %d: %w", move.ID, parent.ID, move.ParentID, execute.ErrChanged)
	}
	return c.rename(ctx, "Rename", move, call)
}

// Resend implements [execute.Mover].
func (c *Client) Resend(ctx context.Context, move execute.Move, call execute.Call) error {
	if err := check(move); err != nil {
		return err
	}
	if call.ClientID == [16]byte{} || call.CallID <= 0 || call.ClientID == c.id && call.CallID > c.calls.Load() {
		return fmt.Errorf("call %d of client %x was never prepared", call.CallID, call.ClientID)
	}
	if call.ClientID == c.id {
		c.unsent.Delete(call.CallID)
	}
	return c.rename(ctx, "Resend", move, call)
}

// check refuses moves that cannot be right.
func check(move execute.Move) error {
	if move.ID <= rootID || move.ParentID < rootID {
		return fmt.Errorf("inode %d in %d cannot be moved: %w", move.ID, move.ParentID, execute.ErrInvalid)
	}
	return checkTarget(move.To)
}

func (c *Client) rename(ctx context.Context, port string, move execute.Move, call execute.Call) error {
	src := execute.ByID(move.ID).Path()
	op := Op{
		Port: port, Call: "rename2", Mutating: true, Path: src, ID: move.ID,
		Move: move, CallID: call, Resent: port == "Resend",
	}
	got := c.send(ctx, op, func(s *state, who *caller) error {
		return s.rename2(who, retryKey{call.ClientID, call.CallID}, src, move.To, move.Trash)
	})
	if got.lost {
		return fmt.Errorf("rename of inode %d to %q: %w: %w", move.ID, move.To, execute.ErrUnknown, got.err)
	}
	return got.err
}

// Step counts something that is no message to a NameNode as an operation of the client:
// the write of a line to a journal, its fsync. So a plan of faults and a crash can strike
// there. Every kind of fault that ends an operation makes it fail.
func (c *Client) Step(ctx context.Context, name string) error {
	op := Op{Port: name, Call: stepCall, User: c.user, Client: c.number}
	return c.fs.operate(ctx, c.process, op, func(*state) error { return nil }).err
}
