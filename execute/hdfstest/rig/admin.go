package rig

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// admin is the superuser, on the NameNode that is ACTIVE.
type admin struct{ c *Cluster }

func (a *admin) do(t testing.TB, words ...string) string {
	t.Helper()
	answer, err := a.try(words...)
	if err != nil {
		t.Fatalf("rig: %.200q: %v", words, err)
	}
	return answer
}

// try is do for what may be refused.
func (a *admin) try(words ...string) (string, error) {
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	n := a.c.nodes[a.c.active]
	if n.frozen || n.stopped {
		return "", fmt.Errorf("%s, which was ACTIVE, is frozen or killed", n.id)
	}
	return n.proc.command(words...)
}

func octal(permission uint16) string { return strconv.FormatUint(uint64(permission), 8) }

func bytesArg(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func (a *admin) Mkdir(t testing.TB, path, owner string, permission uint16) {
	t.Helper()
	a.do(t, "mkdir", path, owner, octal(permission))
}

func (a *admin) Put(t testing.TB, path, owner string, content []byte) {
	t.Helper()
	a.do(t, "put", path, owner, bytesArg(content))
}

func (a *admin) PutErasureCoded(t testing.TB, path string, content []byte) {
	t.Helper()
	policy := "XOR-2-1-1024k"
	if a.c.opts.DataNodes >= 5 {
		policy = "RS-3-2-1024k"
	}
	a.do(t, "put-erasure-coded", path, bytesArg(content), policy)
}

func (a *admin) Open(t testing.TB, path string) {
	t.Helper()
	var content []byte
	if a.c.opts.DataNodes > 0 {
		content = []byte("x")
	}
	a.do(t, "open", path, bytesArg(content))
}

func (a *admin) Append(t testing.TB, path string, content []byte) {
	t.Helper()
	a.do(t, "append", path, bytesArg(content))
}

func (a *admin) Delete(t testing.TB, path string) {
	t.Helper()
	a.do(t, "delete", path)
}

func (a *admin) Rename(t testing.TB, from, to string) {
	t.Helper()
	a.do(t, "rename", from, to)
}

func (a *admin) Symlink(t testing.TB, path, target string) {
	t.Helper()
	a.do(t, "symlink", path, target)
}

func (a *admin) Chmod(t testing.TB, path string, permission uint16) {
	t.Helper()
	a.do(t, "chmod", path, octal(permission))
}

func (a *admin) Chown(t testing.TB, path, owner, group string) {
	t.Helper()
	a.do(t, "chown", path, owner, group)
}

func (a *admin) SetTimes(t testing.TB, path string, mtimeMs, atimeMs int64) {
	t.Helper()
	a.do(t, "times", path, strconv.FormatInt(mtimeMs, 10), strconv.FormatInt(atimeMs, 10))
}

func (a *admin) SetXAttr(t testing.TB, path, name string, value []byte) {
	t.Helper()
	a.do(t, "xattr", path, name, bytesArg(value))
}

func (a *admin) SetACL(t testing.TB, path string) {
	t.Helper()
	a.do(t, "acl", path, "user:somebody:r-x")
}

func (a *admin) SetQuota(t testing.TB, path string, namespace, space int64) {
	t.Helper()
	limit := func(n int64) string {
		if n <= 0 {
			n = -1 // none, to a NameNode
		}
		return strconv.FormatInt(n, 10)
	}
	a.do(t, "quota", path, limit(namespace), limit(space))
}

func (a *admin) EncryptionZone(t testing.TB, path string) {
	t.Helper()
	a.do(t, "zone", path)
}

func (a *admin) AllowSnapshots(t testing.TB, path string) {
	t.Helper()
	a.do(t, "allow-snapshots", path)
}

func (a *admin) Snapshot(t testing.TB, path, name string) {
	t.Helper()
	a.do(t, "snapshot", path, name)
}

func (a *admin) DeleteSnapshot(t testing.TB, path, name string) {
	t.Helper()
	a.do(t, "delete-snapshot", path, name)
}

// Protect tells all NameNodes, because each has its own list.
func (a *admin) Protect(t testing.TB, paths ...string) {
	t.Helper()
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	for _, n := range a.c.nodes {
		if !n.frozen && !n.stopped {
			n.proc.must(t, "reconfigure", "fs.protected.directories", strings.Join(paths, ","))
		}
	}
}

func (a *admin) SafeMode(t testing.TB, on bool) {
	t.Helper()
	word := "leave"
	if on {
		word = "enter"
	}
	a.do(t, "safe-mode", word)
}

func (a *admin) Failover(t testing.TB) {
	t.Helper()
	a.c.Failover(t)
}

func (a *admin) AllStandby(t testing.TB) {
	t.Helper()
	a.do(t, "standby")
}

// RenameCurrent names it as the emptier does, a second one within a second too.
func (a *admin) RenameCurrent(t testing.TB, trash string) string {
	t.Helper()
	name := trash + "/" + time.Now().UTC().Format("060102150405")
	to := name
	for i := 1; ; i++ {
		_, err := a.try("rename", trash+"/Current", to)
		if err == nil {
			return to
		}
		if i == 100 || !strings.Contains(err.Error(), "FileAlreadyExistsException") {
			t.Fatalf("rig: rename %s/Current: %v", trash, err)
		}
		to = fmt.Sprintf("%s-%d", name, i)
	}
}
