// Package execute re-checks what a plan wants to move, on the live cluster, and
// moves what still is as the plan says. It opens no connection itself: all it
// knows of a cluster comes through three ports.
//
//   - [Inspector] looks and never changes anything.
//   - [Reader] reads whole files, or says that it cannot.
//   - [Mover] makes directories and renames one inode. A dry run has none.
//
// execute/hdfs is the implementation that talks to NameNodes; execute/fakehdfs
// is one in memory that fails wherever a test wants; execute/hdfstest holds both
// to what is written here.
//
// # Identity
//
// What is moved is an inode, named by its id. A NameNode answers
// `/.reserved/.inodes/<id>` by looking up the path that it has recorded for the
// inode. While a snapshot holds an inode that was deleted, that path can lead
// to a new object with another id. So every answer to a question by id is compared
// with the id that was asked for, and an inode is gone ([ErrNotFound]) when the
// answer is a FileNotFoundException, nothing, another id, or the
// IllegalArgumentException that NameNodes give for one that only a snapshot holds.
//
// # Errors
//
// What the NameNode refused is a [*RemoteError] with its class and message; it
// matches one of the Err… values of this package by errors.Is, if there is one for
// the class. A call that changes something and whose outcome is not known gives
// [ErrUnknown]: it may have happened, or may still happen. Everything else that
// went wrong on the way certainly changed nothing: [ErrUnavailable], or the error
// of the context.
//
// # Goroutines
//
// Ports may be used by many goroutines at once. Every call returns soon after its
// context is done. Returned values are the caller's.
package execute
