package hdfs

import (
	"errors"
	"strings"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// errRefused: something that this package does not do.
var errRefused = errors.New("refused")

// What is kept of a NameNode's message, and of the name of a class, in bytes.
const (
	maxMessage = 8 << 10
	maxClass   = 1 << 10
)

// Classes that say: not this NameNode, or not now. They are told by name, whatever the
// status of the answer. None of them has changed anything.
const (
	standbyClass   = "org.apache.hadoop.ipc.StandbyException"
	observerClass  = "org.apache.hadoop.ipc.ObserverRetryOnActiveException"
	retriableClass = "org.apache.hadoop.ipc.RetriableException"
)

const (
	accessClass   = "org.apache.hadoop.security.AccessControlException"
	ioClass       = "java.io.IOException"
	notFoundClass = "java.io.FileNotFoundException"
	argumentClass = "java.lang.IllegalArgumentException"
	noMethodClass = "org.apache.hadoop.ipc.RpcNoSuchMethodException"
	unsupported   = "java.lang.UnsupportedOperationException"
	hdfsProtocol  = "org.apache.hadoop.hdfs.protocol."
)

// kinds maps classes of exceptions to what they mean for an executor.
var kinds = map[string]error{
	standbyClass:   execute.ErrUnavailable,
	observerClass:  execute.ErrUnavailable,
	retriableClass: execute.ErrUnavailable,

	accessClass: execute.ErrPermission,
	"org.apache.hadoop.fs.permission.AccessControlException":      execute.ErrPermission,
	"org.apache.hadoop.security.authorize.AuthorizationException": execute.ErrPermission,
	notFoundClass: execute.ErrNotFound,
	"org.apache.hadoop.fs.FileAlreadyExistsException":          execute.ErrExists,
	"org.apache.hadoop.fs.ParentNotDirectoryException":         execute.ErrNotDirectory,
	"org.apache.hadoop.fs.PathIsNotDirectoryException":         execute.ErrNotDirectory,
	"org.apache.hadoop.hdfs.server.namenode.SafeModeException": execute.ErrSafeMode,
	hdfsProtocol + "QuotaExceededException":                    execute.ErrQuota,
	hdfsProtocol + "NSQuotaExceededException":                  execute.ErrQuota,
	hdfsProtocol + "DSQuotaExceededException":                  execute.ErrQuota,
	hdfsProtocol + "QuotaByStorageTypeExceededException":       execute.ErrQuota,
	hdfsProtocol + "SnapshotException":                         execute.ErrSnapshot,
	hdfsProtocol + "SnapshotAccessControlException":            execute.ErrSnapshot,
	hdfsProtocol + "UnresolvedPathException":                   execute.ErrSymlink,
	"org.apache.hadoop.fs.UnresolvedLinkException":             execute.ErrSymlink,
	noMethodClass: execute.ErrUnsupported,
	"org.apache.hadoop.ipc.RpcNoSuchProtocolException": execute.ErrUnsupported,
	unsupported: execute.ErrUnsupported,
	"org.apache.hadoop.fs.InvalidPathException":                          execute.ErrInvalid,
	hdfsProtocol + "FSLimitException$PathComponentTooLongException":      execute.ErrInvalid,
	hdfsProtocol + "FSLimitException$MaxDirectoryItemsExceededException": execute.ErrQuota,
}

// remoteError gives what a failed call was answered with.
func remoteError(call string, nn execute.NameNode, h *hadoop.RpcResponseHeaderProto) *execute.RemoteError {
	class := h.GetExceptionClassName()
	if len(class) > maxClass { // no class of Java has such a name
		class = class[:maxClass] + "…"
	}
	e := &execute.RemoteError{Call: call, NameNode: nn.Address, Class: class, Message: firstLines(h)}
	e.Kind = kindOf(call, e.Class, e.Message)
	return e
}

// kindOf classifies an exception.
func kindOf(call, class, message string) error {
	switch {
	case class == notFoundClass && call == "rename2" && strings.HasPrefix(message, "rename destination parent "):
		return execute.ErrNoParent
	case class == ioClass && call == "rename2" && strings.HasPrefix(message, "Source ") && strings.HasSuffix(message, " must both be directories"):
		return execute.ErrExists // a file was to be moved to where a directory stands, or the other way round
	case class == accessClass && strings.HasSuffix(message, " (is not a directory)"):
		return execute.ErrNotDirectory // a path below a file; the superuser is told that there is nothing
	case class == retriableClass && strings.HasPrefix(message, "org.apache.hadoop.hdfs.server.namenode.SafeModeException: "):
		return execute.ErrSafeMode
	case class == ioClass && strings.HasPrefix(message, "The XAttr operation has been rejected. "):
		return execute.ErrUnsupported
	}
	return kinds[class]
}

// firstLines gives the message of an exception without its stack trace.
func firstLines(h *hadoop.RpcResponseHeaderProto) string {
	text := h.GetErrorMsg()
	if i := strings.Index(text, "\n\tat "); i >= 0 {
		text = text[:i]
	}
	text = strings.TrimPrefix(text, h.GetExceptionClassName()+": ")
	if text == h.GetExceptionClassName() {
		text = ""
	}
	if len(text) > maxMessage {
		text = text[:maxMessage] + "…"
	}
	return strings.ToValidUTF8(strings.TrimRight(text, "\n"), "\uFFFD")
}

// elsewhere tells whether an answer says that another NameNode, or a later time, is right.
func elsewhere(err error) bool {
	var remote *execute.RemoteError
	if !errors.As(err, &remote) {
		return false
	}
	return remote.Class == standbyClass || remote.Class == observerClass || remote.Class == retriableClass
}

// hasClass tells whether err is an exception of that class.
func hasClass(err error, class string) bool {
	var remote *execute.RemoteError
	return errors.As(err, &remote) && remote.Class == class
}
