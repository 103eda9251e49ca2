package fakehdfs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"fsweep/execute"
)

// Client is a client of one user: Inspector, Reader and Mover. It sends the messages
// that the client of real NameNodes sends, and draws the same conclusions.
type Client struct {
	fs      *FS
	user    string
	process *process
	number  int
	id      [16]byte
	calls   atomic.Int32
	active  atomic.Int32 // the NameNode that was ACTIVE last
}

var (
	_ execute.Inspector = (*Client)(nil)
	_ execute.Reader    = (*Client)(nil)
	_ execute.Mover     = (*Client)(nil)
)

// tries bounds how often an operation is sent to find the ACTIVE NameNode.
const tries = 6

// send sends a message until an ACTIVE NameNode answers. Answers that say "not here"
// or "not now" make it go on, to the other NameNode; nothing was changed then.
func (c *Client) send(ctx context.Context, op Op, effect func(*state, *caller) error) answer {
	op.User, op.Client = c.user, c.number
	var got answer
	for range tries {
		c.fs.mu.Lock()
		op.nameNode = int(c.active.Load())
		op.NameNode = c.fs.state.nameNode(op.nameNode).Address
		c.fs.mu.Unlock()
		got = c.fs.operate(ctx, c.process, op, func(s *state) error { return effect(s, s.caller(c.user)) })
		var e *execute.RemoteError
		if !errors.As(got.err, &e) {
			return got
		}
		e.Call, e.NameNode = op.Call, op.NameNode
		if e.Class != standby && e.Class != retriable {
			return got
		}
		c.next()
	}
	return answer{err: fmt.Errorf("%w: %w", execute.ErrUnavailable, got.err)}
}

// next goes to the other NameNode, after a pause on the cluster's clock.
func (c *Client) next() {
	c.fs.mu.Lock()
	defer c.fs.mu.Unlock()
	if c.fs.state.opts.HA {
		c.active.Store(1 - c.active.Load())
	}
	c.fs.state.now += time.Second.Milliseconds()
}

// ask sends a message that changes nothing.
func (c *Client) ask(ctx context.Context, port, call string, ref execute.Ref, effect func(*state, *caller) error) error {
	got := c.send(ctx, Op{Port: port, Call: call, Path: ref.Path(), ID: ref.Named()}, effect)
	if got.lost && !isContext(got.err) {
		return fmt.Errorf("%w: %w", execute.ErrUnavailable, got.err)
	}
	return got.err
}

func isContext(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

var nowhere = execute.At("/")

// Active implements [execute.Inspector].
func (c *Client) Active(ctx context.Context) (execute.NameNode, error) {
	return c.msync(ctx, "Active")
}

func (c *Client) msync(ctx context.Context, port string) (execute.NameNode, error) {
	var nn execute.NameNode
	err := c.ask(ctx, port, "msync", nowhere, func(s *state, _ *caller) error {
		nn = s.nameNode(s.active)
		return nil
	})
	return nn, err
}

// SafeMode implements [execute.Inspector].
func (c *Client) SafeMode(ctx context.Context) (bool, error) {
	var on bool
	err := c.ask(ctx, "SafeMode", "setSafeMode", nowhere, func(s *state, _ *caller) error {
		on = s.safe
		return nil
	})
	return on, err
}

// Defaults implements [execute.Inspector].
func (c *Client) Defaults(ctx context.Context) (execute.Defaults, error) {
	return c.defaults(ctx, "Defaults")
}

func (c *Client) defaults(ctx context.Context, port string) (execute.Defaults, error) {
	var d execute.Defaults
	err := c.ask(ctx, port, "getServerDefaults", nowhere, func(s *state, _ *caller) error {
		d = execute.Defaults{TrashInterval: s.trash, SnapshotTrash: s.snapshotTrash(), BlockSize: s.opts.BlockSize}
		return nil
	})
	return d, err
}

// Stat implements [execute.Inspector].
func (c *Client) Stat(ctx context.Context, ref execute.Ref) (*execute.Status, error) {
	return c.stat(ctx, "Stat", ref)
}

func (c *Client) stat(ctx context.Context, port string, ref execute.Ref) (*execute.Status, error) {
	var st *execute.Status
	err := c.ask(ctx, port, "getFileLinkInfo", ref, func(s *state, who *caller) (err error) {
		st, err = s.getFileLinkInfo(who, ref.Path())
		return err
	})
	if err != nil && !errors.Is(err, errFalse) {
		return nil, err
	}
	if st == nil || err != nil {
		return nil, fmt.Errorf("%s: %w", ref, execute.ErrNotFound)
	}
	if want, ok := ref.ID(); ok && st.ID != want {
		return nil, &execute.ReplacedError{Asked: want, Got: st.ID}
	}
	if ref.Named() == 0 {
		st.Name = []byte(ref.Path()[strings.LastIndexByte(ref.Path(), '/')+1:])
	}
	return st, nil
}

// same makes sure that an id leads to its own inode, before something else is asked
// whose answer carries no id.
func (c *Client) same(ctx context.Context, port string, ref execute.Ref) error {
	if _, ok := ref.ID(); !ok {
		return nil
	}
	_, err := c.stat(ctx, port, ref)
	return err
}

// List implements [execute.Inspector].
func (c *Client) List(ctx context.Context, dir execute.Ref, after []byte) (*execute.Page, error) {
	st, err := c.stat(ctx, "List", dir)
	if err != nil {
		return nil, err
	}
	switch st.Kind {
	case execute.File:
		return nil, fmt.Errorf("%s: %w", dir, execute.ErrNotDirectory)
	case execute.Directory, execute.Symlink: // NameNodes refuse symlinks themselves
	}
	var page *execute.Page
	err = c.ask(ctx, "List", "getListing", dir, func(s *state, who *caller) (err error) {
		page, err = s.getListing(who, dir.Path(), after)
		return err
	})
	switch {
	case err != nil && !errors.Is(err, errFalse):
		return nil, err
	case page == nil || err != nil:
		return nil, fmt.Errorf("%s: %w", dir, execute.ErrNotFound)
	case len(page.Entries) == 1 && len(page.Entries[0].Name) == 0:
		return nil, fmt.Errorf("%s: %w", dir, execute.ErrNotDirectory)
	}
	return page, nil
}

// Summary implements [execute.Inspector].
func (c *Client) Summary(ctx context.Context, dir execute.Ref, limit int64) (*execute.Summary, error) {
	st, err := c.stat(ctx, "Summary", dir)
	if err != nil {
		return nil, err
	}
	if st.Children > limit {
		return nil, fmt.Errorf("%s has %d entries: %w", dir, st.Children, execute.ErrBudget)
	}
	var sum *execute.Summary
	err = c.ask(ctx, "Summary", "getContentSummary", dir, func(s *state, who *caller) (err error) {
		sum, err = s.getContentSummary(who, dir.Path())
		return err
	})
	if err != nil {
		return nil, err
	}
	if sum == nil {
		return nil, fmt.Errorf("%s: %w: no content summary", dir, execute.ErrUnavailable)
	}
	if n := sum.Inodes(); n > limit {
		return sum, fmt.Errorf("%s holds %d inodes: %w", dir, n, execute.ErrBudget)
	}
	return sum, nil
}

// XAttrs implements [execute.Inspector].
func (c *Client) XAttrs(ctx context.Context, ref execute.Ref) ([]execute.XAttr, error) {
	if err := c.same(ctx, "XAttrs", ref); err != nil {
		return nil, err
	}
	var all []execute.XAttr
	err := c.ask(ctx, "XAttrs", "getXAttrs", ref, func(s *state, who *caller) (err error) {
		all, err = s.getXAttrs(who, ref.Path())
		return err
	})
	return all, err
}

// Closed implements [execute.Inspector].
func (c *Client) Closed(ctx context.Context, file execute.Ref) (bool, error) {
	if err := c.same(ctx, "Closed", file); err != nil {
		return false, err
	}
	return c.closed(ctx, "Closed", file)
}

func (c *Client) closed(ctx context.Context, port string, file execute.Ref) (bool, error) {
	var closed bool
	err := c.ask(ctx, port, "isFileClosed", file, func(s *state, who *caller) (err error) {
		closed, err = s.isFileClosed(who, file.Path())
		return err
	})
	if errors.Is(err, errFalse) {
		return false, nil
	}
	return closed, err
}

// EncryptionZone implements [execute.Inspector].
func (c *Client) EncryptionZone(ctx context.Context, path string) (string, error) {
	return c.zone(ctx, "EncryptionZone", path)
}

func (c *Client) zone(ctx context.Context, port, path string) (string, error) {
	var zone string
	err := c.ask(ctx, port, "getEZForPath", execute.At(path), func(s *state, who *caller) (err error) {
		zone, err = s.getEZForPath(who, path)
		return err
	})
	return zone, err
}

// TrashRoot implements [execute.Inspector].
func (c *Client) TrashRoot(ctx context.Context, path string) (*execute.TrashRoot, error) {
	if !strings.HasPrefix(path, "/") {
		return nil, fmt.Errorf("%q is no absolute path", path)
	}
	dir := "/" + strings.Join(components(path)[:max(len(components(path))-1, 0)], "/")
	zone, err := c.zone(ctx, "TrashRoot", dir)
	if err != nil {
		return nil, err
	}
	if zone != "" {
		return &execute.TrashRoot{Path: strings.TrimSuffix(zone, "/") + "/.Trash/" + c.user, Kind: execute.ZoneTrash}, nil
	}
	d, err := c.defaults(ctx, "TrashRoot")
	if err != nil {
		return nil, err
	}
	home := &execute.TrashRoot{Path: "/user/" + c.user + "/.Trash", Kind: execute.HomeTrash}
	if !d.SnapshotTrash {
		return home, nil
	}
	for names := components(dir); ; names = names[:len(names)-1] {
		at := "/" + strings.Join(names, "/")
		st, err := c.stat(ctx, "TrashRoot", execute.At(at))
		switch {
		case err != nil && !errors.Is(err, execute.ErrNotFound) && !errors.Is(err, execute.ErrNotDirectory):
			return nil, err
		case err == nil && st.Snapshottable:
			return &execute.TrashRoot{Path: strings.TrimSuffix(at, "/") + "/.Trash/" + c.user, Kind: execute.SnapshotTrash}, nil
		case len(names) == 0:
			return home, nil
		}
	}
}
