package fakehdfs

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

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
	unsent  sync.Map     // call ids that NewCall gave and nothing used
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
	var got answer
	for range tries {
		if got = c.once(ctx, op, effect); !elsewhere(got.err) {
			return got
		}
		c.next()
	}
	return unavailable(got.err)
}

// once sends a message to the NameNode that was ACTIVE last.
func (c *Client) once(ctx context.Context, op Op, effect func(*state, *caller) error) answer {
	op.User, op.Client = c.user, c.number
	c.fs.mu.Lock()
	op.nameNode = int(c.active.Load())
	op.NameNode = c.fs.state.nameNode(op.nameNode).Address
	c.fs.mu.Unlock()
	got := c.fs.operate(ctx, c.process, op, func(s *state) error { return effect(s, s.caller(c.user)) })
	if e, ok := errors.AsType[*execute.RemoteError](got.err); ok {
		e.Call, e.NameNode = op.Call, op.NameNode
	}
	return got
}

// elsewhere tells whether an answer says that another NameNode, or a later time, is right.
func elsewhere(err error) bool {
	e, ok := errors.AsType[*execute.RemoteError](err)
	return ok && (e.Class == standby || e.Class == retriable)
}

func unavailable(err error) answer {
	return answer{err: fmt.Errorf("%w: %w", execute.ErrUnavailable, err)}
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
	if got.lost {
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
	if err := checkRef(ref); err != nil {
		return nil, err
	}
	st, err := c.stat(ctx, "Stat", ref)
	if _, exact := ref.ID(); err == nil && !exact && ref.Named() != 0 {
		// The parent is that of whatever stands at the inode's path.
		_, err = c.stat(ctx, "Stat", execute.ByID(ref.Named()))
	}
	if err != nil {
		return nil, err
	}
	return st, nil
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

// about asks something about ref, and then whether its id leads to its own inode: an
// answer without an id may have been about another one.
func (c *Client) about(ctx context.Context, port, call string, ref execute.Ref, effect func(*state, *caller) error) error {
	if err := checkRef(ref); err != nil {
		return err
	}
	if err := c.ask(ctx, port, call, ref, effect); err != nil || ref.Named() == 0 {
		return err
	}
	_, err := c.stat(ctx, port, execute.ByID(ref.Named()))
	return err
}

// List implements [execute.Inspector].
func (c *Client) List(ctx context.Context, dir execute.Ref, after []byte) (*execute.Page, error) {
	if strings.Contains(string(after), "/") {
		return nil, fmt.Errorf("name %q: %w", after, execute.ErrInvalid)
	}
	var page *execute.Page
	err := c.about(ctx, "List", "getListing", dir, func(s *state, who *caller) (err error) {
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
	if err := checkRef(dir); err != nil {
		return nil, err
	}
	st, err := c.stat(ctx, "Summary", dir)
	if err != nil {
		return nil, err
	}
	if st.Children > limit {
		return nil, fmt.Errorf("%s has %d entries: %w", dir, st.Children, execute.ErrBudget)
	}
	var sum *execute.Summary
	err = c.about(ctx, "Summary", "getContentSummary", dir, func(s *state, who *caller) (err error) {
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
	var all []execute.XAttr
	err := c.about(ctx, "XAttrs", "getXAttrs", ref, func(s *state, who *caller) (err error) {
		all, err = s.getXAttrs(who, ref.Path())
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Closed implements [execute.Inspector].
func (c *Client) Closed(ctx context.Context, file execute.Ref) (bool, error) {
	return c.closed(ctx, "Closed", file)
}

func (c *Client) closed(ctx context.Context, port string, file execute.Ref) (bool, error) {
	var closed bool
	err := c.about(ctx, port, "isFileClosed", file, func(s *state, who *caller) (err error) {
		closed, err = s.isFileClosed(who, file.Path())
		return err
	})
	if errors.Is(err, errFalse) {
		return false, nil
	}
	return closed && err == nil, err
}

// EncryptionZone implements [execute.Inspector].
func (c *Client) EncryptionZone(ctx context.Context, path string) (string, error) {
	return c.zone(ctx, "EncryptionZone", path)
}

func (c *Client) zone(ctx context.Context, port, path string) (string, error) {
	if err := checkPath(path); err != nil {
		return "", err
	}
	var zone string
	err := c.ask(ctx, port, "getEZForPath", execute.At(path), func(s *state, who *caller) (err error) {
		zone, err = s.getEZForPath(who, path)
		return err
	})
	return zone, err
}

// TrashRoot implements [execute.Inspector].
func (c *Client) TrashRoot(ctx context.Context, of string) (*execute.TrashRoot, error) {
	if err := checkPath(of); err != nil {
		return nil, err
	}
	zone, err := c.zone(ctx, "TrashRoot", path.Dir(of))
	if err != nil {
		return nil, err
	}
	d, err := c.defaults(ctx, "TrashRoot")
	if err != nil {
		return nil, err
	}
	dir := ""
	if d.SnapshotTrash {
		if dir, err = c.snapshottable(ctx, of); err != nil {
			return nil, err
		}
	}
	switch {
	case len(dir) > len(zone):
		return &execute.TrashRoot{Path: path.Join(dir, ".Trash", c.user), Kind: execute.SnapshotTrash}, nil
	case zone != "":
		return &execute.TrashRoot{Path: path.Join(zone, ".Trash", c.user), Kind: execute.ZoneTrash}, nil
	}
	return &execute.TrashRoot{Path: path.Join("/user", c.user, ".Trash"), Kind: execute.HomeTrash}, nil
}

// snapshottable gives the deepest snapshottable directory of the user's above a path.
func (c *Client) snapshottable(ctx context.Context, of string) (string, error) {
	found := ""
	err := c.ask(ctx, "TrashRoot", "getSnapshottableDirListing", nowhere, func(s *state, who *caller) error {
		for _, dir := range s.getSnapshottableDirListing(who) {
			if strings.HasPrefix(of, strings.TrimSuffix(dir, "/")+"/") && len(dir) > len(found) {
				found = dir
			}
		}
		return nil
	})
	return found, err
}

// checkPath refuses what no NameNode should be asked for by name.
func checkPath(path string) error {
	valid := strings.HasPrefix(path, "/") && utf8.ValidString(path) && !strings.Contains(path, "\x00")
	if valid && path != "/" {
		for name := range strings.SplitSeq(path[1:], "/") {
			valid = valid && name != "" && name != "." && name != ".."
		}
	}
	if !valid {
		return fmt.Errorf("path %q: %w", path, execute.ErrInvalid)
	}
	return nil
}

func checkRef(ref execute.Ref) error {
	if ref.Named() != 0 {
		return nil
	}
	return checkPath(ref.Path())
}

// checkTarget refuses paths to which nothing may be made or moved.
func checkTarget(path string) error {
	if err := checkPath(path); err != nil {
		return err
	}
	names := components(path)
	if len(names) == 0 || names[0] == ".reserved" || slices.Contains(names, snapshotDir) {
		return fmt.Errorf("target %q: %w", path, execute.ErrInvalid)
	}
	return nil
}
