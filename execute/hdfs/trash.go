package hdfs

import (
	"context"
	"path"
	"strings"

	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

const trashName = ".Trash"

// EncryptionZone implements [execute.Inspector].
func (c *Client) EncryptionZone(ctx context.Context, path string) (string, error) {
	if err := checkPath(path); err != nil {
		return "", err
	}
	var a hadoop.GetEZForPathResponseProto
	if err := c.query(ctx, &hadoop.GetEZForPathRequestProto{Src: proto.String(path)}, &a); err != nil {
		return "", err
	}
	if a.Zone == nil {
		return "", nil
	}
	return a.Zone.GetPath(), nil
}

// TrashRoot implements [execute.Inspector].
func (c *Client) TrashRoot(ctx context.Context, of string) (*execute.TrashRoot, error) {
	zone, err := c.EncryptionZone(ctx, of)
	if err != nil {
		return nil, err
	}
	if zone != "" {
		return &execute.TrashRoot{Path: path.Join(zone, trashName, c.user), Kind: execute.ZoneTrash}, nil
	}
	defaults, err := c.Defaults(ctx)
	if err != nil {
		return nil, err
	}
	if defaults.SnapshotTrash {
		dir, err := c.snapshottable(ctx, of)
		if err != nil {
			return nil, err
		}
		if dir != "" {
			return &execute.TrashRoot{Path: path.Join(dir, trashName, c.user), Kind: execute.SnapshotTrash}, nil
		}
	}
	return &execute.TrashRoot{Path: path.Join(c.home, c.user, trashName), Kind: execute.HomeTrash}, nil
}

// snapshottable gives the snapshottable directory that holds a path or is it, "" if
// there is none.
func (c *Client) snapshottable(ctx context.Context, of string) (string, error) {
	for dir := of; ; dir = path.Dir(dir) {
		s, err := c.Stat(ctx, execute.At(dir))
		if err != nil {
			return "", err
		}
		if s.Snapshottable {
			return dir, nil
		}
		if dir == rootPath {
			return "", nil
		}
	}
}

// lastComponent gives the name of a path; that of / is empty.
func lastComponent(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }
