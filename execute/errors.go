package execute

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What a call can end with, beside the errors of contexts.
var (
	// ErrNotFound: there is no such inode or path now, or the id is another's.
	ErrNotFound = errors.New("not found")
	// ErrExists: the target of a rename is taken.
	ErrExists = errors.New("already exists")
	// ErrNoParent: the directory into which something should be moved does not exist.
	ErrNoParent = errors.New("parent directory not found")
	// ErrNotDirectory: a component above is a file.
	ErrNotDirectory = errors.New("not a directory")
	// ErrPermission: the user may not do that.
	ErrPermission = errors.New("permission denied")
	// ErrSafeMode: the NameNode takes no changes now.
	ErrSafeMode = errors.New("safe mode")
	// ErrQuota: a namespace, space or storage type quota would be exceeded.
	ErrQuota = errors.New("quota exceeded")
	// ErrSnapshot: snapshots forbid it.
	ErrSnapshot = errors.New("forbidden by snapshots")
	// ErrSymlink: a component of the path is a symbolic link. None is followed.
	ErrSymlink = errors.New("symbolic link in the path")
	// ErrUnsupported: the NameNode does not know the call, or has it switched off.
	ErrUnsupported = errors.New("not supported by the NameNode")
	// ErrInvalid: a path that no HDFS has or that cannot be asked for: not absolute, with
	// `.`, `..` or empty components, not UTF-8 (ask by id), or a name that is too long.
	ErrInvalid = errors.New("invalid path")
	// ErrBudget: a subtree is larger than what may be counted.
	ErrBudget = errors.New("more inodes than may be counted")

	// ErrUnavailable: no ACTIVE NameNode answered in time. This call changed nothing.
	ErrUnavailable = errors.New("no active NameNode")
	// ErrUnknown: a change was asked for and the answer is not known. Send it again
	// ([Mover.Resend]), and then look.
	ErrUnknown = errors.New("outcome unknown")

	// ErrChanged: a file is not the one that was to be read, or did not stay so.
	ErrChanged = errors.New("file changed")
	// ErrUnreadable: this reader cannot read such a file; another may.
	ErrUnreadable = errors.New("file cannot be read")
)

// RemoteError is what a NameNode answered in place of a result. It did nothing.
type RemoteError struct {
	Call     string // rename2
	NameNode string // host:port
	Class    string // org.apache.hadoop.security.AccessControlException
	Message  string // without the stack trace
	Kind     error  // one of the Err… values; nil if none fits
}

// Error gives call, NameNode, class and message, on one line and without control characters
// whatever the NameNode sent, and whatever names its message holds.
func (e *RemoteError) Error() string {
	return fmt.Sprintf("%s: NameNode %s: %s: %s", e.Call, e.NameNode, printable(e.Class), printable(e.Message))
}

// printable quotes a text that would not be shown as it is.
func printable(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) || !utf8.ValidString(s) {
		return strconv.Quote(s)
	}
	return s
}

// Unwrap gives the kind.
func (e *RemoteError) Unwrap() error { return e.Kind }

// ReplacedError is an [ErrNotFound]: an inode id leads to another inode, which took
// the path of one that only a snapshot holds now.
type ReplacedError struct{ Asked, Got uint64 }

// Error names both ids.
func (e *ReplacedError) Error() string {
	return fmt.Sprintf("inode %d is gone; its path now leads to inode %d", e.Asked, e.Got)
}

// Is makes it an ErrNotFound.
func (e *ReplacedError) Is(target error) bool { return target == ErrNotFound }
