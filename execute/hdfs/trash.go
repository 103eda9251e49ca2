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
	return a.GetZone().GetPath(), nil
}

// TrashRoot implements [execute.Inspector], by the rules of Hadoop's own client: the zone is
// that of the parent directory, snapshottable directories are those that the NameNode
// lists for this user, and of both the deeper one counts.
func (c *Client) TrashRoot(ctx context.Context, of string) (*execute.TrashRoot, error) {
	if err := checkPath(of); err != nil {
		return nil, err
	}
	zone, err := c.EncryptionZone(ctx, path.Dir(of))
	if err != nil {
		return nil, err
	}
	defaults, err := c.Defaults(ctx)
	if err != nil {
		return nil, err
	}
	dir := ""
	if defaults.SnapshotTrash {
		if dir, err = c.snapshottable(ctx, of); err != nil {
			return nil, err
		}
	}
	switch {
	case len(dir) > len(zone):
		return &execute.TrashRoot{Path: path.Join(dir, trashName, c.user), Kind: execute.SnapshotTrash}, nil
	case zone != "":
		return &execute.TrashRoot{Path: path.Join(zone, trashName, c.user), Kind: execute.ZoneTrash}, nil
	}
	return &execute.TrashRoot{Path: path.Join(c.home, c.user, trashName), Kind: execute.HomeTrash}, nil
}

// snapshottable gives the lowest snapshottable directory above a path, "" if there is none.
// That / always says of itself that it is one does not count.
func (c *Client) snapshottable(ctx context.Context, of string) (string, error) {
	var a hadoop.GetSnapshottableDirListingResponseProto
	if err := c.query(ctx, &hadoop.GetSnapshottableDirListingRequestProto{}, &a); err != nil {
		return "", err
	}
	found := ""
	for _, s := range a.GetSnapshottableDirList().GetSnapshottableDirListing() {
		dir := path.Join(rootPath, string(s.GetParentFullpath()), string(s.GetDirStatus().GetPath()))
		if inside(of, dir) && len(dir) > len(found) {
			found = dir
		}
	}
	return found, nil
}

// inside tells whether a path lies below a directory.
func inside(p, dir string) bool {
	return p != dir && (dir == rootPath || strings.HasPrefix(p, dir+"/"))
}

// lastComponent gives the name of a path; that of / is empty.
func lastComponent(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }
