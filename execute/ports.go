package execute

import (
	"context"
	"io"
	"time"
)

// Inspector looks at a cluster through its ACTIVE NameNode. No call changes
// anything, access times included; none follows a symbolic link.
type Inspector interface {
	// Active says which NameNode is ACTIVE, by a call that only such a one answers.
	Active(ctx context.Context) (NameNode, error)

	// SafeMode tells whether the NameNode is in safe mode.
	SafeMode(ctx context.Context) (bool, error)

	// Defaults gives what the NameNode tells its clients to use.
	Defaults(ctx context.Context) (Defaults, error)

	// Stat gives the status of one inode. Asked by id it gives that inode or
	// ErrNotFound (a [*ReplacedError] if the id led elsewhere), and no name. Asked for
	// the parent of an id, whatever holds that inode now. A path below a file is
	// ErrNotFound for a superuser, ErrNotDirectory for others.
	Stat(ctx context.Context, ref Ref) (*Status, error)

	// List gives entries of a directory in the NameNode's order, those behind after
	// (nil: from the first one on). NameNodes compare names byte by byte as signed
	// numbers: bytes from 0x80 on come first. A page has as many as the NameNode
	// likes; Left is the number of those behind it. Entries that appear or vanish
	// between two pages may or may not be seen. Of a file it is ErrNotDirectory.
	List(ctx context.Context, dir Ref, after []byte) (*Page, error)

	// Summary counts a subtree, as the NameNode's content summary does. The NameNode
	// looks at each inode of it, so a directory with more than limit direct entries is
	// not asked for at all, and one with more than limit inodes gives ErrBudget with
	// what was counted. It is ErrPermission when the user may not read all of it: there
	// is no partial answer. NameNodes of Hadoop 3 also count what only snapshots hold.
	Summary(ctx context.Context, dir Ref, limit int64) (*Summary, error)

	// XAttrs gives all extended attributes that the user may see; none if there
	// are none, ErrUnsupported if the NameNode has them switched off.
	XAttrs(ctx context.Context, ref Ref) ([]XAttr, error)

	// Closed tells whether a file is not under construction.
	Closed(ctx context.Context, file Ref) (bool, error)

	// TrashRoot gives the trash that takes what is at a path, as Hadoop's client finds it: that
	// of the user's home (/user/NAME/.Trash), of the encryption zone that holds the parent
	// (ZONE/.Trash/NAME), or of a snapshottable directory above (DIR/.Trash/NAME) if the NameNode
	// has trash there and lists the directory for the user: an owner or superuser. The
	// deeper one of both counts. The directory need not exist.
	TrashRoot(ctx context.Context, path string) (*TrashRoot, error)

	// EncryptionZone gives the root of the zone that holds a path, "" if there is none.
	EncryptionZone(ctx context.Context, path string) (string, error)
}

// NameNode is one NameNode of the nameservice.
type NameNode struct {
	Nameservice string // "" without one
	ID          string // nn1; "" without a nameservice
	Address     string // host:port of its RPCs
}

// Defaults are server defaults of a NameNode.
type Defaults struct {
	// TrashInterval after which what is in the trash is deleted; 0: there is no trash.
	TrashInterval time.Duration
	// SnapshotTrash: snapshottable directories have a trash of their own.
	SnapshotTrash bool
	// EncryptTransfer: DataNodes talk encrypted.
	EncryptTransfer bool
	BlockSize       int64 // bytes
}

// Kind is the kind of an inode.
type Kind uint8

// The kinds.
const (
	File Kind = iota + 1
	Directory
	Symlink
)

// Status is what a NameNode says of one inode. All times are milliseconds since 1970.
type Status struct {
	ID          uint64
	Kind        Kind
	Name        []byte // the last component; empty if asked by id
	Length      int64  // bytes; 0 of directories and symlinks
	MTimeMs     int64
	ATimeMs     int64
	Owner       string
	Group       string
	Permission  uint16 // 01777 and below, with the sticky bit
	Children    int64  // direct entries of a directory
	Replication uint32
	BlockSize   int64 // bytes

	ACL           bool // there are more permissions than Permission
	Encrypted     bool // in an encryption zone: what DataNodes give is ciphertext
	ErasureCoded  bool
	Snapshottable bool // also / says so. Hadoop 2 never does
}

// Page is a part of a directory.
type Page struct {
	Entries []Status
	Left    int64
}

// Summary is a content summary.
type Summary struct {
	Files, Directories int64 // symlinks count as files; the directory itself is one
	Length             int64 // bytes
	Space              int64 // bytes on disk
}

// Inodes gives the number of all.
func (s *Summary) Inodes() int64 { return s.Files + s.Directories }

// XAttr is an extended attribute.
type XAttr struct {
	Namespace string // user, trusted, system, security, raw
	Name      string
	Value     []byte
}

// TrashRoot is where a trash is.
type TrashRoot struct {
	Path string
	Kind TrashKind
}

// TrashKind says what a trash belongs to.
type TrashKind uint8

// The kinds of trash.
const (
	HomeTrash TrashKind = iota + 1
	ZoneTrash
	SnapshotTrash
)

// FileID says which file is to be read, in which state.
type FileID struct {
	Path    string // for messages; the id decides
	ID      uint64
	Length  int64 // bytes
	MTimeMs int64
}

// Reader reads files.
type Reader interface {
	// Read calls use once with the bytes of a file and gives its error, if any. The
	// file must be the one that is named, closed, before and after: otherwise ErrChanged
	// (ErrNotFound if it is gone), also after use returned nil. A file that can be read
	// only in part makes the reads of use fail; it never looks shorter than it is.
	// ErrUnreadable says that this reader cannot read such a file at all; use is not
	// called then. The bytes are valid during the call only.
	Read(ctx context.Context, file FileID, use func(io.Reader) error) error
}

// Mover changes a cluster, in two ways only.
type Mover interface {
	// Mkdirs makes a directory and what is missing above it, each with the permission.
	// One that exists stays as it is; a file there is ErrExists, a file above
	// ErrNotDirectory. Sent twice it does no harm, so lost answers are
	// asked for again; ErrUnknown when that fails as well, for whatever reason.
	Mkdirs(ctx context.Context, path string, permission uint16) error

	// NewCall prepares a rename: it looks which NameNode is ACTIVE, by a read on the very
	// connection, and gives ids that no other call has or will have. Note it down
	// before it is used.
	NewCall(ctx context.Context) (Call, error)

	// Rename moves one inode, as call. A target that exists is never overwritten and never
	// entered: ErrExists. Directly before, the id is looked up, as is its parent: another
	// answer than the Move says is ErrChanged, or ErrNotFound, and nothing is moved.
	// An id is a look-up and no handle: below a snapshottable directory, see afterwards
	// what stands at the target. A nil error says that the NameNode moved something; it
	// goes on to a new ACTIVE one, with the same ids, if the first is none any more.
	Rename(ctx context.Context, move Move, call Call) error

	// Resend sends a rename once more, the very bytes, marked as a repetition, as its own
	// or an earlier process sent it. A NameNode that still knows the call (10 minutes)
	// gives the first answer and does nothing; one that does not carries it out now, or
	// refuses. There is no look before. Success does not say who moved what: look. An error,
	// ErrUnavailable too, is about this sending alone: what an earlier one did, or may still
	// do, is as unknown as before.
	Resend(ctx context.Context, move Move, call Call) error
}

// Move says which inode goes where.
type Move struct {
	ID, ParentID uint64
	From         string // where it is; goes into the audit log, in the caller context
	To           string // where it shall be, a path without link, `.`, `..`
	Trash        bool   // has the NameNode check the permissions of the whole subtree
	Context      string // the run and the item, for the audit log
}

// Call names one call of one client for ever. The NameNode remembers it for ten
// minutes by both numbers alone: one that is used twice for different things answers
// success and does nothing.
type Call struct {
	ClientID [16]byte
	CallID   int32
	NameNode NameNode // to which it was going to be sent
}
