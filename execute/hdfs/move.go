package hdfs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// Mover changes the cluster in the two ways of [execute.Mover]. It may be used by many
// goroutines.
type Mover struct{ c *Client }

var _ execute.Mover = (*Mover)(nil)

// Mover gives what can change the cluster. A dry run does not ask for it.
func (c *Client) Mover() *Mover { return &Mover{c} }

// Mkdirs implements [execute.Mover].
func (m *Mover) Mkdirs(ctx context.Context, path string, permission uint16) error {
	if err := checkTarget(path); err != nil {
		return err
	}
	p, err := change(&hadoop.MkdirsRequestProto{
		Src:          proto.String(path),
		Masked:       &hadoop.FsPermissionProto{Perm: proto.Uint32(uint32(permission) & permissionBits)},
		CreateParent: proto.Bool(true),
	})
	if err != nil {
		return err
	}
	ctx, cancel := m.c.bound(ctx)
	defer cancel()
	open := false // a try may have been carried out, or may yet be
	err = m.c.onActive(ctx, func(h *held) error {
		ids, err := m.c.newIDs()
		if err != nil {
			return err
		}
		var a hadoop.MkdirsResponseProto
		err = h.call(ctx, p, ids, "", &a)
		if lost, ok := errors.AsType[*lostError](err); ok {
			open = open || lost.left
			return err
		}
		// A refusal says nothing about an earlier try, which may wait in a queue still.
		if err == nil && !a.GetResult() {
			return &execute.RemoteError{Call: p.method, NameNode: h.nn.Address, Message: "answered false"}
		}
		return err
	})
	if err != nil && open {
		return unknown(err)
	}
	return err
}

func unknown(err error) error { return fmt.Errorf("%w: %w", execute.ErrUnknown, err) }

// NewCall implements [execute.Mover].
func (m *Mover) NewCall(ctx context.Context) (execute.Call, error) {
	nn, err := m.c.Active(ctx)
	if err != nil {
		return execute.Call{}, err
	}
	ids, err := m.c.newIDs()
	if err != nil {
		return execute.Call{}, err
	}
	m.c.unsent.Store(ids.call, true)
	return execute.Call{ClientID: ids.client, CallID: ids.call, NameNode: nn}, nil
}

// rename makes the request of a move.
func rename(move execute.Move) (permitted, error) {
	switch {
	case move.ID <= rootID:
		return permitted{}, fmt.Errorf("inode %d is none that can be moved: %w", move.ID, execute.ErrInvalid)
	case move.ParentID < rootID:
		return permitted{}, fmt.Errorf("inode %d cannot be a parent: %w", move.ParentID, execute.ErrInvalid)
	}
	if err := checkTarget(move.To); err != nil {
		return permitted{}, err
	}
	request := &hadoop.Rename2RequestProto{
		Src:           proto.String(execute.ByID(move.ID).Path()),
		Dst:           proto.String(move.To),
		OverwriteDest: proto.Bool(false),
	}
	if move.Trash {
		request.MoveToTrash = proto.Bool(true)
	}
	return change(request)
}

// Rename implements [execute.Mover].
func (m *Mover) Rename(ctx context.Context, move execute.Move, call execute.Call) error {
	p, err := rename(move)
	if err != nil {
		return err
	}
	if call.ClientID != m.c.id {
		return fmt.Errorf("%w: a call of another client", errRefused)
	}
	if _, ok := m.c.unsent.LoadAndDelete(call.CallID); !ok {
		return fmt.Errorf("%w: call %d was not prepared, or was used already", errRefused, call.CallID)
	}
	ctx, cancel := m.c.bound(ctx)
	defer cancel()
	ids := callIDs{client: call.ClientID, call: call.CallID}
	answered := false // an earlier try was, by a NameNode that said that it is not the right one
	return m.c.onActive(ctx, func(h *held) error {
		err := h.check(ctx, move)
		if answered && errors.Is(err, execute.ErrChanged) {
			return h.arrived(ctx, move, err)
		}
		if err != nil {
			return err
		}
		err = h.move(ctx, p, &ids, move)
		answered = answered || elsewhere(err)
		return err
	})
}

// arrived is what a rename ends with that was tried before and finds the inode in another
// directory. If that is where it was to go, the first try did it after all, though it
// was answered otherwise: that is for Resend to settle, which is harmless there. If not,
// somebody else moved it.
func (h *held) arrived(ctx context.Context, move execute.Move, changed error) error {
	at, err := h.stat(ctx, execute.At(move.To))
	switch {
	case err == nil && at.ID == move.ID:
		return unknown(changed)
	case err != nil && temporary(err):
		return err
	}
	return changed
}

// Resend implements [execute.Mover].
func (m *Mover) Resend(ctx context.Context, move execute.Move, call execute.Call) error {
	p, err := rename(move)
	if err != nil {
		return err
	}
	if call.ClientID == [16]byte{} || call.CallID <= 0 {
		return fmt.Errorf("%w: call %d of client %x is none", errRefused, call.CallID, call.ClientID)
	}
	if call.ClientID == m.c.id {
		m.c.unsent.Delete(call.CallID)
		if int64(call.CallID) > m.c.nextID.Load() {
			return fmt.Errorf("%w: call %d was never prepared", errRefused, call.CallID)
		}
	}
	ctx, cancel := m.c.bound(ctx)
	defer cancel()
	ids := callIDs{client: call.ClientID, call: call.CallID, retries: 1}
	return m.c.onActive(ctx, func(h *held) error { return h.move(ctx, p, &ids, move) })
}

// move sends a rename, once.
func (h *held) move(ctx context.Context, p permitted, ids *callIDs, move execute.Move) error {
	err := h.call(ctx, p, *ids, callerContext(move), &hadoop.Rename2ResponseProto{})
	if lost, ok := errors.AsType[*lostError](err); ok && lost.left {
		return unknown(err)
	}
	ids.retries++
	return err
}

// check looks whether the inode and its parent are those of the move.
func (h *held) check(ctx context.Context, move execute.Move) error {
	if _, err := h.stat(ctx, execute.ByID(move.ID)); err != nil {
		return err
	}
	parent, err := h.stat(ctx, execute.ParentOf(move.ID))
	if err != nil {
		return err
	}
	if parent.ID != move.ParentID {
		return fmt.Errorf("inode %d lies in directory %d, not %d: %w", move.ID, parent.ID, move.ParentID, execute.ErrChanged)
	}
	return nil
}

// callerContext is what the audit log of the NameNode shows beside the inode path. NameNodes
// cut it, by default to 128 bytes, so that which run it was comes first.
func callerContext(move execute.Move) string {
	return escape("fsweep " + move.Context + " " + move.From)
}

// escape leaves only printable ASCII, so that no name can make a line of an audit log.
func escape(s string) string {
	const maxContext = 1024
	var b strings.Builder
	for i := 0; i < len(s) && b.Len() < maxContext; i++ {
		if ch := s[i]; ch < ' ' || ch > '~' || ch == '%' {
			fmt.Fprintf(&b, "%%%02X", ch)
		} else {
			b.WriteByte(ch)
		}
	}
	return b.String()
}
