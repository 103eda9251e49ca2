// Package hdfstest holds implementations of the ports of [execute] to what these
// promise. [Run] is the suite; a [Cluster] is what it runs on: the one in memory
// and real NameNodes.
package hdfstest

import (
	"testing"

	"fsweep/execute"
)

// Ports are those of one user. Reader is nil where the cluster has no DataNodes.
type Ports struct {
	execute.Inspector
	execute.Reader
	execute.Mover
}

// Cluster is an HDFS that a test may do anything to.
type Cluster interface {
	// As gives ports that act as a user. Each call is a client of its own, with a client
	// id of its own. The user "root" of [Admin] is the superuser.
	As(t testing.TB, user string) Ports
	// Survey gives the port of a user for what only a person asks.
	Survey(t testing.TB, user string) execute.Surveyor
	// Admin does what no port can, as the superuser.
	Admin() Admin
	// Can tells what the cluster is able to do; the suite leaves out what it is not.
	Can() Abilities
}

// Abilities are what differs between clusters by their nature, not by mistake.
type Abilities struct {
	Version         string // of Hadoop, "3.4.2"
	HA              bool   // two NameNodes: Admin.Failover, Standby
	DataNodes       bool   // files have bytes
	ErasureCoding   bool   // Hadoop 3
	EncryptionZones bool   // a key provider
	SnapshotTrash   bool   // snapshottable directories have a trash
}

// Admin changes the cluster as its superuser. A method ends the test if it fails. What
// is missing above a new inode is made, as root's, with 0755.
type Admin interface {
	Mkdir(t testing.TB, path string, owner string, permission uint16) // one that exists gets owner and permission
	Put(t testing.TB, path string, owner string, content []byte)      // a closed file
	PutErasureCoded(t testing.TB, path string, content []byte)        // RS-3-2-1024k or XOR-2-1-1024k; needs DataNodes for content
	Open(t testing.TB, path string)                                   // a file that stays under construction
	Append(t testing.TB, path string, content []byte)
	Delete(t testing.TB, path string) // recursively, not to the trash
	Rename(t testing.TB, from, to string)
	Symlink(t testing.TB, path, target string)
	Chmod(t testing.TB, path string, permission uint16)
	Chown(t testing.TB, path, owner, group string)
	SetTimes(t testing.TB, path string, mtimeMs, atimeMs int64)
	SetXAttr(t testing.TB, path, name string, value []byte)     // name with its namespace: user.fsweep.keep
	SetACL(t testing.TB, path string)                           // one more entry than owner, group, others
	SetQuota(t testing.TB, path string, namespace, space int64) // inodes, bytes on disk; -1: none
	EncryptionZone(t testing.TB, path string)                   // of an empty directory
	AllowSnapshots(t testing.TB, path string)
	Snapshot(t testing.TB, path, name string)
	DeleteSnapshot(t testing.TB, path, name string)
	Protect(t testing.TB, paths ...string) // fs.protected.directories from now on
	SafeMode(t testing.TB, on bool)
	Failover(t testing.TB)                           // the other NameNode becomes ACTIVE
	AllStandby(t testing.TB)                         // none is ACTIVE, until Failover
	RenameCurrent(t testing.TB, trash string) string // as the emptier does with TRASH/Current; gives the new path
}
