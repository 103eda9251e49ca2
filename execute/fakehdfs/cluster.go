package fakehdfs

import (
	"testing"

	"fsweep/execute/hdfstest"
)

// Cluster gives the FS as the conformance suite wants it.
func (f *FS) Cluster() hdfstest.Cluster { return cluster{f} }

type cluster struct{ fs *FS }

func (c cluster) As(_ testing.TB, user string) hdfstest.Ports {
	p := c.fs.Client(user)
	return hdfstest.Ports{Inspector: p, Reader: p, Mover: p}
}

func (c cluster) Admin() hdfstest.Admin { return admin(c) }

func (c cluster) Can() hdfstest.Abilities {
	c.fs.mu.Lock()
	defer c.fs.mu.Unlock()
	o := c.fs.state.opts
	return hdfstest.Abilities{
		Version: o.Version, HA: o.HA, DataNodes: !o.NoContent, ErasureCoding: !o.before(3, 0), EncryptionZones: true,
		SnapshotTrash: c.fs.state.snapshotTrash(),
	}
}

// admin ends the test where the FS panics.
type admin struct{ fs *FS }

func (a admin) do(t testing.TB, change func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if p := recover(); p != nil {
			t.Fatal(p)
		}
	}()
	change()
}

func (a admin) Mkdir(t testing.TB, path, owner string, permission uint16) {
	t.Helper()
	a.do(t, func() { a.fs.Mkdir(path, owner, permission) })
}

func (a admin) Put(t testing.TB, path, owner string, content []byte) {
	t.Helper()
	a.do(t, func() { a.fs.Put(path, owner, content) })
}

func (a admin) PutErasureCoded(t testing.TB, path string, content []byte) {
	t.Helper()
	a.do(t, func() { a.fs.PutErasureCoded(path, content) })
}

func (a admin) Open(t testing.TB, path string) {
	t.Helper()
	a.do(t, func() { a.fs.Open(path) })
}

func (a admin) Append(t testing.TB, path string, content []byte) {
	t.Helper()
	a.do(t, func() { a.fs.Append(path, content) })
}

func (a admin) Delete(t testing.TB, path string) {
	t.Helper()
	a.do(t, func() { a.fs.Delete(path) })
}

func (a admin) Rename(t testing.TB, from, to string) {
	t.Helper()
	a.do(t, func() { a.fs.Rename(from, to) })
}

func (a admin) Symlink(t testing.TB, path, target string) {
	t.Helper()
	a.do(t, func() { a.fs.Symlink(path, target) })
}

func (a admin) Chmod(t testing.TB, path string, permission uint16) {
	t.Helper()
	a.do(t, func() { a.fs.Chmod(path, permission) })
}

func (a admin) Chown(t testing.TB, path, owner, group string) {
	t.Helper()
	a.do(t, func() { a.fs.Chown(path, owner, group) })
}

func (a admin) SetTimes(t testing.TB, path string, mtimeMs, atimeMs int64) {
	t.Helper()
	a.do(t, func() { a.fs.SetTimes(path, mtimeMs, atimeMs) })
}

func (a admin) SetXAttr(t testing.TB, path, name string, value []byte) {
	t.Helper()
	a.do(t, func() { a.fs.SetXAttr(path, name, value) })
}

func (a admin) SetACL(t testing.TB, path string) {
	t.Helper()
	a.do(t, func() { a.fs.SetACL(path) })
}

func (a admin) SetQuota(t testing.TB, path string, namespace, space int64) {
	t.Helper()
	a.do(t, func() { a.fs.SetQuota(path, namespace, space) })
}

func (a admin) EncryptionZone(t testing.TB, path string) {
	t.Helper()
	a.do(t, func() { a.fs.EncryptionZone(path) })
}

func (a admin) AllowSnapshots(t testing.TB, path string) {
	t.Helper()
	a.do(t, func() { a.fs.AllowSnapshots(path) })
}

func (a admin) Snapshot(t testing.TB, path, name string) {
	t.Helper()
	a.do(t, func() { a.fs.Snapshot(path, name) })
}

func (a admin) DeleteSnapshot(t testing.TB, path, name string) {
	t.Helper()
	a.do(t, func() { a.fs.DeleteSnapshot(path, name) })
}

func (a admin) Protect(t testing.TB, paths ...string) {
	t.Helper()
	a.do(t, func() { a.fs.Protect(paths...) })
}

func (a admin) SafeMode(t testing.TB, on bool) {
	t.Helper()
	a.do(t, func() { a.fs.SetSafeMode(on) })
}

func (a admin) Failover(t testing.TB) {
	t.Helper()
	a.do(t, a.fs.Failover)
}

func (a admin) AllStandby(t testing.TB) {
	t.Helper()
	a.do(t, a.fs.AllStandby)
}

func (a admin) RenameCurrent(t testing.TB, trash string) string {
	t.Helper()
	var to string
	a.do(t, func() {
		if to = a.fs.RenameCurrent(trash); to == "" {
			panic("fakehdfs: there is no " + trash + "/Current")
		}
	})
	return to
}
