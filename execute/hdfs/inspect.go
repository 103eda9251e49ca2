package hdfs

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// query asks the ACTIVE NameNode something that changes nothing.
func (c *Client) query(ctx context.Context, request, result proto.Message) error {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	return c.onActive(ctx, func(h *held) error {
		proto.Reset(result)
		return h.ask(ctx, request, result)
	})
}

// about asks something about ref. If ref is an id, it is looked up once more behind the
// answer: an id that does not lead to its own inode now may have led to another one before. One
// that is still right was so then, because a deleted inode does not come back.
func (c *Client) about(ctx context.Context, ref execute.Ref, request, result proto.Message) error {
	if err := checkRef(ref); err != nil {
		return err
	}
	ctx, cancel := c.bound(ctx)
	defer cancel()
	return c.onActive(ctx, func(h *held) error {
		proto.Reset(result)
		if err := h.ask(ctx, request, result); err != nil {
			return goneByID(ref, err)
		}
		if ref.Named() == 0 {
			return nil
		}
		_, err := h.stat(ctx, execute.ByID(ref.Named()))
		return err
	})
}

// goneByID makes ErrNotFound of what NameNodes answer for an inode that only a snapshot holds.
func goneByID(ref execute.Ref, err error) error {
	if ref.Named() != 0 && hasClass(err, argumentClass) {
		return fmt.Errorf("%v: %w: %w", ref, execute.ErrNotFound, err)
	}
	return err
}

func notFound(ref execute.Ref) error { return fmt.Errorf("%q: %w", ref.Path(), execute.ErrNotFound) }

// stat asks for a status, once.
func (h *held) stat(ctx context.Context, ref execute.Ref) (*execute.Status, error) {
	var a hadoop.GetFileLinkInfoResponseProto
	if err := h.ask(ctx, &hadoop.GetFileLinkInfoRequestProto{Src: proto.String(ref.Path())}, &a); err != nil {
		return nil, goneByID(ref, err)
	}
	if a.Fs == nil {
		return nil, notFound(ref)
	}
	s, err := toStatus(a.Fs)
	if err != nil {
		return nil, err
	}
	if id, exact := ref.ID(); exact && s.ID != id {
		return nil, &execute.ReplacedError{Asked: id, Got: s.ID}
	}
	return s, nil
}

// Stat implements [execute.Inspector].
func (c *Client) Stat(ctx context.Context, ref execute.Ref) (*execute.Status, error) {
	if err := checkRef(ref); err != nil {
		return nil, err
	}
	ctx, cancel := c.bound(ctx)
	defer cancel()
	var s *execute.Status
	err := c.onActive(ctx, func(h *held) (err error) {
		if s, err = h.stat(ctx, ref); err != nil || ref.Named() == 0 {
			return err
		}
		if _, exact := ref.ID(); !exact {
			// The parent is that of whatever stands at the inode's path.
			_, err = h.stat(ctx, execute.ByID(ref.Named()))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if ref.Named() == 0 {
		s.Name = []byte(lastComponent(ref.Path()))
	} else {
		s.Name = nil
	}
	return s, nil
}

// List implements [execute.Inspector].
func (c *Client) List(ctx context.Context, dir execute.Ref, after []byte) (*execute.Page, error) {
	if err := checkName(after); err != nil {
		return nil, err
	}
	var a hadoop.GetListingResponseProto
	request := &hadoop.GetListingRequestProto{Src: proto.String(dir.Path()), StartAfter: append([]byte{}, after...), NeedLocation: proto.Bool(false)}
	if err := c.about(ctx, dir, request, &a); err != nil {
		return nil, err
	}
	if a.DirList == nil {
		return nil, notFound(dir)
	}
	page := &execute.Page{Left: int64(a.DirList.GetRemainingEntries())}
	for _, fs := range a.DirList.GetPartialListing() {
		if len(fs.GetPath()) == 0 {
			return nil, fmt.Errorf("%q: %w", dir.Path(), execute.ErrNotDirectory) // the listing of a file is the file
		}
		s, err := toStatus(fs)
		if err != nil {
			return nil, err
		}
		page.Entries = append(page.Entries, *s)
	}
	if page.Left > 0 && len(page.Entries) == 0 {
		return nil, fmt.Errorf("listing of %q: no entries, and %d left", dir.Path(), page.Left)
	}
	return page, nil
}

// Summary implements [execute.Inspector].
func (c *Client) Summary(ctx context.Context, dir execute.Ref, limit int64) (*execute.Summary, error) {
	status, err := c.Stat(ctx, dir)
	if err != nil {
		return nil, err
	}
	if status.Children > limit {
		return nil, fmt.Errorf("%q has %d entries, more than %d: %w", dir.Path(), status.Children, limit, execute.ErrBudget)
	}
	var a hadoop.GetContentSummaryResponseProto
	if err := c.about(ctx, dir, &hadoop.GetContentSummaryRequestProto{Path: proto.String(dir.Path())}, &a); err != nil {
		return nil, err
	}
	sum := &execute.Summary{
		Files:       int64(a.Summary.GetFileCount()),
		Directories: int64(a.Summary.GetDirectoryCount()),
		Length:      int64(a.Summary.GetLength()),
		Space:       int64(a.Summary.GetSpaceConsumed()),
	}
	if min(sum.Files, sum.Directories, sum.Length, sum.Space) < 0 {
		return nil, fmt.Errorf("content summary of %q with negative sums", dir.Path())
	}
	if sum.Inodes() > limit || sum.Inodes() < 0 {
		return sum, fmt.Errorf("%q has %d inodes, more than %d: %w", dir.Path(), sum.Inodes(), limit, execute.ErrBudget)
	}
	return sum, nil
}

// XAttrs implements [execute.Inspector].
func (c *Client) XAttrs(ctx context.Context, ref execute.Ref) ([]execute.XAttr, error) {
	var a hadoop.GetXAttrsResponseProto
	if err := c.about(ctx, ref, &hadoop.GetXAttrsRequestProto{Src: proto.String(ref.Path())}, &a); err != nil {
		return nil, err
	}
	var list []execute.XAttr
	for _, x := range a.GetXAttrs() {
		list = append(list, execute.XAttr{Namespace: xattrNamespaces[x.GetNamespace()], Name: x.GetName(), Value: x.GetValue()})
	}
	return list, nil
}

var xattrNamespaces = map[hadoop.XAttrProto_XAttrNamespaceProto]string{
	hadoop.XAttrProto_USER:     "user",
	hadoop.XAttrProto_TRUSTED:  "trusted",
	hadoop.XAttrProto_SECURITY: "security",
	hadoop.XAttrProto_SYSTEM:   "system",
	hadoop.XAttrProto_RAW:      "raw",
}

// Closed implements [execute.Inspector].
func (c *Client) Closed(ctx context.Context, file execute.Ref) (bool, error) {
	var a hadoop.IsFileClosedResponseProto
	err := c.about(ctx, file, &hadoop.IsFileClosedRequestProto{Src: proto.String(file.Path())}, &a)
	return a.GetResult() && err == nil, err
}

// SafeMode implements [execute.Inspector].
func (c *Client) SafeMode(ctx context.Context) (bool, error) {
	var a hadoop.SetSafeModeResponseProto
	err := c.query(ctx, &hadoop.SetSafeModeRequestProto{
		Action:  hadoop.SafeModeActionProto_SAFEMODE_GET.Enum(),
		Checked: proto.Bool(true),
	}, &a)
	return a.GetResult(), err
}

// Defaults implements [execute.Inspector].
func (c *Client) Defaults(ctx context.Context) (execute.Defaults, error) {
	var a hadoop.GetServerDefaultsResponseProto
	if err := c.query(ctx, &hadoop.GetServerDefaultsRequestProto{}, &a); err != nil {
		return execute.Defaults{}, err
	}
	d := a.GetServerDefaults()
	const maxMinutes = uint64(1<<63-1) / uint64(time.Minute)
	return execute.Defaults{
		TrashInterval:   time.Duration(min(d.GetTrashInterval(), maxMinutes)) * time.Minute,
		SnapshotTrash:   d.GetSnapshotTrashRootEnabled(),
		EncryptTransfer: d.GetEncryptDataTransfer(),
		BlockSize:       int64(d.GetBlockSize()),
	}, nil
}
