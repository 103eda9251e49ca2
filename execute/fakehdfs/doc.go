// Package fakehdfs is an HDFS in memory, for tests of what uses the ports of
// [fsweep/execute]. It holds what execute/hdfstest asks of every cluster, as real
// NameNodes do, and it fails wherever a test wants.
//
// # Cluster
//
// [New] makes an empty one; its methods prepare it as the superuser ([FS.Mkdir],
// [FS.Put], [FS.Snapshot], …); [FS.Client] gives the ports of a user. It has a clock of
// its own, which each operation moves by a millisecond and a test by [FS.Advance]. It
// starts no goroutine and never sleeps: a slow answer moves the clock.
//
// [FS.Clone] copies a prepared cluster at the cost of a few words an inode, for tests
// that need thousands; [FS.Dump] makes two of them comparable.
//
// # Operations
//
// An operation is one message to a NameNode, or the read of a file. All are counted from
// 1 and recorded ([FS.Log], [FS.Mutating]). [FS.Plan] decides about each what happens to
// it; [FS.CrashAfter] and [FS.CrashBefore] end the process that made the clients. The
// example shows how a test goes through all of them.
//
// A look whose answer is lost is [execute.ErrUnavailable] at once, although the real client
// asks again for a while: that it gives up is what a test wants to see.
//
// # What it leaves out
//
// Blocks, leases, quotas by storage type, effects of access control lists, lists inside of
// snapshots, federation. What snapshots hold is counted once for each directory, where real
// NameNodes may count it twice after renames within it. Contents of files are kept in memory.
package fakehdfs
