package hdfs

import (
	"fmt"
	"math"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// Flags of a status, and those that Hadoop 2 puts into the permission.
const (
	flagACL          = 1
	flagEncrypted    = 2
	flagErasureCoded = 4
	flagSnapshots    = 8

	permissionBits  = 0o1777
	permACL         = 1 << 12
	permEncrypted   = 1 << 13
	permErasureCode = 1 << 14
)

// toStatus takes over what a NameNode says of an inode.
func toStatus(fs *hadoop.HdfsFileStatusProto) (*execute.Status, error) {
	s := &execute.Status{
		ID:          fs.GetFileId(),
		Name:        append([]byte(nil), fs.GetPath()...),
		MTimeMs:     int64(fs.GetModificationTime()),
		ATimeMs:     int64(fs.GetAccessTime()),
		Owner:       fs.GetOwner(),
		Group:       fs.GetGroup(),
		Replication: fs.GetBlockReplication(),
		BlockSize:   int64(fs.GetBlocksize()),
		Children:    int64(max(fs.GetChildrenNum(), 0)),
	}
	perm, flags := fs.GetPermission().GetPerm(), fs.GetFlags()
	s.Permission = uint16(perm & permissionBits)
	s.ACL = flags&flagACL != 0 || perm&permACL != 0
	s.Encrypted = flags&flagEncrypted != 0 || perm&permEncrypted != 0 || fs.FileEncryptionInfo != nil
	s.ErasureCoded = flags&flagErasureCoded != 0 || perm&permErasureCode != 0 || fs.EcPolicy != nil
	s.Snapshottable = flags&flagSnapshots != 0
	switch fs.GetFileType() {
	case hadoop.HdfsFileStatusProto_IS_DIR:
		s.Kind = execute.Directory
	case hadoop.HdfsFileStatusProto_IS_FILE:
		s.Kind = execute.File
	case hadoop.HdfsFileStatusProto_IS_SYMLINK:
		s.Kind = execute.Symlink
	}
	if s.Kind == execute.File {
		if fs.GetLength() > math.MaxInt64 {
			return nil, fmt.Errorf("inode %d has a length of %d bytes", s.ID, fs.GetLength())
		}
		s.Length = int64(fs.GetLength())
	}
	if s.ID == 0 {
		return nil, fmt.Errorf("a status without inode id")
	}
	return s, nil
}
