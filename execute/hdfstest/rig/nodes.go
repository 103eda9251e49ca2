package rig

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Active is the NameNode that was made ACTIVE last.
func (c *Cluster) Active() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.active
}

// Failover makes the other one of the first two NameNodes ACTIVE. One that is
// frozen is killed first, as a fencing method would, since it would go on
// writing when it thaws.
func (c *Cluster) Failover(t testing.TB) {
	t.Helper()
	if err := c.TryFailover(); err != nil {
		t.Fatal(err)
	}
}

// TryFailover is Failover for goroutines that must not end a test.
func (c *Cluster) TryFailover() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ha() {
		return fmt.Errorf("rig: failover of %d NameNode", len(c.nodes))
	}
	old, next := c.nodes[c.active], c.nodes[1-c.active]
	switch {
	case old.frozen:
		old.proc.kill()
		old.frozen, old.stopped = false, true
	case !old.stopped:
		if _, err := old.proc.command("standby"); err != nil {
			return fmt.Errorf("rig: %s: standby: %w", old.id, err)
		}
	}
	if _, err := next.proc.command("active"); err != nil {
		return fmt.Errorf("rig: %s: active: %w", next.id, err)
	}
	c.active = 1 - c.active
	return nil
}

// Freeze stops the process of a NameNode with SIGSTOP, and waits until it has:
// connections stay, answers do not come.
func (c *Cluster) Freeze(t testing.TB, i int) {
	t.Helper()
	c.signal(t, i, syscall.SIGSTOP)
	p := c.nodes[i].proc
	for range 1000 {
		if p.stopped() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("rig: %s does not stop", p.name)
}

// Thaw lets it go on.
func (c *Cluster) Thaw(t testing.TB, i int) {
	t.Helper()
	c.signal(t, i, syscall.SIGCONT)
}

func (c *Cluster) signal(t testing.TB, i int, s syscall.Signal) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.nodes[i].proc.signal(s); err != nil {
		t.Fatalf("rig: %v: %v", s, err)
	}
	c.nodes[i].frozen = s == syscall.SIGSTOP
}

// Kill kills the process of a NameNode, and with it the DataNodes that it may hold.
func (c *Cluster) Kill(t testing.TB, i int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[i]
	n.proc.kill()
	n.frozen, n.stopped = false, true
}

// Restart starts a NameNode that was killed: on the same ports, from what it had
// written. Of several NameNodes it is a standby then; a single one is ACTIVE.
func (c *Cluster) Restart(t testing.TB, i int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[i]
	if !n.proc.ended() {
		t.Fatalf("rig: %s runs", n.id)
	}
	c.restart(t, n)
}

func (c *Cluster) restart(t testing.TB, n *node) {
	t.Helper()
	c.launch(t, n)
	n.proc.awaitReady(t)
	n.frozen, n.stopped = false, false
}

// Mend undoes what a test that failed may have left: NameNodes that are frozen or
// killed, none that is ACTIVE, faults of proxies.
func (c *Cluster) Mend(t testing.TB) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, n := range c.nodes {
		n.proxy.Handle(nil)
		if n.frozen {
			n.frozen = n.proc.signal(syscall.SIGCONT) != nil // then it has ended
		}
		if n.proc.ended() {
			c.restart(t, n)
			if i == 2 {
				n.proc.must(t, "observer")
			}
		}
	}
	if c.ha() {
		c.nodes[c.active].proc.must(t, "active")
	}
}

// StopDataNode ends one; it is not started again.
func (c *Cluster) StopDataNode(t testing.TB, i int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.data
	if p == nil {
		p = c.nodes[0].proc
	}
	p.must(t, "stop-datanode", itoa(i))
}

// SaveNamespace saves it and gives the newest image, which lies beside its .md5.
func (c *Cluster) SaveNamespace(t testing.TB) string {
	t.Helper()
	c.Admin().(*admin).do(t, "save")
	c.mu.Lock()
	defer c.mu.Unlock()
	sums, err := filepath.Glob(filepath.Join(c.dir, "name-"+c.nodes[c.active].id, "current", "fsimage_*.md5"))
	if err != nil || len(sums) == 0 {
		t.Fatalf("rig: no image: %v", err)
	}
	return strings.TrimSuffix(sums[len(sums)-1], ".md5")
}

// Stat is what the administrator sees: id, kind, length, mtime, atime, owner,
// group and permission (octal), with blanks between; nothing if there is
// nothing. No link is followed.
func (c *Cluster) Stat(t testing.TB, path string) string {
	t.Helper()
	return c.Admin().(*admin).do(t, "stat", path)
}

// TrashRoot is what Hadoop's own client takes for the trash of a path, for a user.
func (c *Cluster) TrashRoot(t testing.TB, path, user string) string {
	t.Helper()
	return c.Admin().(*admin).do(t, "trash-root", path, user)
}

// BlockFiles are the files of bytes, without their checksums, of all DataNodes.
func (c *Cluster) BlockFiles(t testing.TB) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(c.dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && filepath.Ext(path) == "" && len(e.Name()) > 4 && e.Name()[:4] == "blk_" {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatalf("rig: %v", err)
	}
	return found
}
