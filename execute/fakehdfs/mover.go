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
	op, effect := renaming("Rename", move, call)
	var got answer
	for i := range tries {
		err := c.look(ctx, move)
		if err != nil && i > 0 && errors.Is(err, execute.ErrChanged) {
			return c.arrived(ctx, move, err)
		}
		if err != nil {
			return err
		}
		if got = c.once(ctx, op, effect); !elsewhere(got.err) {
			return moved(move, got)
		}
		c.next()
	}
	return moved(move, unavailable(got.err))
}

// look compares the inode and its parent with those of the move.
func (c *Client) look(ctx context.Context, move execute.Move) error {
	if _, err := c.stat(ctx, "Rename", execute.ByID(move.ID)); err != nil {
		return err
	}
	parent, err := c.stat(ctx, "Rename", execute.ParentOf(move.ID))
	if err == nil && parent.ID != move.ParentID {
		err = fmt.Errorf("inode %d lies in directory %d, not in %d: %w", move.ID, parent.ID, move.ParentID, execute.ErrChanged)
	}
	return err
}

// arrived tells a move that was carried out, though its answer said "not here", from one
// that somebody else made impossible.
func (c *Client) arrived(ctx context.Context, move execute.Move, changed error) error {
	switch at, err := c.stat(ctx, "Rename", execute.At(move.To)); {
	case err == nil && at.ID == move.ID:
		return fmt.Errorf("%w: %w", execute.ErrUnknown, changed)
	case errors.Is(err, execute.ErrUnavailable), isContext(err), errors.Is(err, ErrDead):
		return err
	}
	return changed
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
	op, effect := renaming("Resend", move, call)
	return moved(move, c.send(ctx, op, effect))
}

// check refuses moves that cannot be right.
func check(move execute.Move) error {
	if move.ID <= rootID || move.ParentID < rootID {
		return fmt.Errorf("inode %d in %d cannot be moved: %w", move.ID, move.ParentID, execute.ErrInvalid)
	}
	return checkTarget(move.To)
}

// renaming gives the operation of a move, and what a NameNode does for it.
func renaming(port string, move execute.Move, call execute.Call) (Op, func(*state, *caller) error) {
	src := execute.ByID(move.ID).Path()
	op := Op{
		Port: port, Call: "rename2", Mutating: true, Path: src, ID: move.ID,
		Move: move, CallID: call, Resent: port == "Resend",
	}
	return op, func(s *state, who *caller) error {
		return s.rename2(who, retryKey{call.ClientID, call.CallID}, src, move.To, move.Trash)
	}
}

// moved gives the error of a rename.
func moved(move execute.Move, got answer) error {
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
