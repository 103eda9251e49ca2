package hdfs

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// Classes and messages as NameNodes of 2.10 and 3.4 give them.
func TestKindsOfErrors(t *testing.T) {
	t.Parallel()
	const (
		fs   = "org.apache.hadoop.fs."
		hdfs = "org.apache.hadoop.hdfs."
	)
	for _, tc := range []struct {
		call, class, message string
		want                 error
	}{
		{"rename2", fs + "FileAlreadyExistsException", "rename destination /a/b already exists", execute.ErrExists},
		{"rename2", fs + "FileAlreadyExistsException", "The source /a/b and destination /a/b are the same", execute.ErrExists},
		{"rename2", "java.io.IOException", "Source /d/f and destination /d/q must both be directories", execute.ErrExists},
		{"rename2", "java.io.IOException", "Rename destination /d/q/f is a directory or file under source /d", nil},
		{"rename2", "java.io.IOException", "/zone/a can't be moved from an encryption zone.", nil},
		{"rename2", "java.io.FileNotFoundException", "rename source /a/b is not found.", execute.ErrNotFound},
		{"rename2", "java.io.FileNotFoundException", "rename destination parent /nope/x not found.", execute.ErrNoParent},
		{"rename2", "java.io.FileNotFoundException", "File for given inode path does not exist: /.reserved/.inodes/99999999", execute.ErrNotFound},
		{"rename2", "java.io.FileNotFoundException", "rename source /x/rename destination parent y is not found.", execute.ErrNotFound},
		{"getListing", "java.io.FileNotFoundException", "rename destination parent", execute.ErrNotFound},
		{"rename2", fs + "ParentNotDirectoryException", "/d/z (is not a directory)", execute.ErrNotDirectory},
		{"getFileLinkInfo", "org.apache.hadoop.security.AccessControlException", "/d/f (is not a directory)", execute.ErrNotDirectory},
		{"getFileLinkInfo", "org.apache.hadoop.security.AccessControlException", `Permission denied: user=joe, access=EXECUTE, inode="/d/q":root:supergroup:drwx------`, execute.ErrPermission},
		{"rename2", "org.apache.hadoop.security.AccessControlException", "Cannot delete/rename non-empty protected directory /prot", execute.ErrPermission},
		{"rename2", hdfs + "server.namenode.SafeModeException", "Cannot rename /a. Name node is in safe mode.", execute.ErrSafeMode},
		{"rename2", "org.apache.hadoop.ipc.RetriableException", "org.apache.hadoop.hdfs.server.namenode.SafeModeException: Cannot rename /a", execute.ErrSafeMode},
		{"rename2", "org.apache.hadoop.ipc.RetriableException", "NameNode still not started", execute.ErrUnavailable},
		{"msync", "org.apache.hadoop.ipc.StandbyException", "Operation category WRITE is not supported in state standby.", execute.ErrUnavailable},
		{"msync", "org.apache.hadoop.ipc.ObserverRetryOnActiveException", "Operation category WRITE", execute.ErrUnavailable},
		{"rename2", hdfs + "protocol.NSQuotaExceededException", "The NameSpace quota (directories and files) of directory /user/a is exceeded: quota=2 file count=3", execute.ErrQuota},
		{"rename2", hdfs + "protocol.DSQuotaExceededException", "x", execute.ErrQuota},
		{"rename2", hdfs + "protocol.QuotaByStorageTypeExceededException", "x", execute.ErrQuota},
		{"rename2", hdfs + "protocol.SnapshotException", "The directory /s cannot be deleted since /s is snapshottable and already has snapshots", execute.ErrSnapshot},
		{"rename2", hdfs + "protocol.SnapshotAccessControlException", "Modification on a read-only snapshot is disallowed", execute.ErrSnapshot},
		{"getFileLinkInfo", hdfs + "protocol.UnresolvedPathException", "/d/f/x", execute.ErrSymlink},
		{"getXAttrs", "java.io.IOException", "The XAttr operation has been rejected.  Support for XAttrs has been disabled by setting dfs.namenode.xattrs.enabled to false.", execute.ErrUnsupported},
		{"msync", "org.apache.hadoop.ipc.RpcNoSuchMethodException", "Unknown method msync called", execute.ErrUnsupported},
		{"rename2", fs + "InvalidPathException", "Invalid path name Invalid file name: /d/a:b", execute.ErrInvalid},
		{"rename2", hdfs + "protocol.FSLimitException$PathComponentTooLongException", "The maximum path component name limit of x", execute.ErrInvalid},
		{"rename2", "java.lang.NullPointerException", "", nil},
		{"rename2", "java.io.IOException", "", nil},
	} {
		for _, sent := range []string{
			tc.message + "\n\tat org.apache.hadoop.hdfs.server.namenode.FSDirectory.x(FSDirectory.java:1)\n\tat java.lang.Thread.run(Thread.java:840)\n",
			tc.class + ": " + tc.message + "\n\tat x",
			tc.message,
		} {
			if tc.message == "" {
				sent = tc.class + "\n\tat x"
			}
			got := remoteError(tc.call, execute.NameNode{Address: "nn:8020"}, &hadoop.RpcResponseHeaderProto{
				ExceptionClassName: proto.String(tc.class), ErrorMsg: proto.String(sent),
			})
			if !errors.Is(got.Kind, tc.want) || (tc.want == nil) != (got.Kind == nil) {
				t.Errorf("%s: %s: %s: kind %v, want %v", tc.call, tc.class, tc.message, got.Kind, tc.want)
			}
			if got.Message != tc.message || got.Class != tc.class || got.Call != tc.call || got.NameNode != "nn:8020" {
				t.Errorf("%#v", got)
			}
		}
	}
}

// Names in messages make no line of a log, and nothing that a terminal obeys.
func TestMessagesAreOneLine(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"Permission denied: inode=\"/ä\"": `x: NameNode nn:8020: c: Permission denied: inode="/ä"`,
		"a\nERROR \x1b[2J\u202e":          `x: NameNode nn:8020: c: "a\nERROR \x1b[2J\u202e"`,
	} {
		got := remoteError("x", execute.NameNode{Address: "nn:8020"}, &hadoop.RpcResponseHeaderProto{ExceptionClassName: proto.String("c"), ErrorMsg: &message})
		if got.Message != message || got.Error() != want {
			t.Errorf("%q, %s; want %s", got.Message, got, want)
		}
	}
}

func TestLongMessagesAreCut(t *testing.T) {
	t.Parallel()
	got := remoteError("x", execute.NameNode{}, &hadoop.RpcResponseHeaderProto{
		ExceptionClassName: proto.String(strings.Repeat("c", 1<<20)), ErrorMsg: proto.String(strings.Repeat("ä\xff", 1<<20)),
	})
	if len(got.Message) > 4*maxMessage || len(got.Class) > 2*maxClass {
		t.Errorf("%d and %d bytes", len(got.Message), len(got.Class))
	}
}
