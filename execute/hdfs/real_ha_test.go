package hdfs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"fsweep/execute"
	"fsweep/execute/hdfs"
	"fsweep/execute/hdfstest"
	"fsweep/execute/hdfstest/rig"
)

// callTime is enough for any call on a busy machine.
const callTime = 60 * time.Second

// TestNameNodeHA does to two real NameNodes and an observer what happens to NameNodes,
// and requires that every rename took effect exactly once or was said not to.
func TestNameNodeHA(t *testing.T) {
	c := rig.Start(t, rig.Options{NameNodes: 3, Config: map[string]string{
		// Idle connections are closed after two seconds: twice the first value.
		"ipc.client.connection.maxidletime":           "1000",
		"ipc.client.idlethreshold":                    "0",
		"ipc.client.connection.idle-scan-interval.ms": "200",
	}})
	for _, tc := range []struct {
		name string
		run  func(*testing.T, *ha)
	}{
		{"observer is never asked", neverAsksObserver},
		{"failover between calls", failoverBetweenCalls},
		{"all standby", allStandby},
		{"none ACTIVE for a while", waitsForActive},
		{"answer lost", answerLost},
		{"connection lost when the request was sent", connectionLostAfterRequest},
		{"request lost", requestLost},
		{"mkdirs lost", mkdirsLost},
		{"request cut", requestCut},
		{"answer of a rename cut at every byte", renameAnswerCut},
		{"answer of a read cut", readAnswerCut},
		{"idle connection closed by the NameNode", idleConnection},
		{"idle connections lost", idleConnectionsLost},
		{"frozen during a rename", frozenDuringRename},
		{"frozen before a rename", frozenBeforeRename},
		{"frozen, then failover", frozenThenFailover},
		{"killed during a rename", killedDuringRename},
		{"killed, nobody ACTIVE", killedNobodyActive},
		{"failovers and losses in the middle of renames", renamesDuringFailovers},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newHA(t, c)
			defer c.Mend(t)
			tc.run(t, h)
			h.checkJournal(t)
		})
	}
	t.Run("conformance", func(t *testing.T) {
		hdfstest.Run(t, func(*testing.T) hdfstest.Cluster { return c })
	})
}

// ha is the cluster with a directory and a user of one test.
type ha struct {
	*rig.Cluster
	ports   hdfstest.Ports
	user    string
	from    string // a directory
	to      string // another one
	fromID  uint64
	journal []move
	made    bool // directories too
}

// move is a rename that took effect, as far as the client was told.
type move struct {
	id uint64
	to string
}

var tests int

func newHA(t *testing.T, c *rig.Cluster) *ha {
	t.Helper()
	tests++
	h := &ha{Cluster: c, user: fmt.Sprintf("user%d", tests)}
	h.from, h.to = "/"+h.user+"/from", "/"+h.user+"/to"
	c.Admin().Mkdir(t, h.from, h.user, 0o755)
	c.Admin().Mkdir(t, h.to, h.user, 0o755)
	h.ports = c.As(t, h.user)
	h.fromID = h.id(t, execute.At(h.from))
	return h
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// id gives what stands there, 0 if nothing.
func (h *ha) id(t *testing.T, ref execute.Ref) uint64 {
	t.Helper()
	s, err := h.ports.Stat(within(t, callTime), ref)
	if errors.Is(err, execute.ErrNotFound) {
		return 0
	}
	if err != nil {
		t.Fatalf("stat %v: %v", ref, err)
	}
	return s.ID
}

// put makes a file, and gives the move that brings it to the other directory.
func (h *ha) put(t *testing.T, name string) execute.Move {
	t.Helper()
	h.Admin().Put(t, h.from+"/"+name, h.user, nil)
	return execute.Move{
		ID: h.id(t, execute.At(h.from+"/"+name)), ParentID: h.fromID,
		From: h.from + "/" + name, To: h.to + "/" + name, Context: "run1/" + name,
	}
}

func (h *ha) newCall(t *testing.T) execute.Call {
	t.Helper()
	call, err := h.ports.NewCall(within(t, callTime))
	if err != nil {
		t.Fatalf("NewCall: %v", err)
	}
	return call
}

// rename must succeed.
func (h *ha) rename(t *testing.T, m execute.Move) {
	t.Helper()
	if err := h.ports.Rename(within(t, callTime), m, h.newCall(t)); err != nil {
		t.Fatalf("rename to %s: %v", m.To, err)
	}
	h.moved(t, m)
}

// moved notes a rename down, and looks whether it is true now.
func (h *ha) moved(t *testing.T, m execute.Move) {
	t.Helper()
	h.journal = append(h.journal, move{m.ID, m.To})
	if got := h.id(t, execute.At(m.To)); got != m.ID {
		t.Errorf("%s is inode %d, want %d", m.To, got, m.ID)
	}
	if got := h.id(t, execute.At(m.From)); got != 0 {
		t.Errorf("%s is inode %d, want none", m.From, got)
	}
}

// notMoved requires that a rename that was said to change nothing did so.
func (h *ha) notMoved(t *testing.T, m execute.Move) {
	t.Helper()
	if got := h.id(t, execute.At(m.From)); got != m.ID {
		t.Errorf("%s is inode %d, want %d", m.From, got, m.ID)
	}
	if got := h.id(t, execute.At(m.To)); got != 0 {
		t.Errorf("%s is inode %d, want none", m.To, got)
	}
}

// resend settles a rename whose outcome is unknown.
func (h *ha) resend(t *testing.T, m execute.Move, call execute.Call) {
	t.Helper()
	if err := h.ports.Resend(within(t, callTime), m, call); err != nil {
		t.Fatalf("resend to %s: %v", m.To, err)
	}
	h.moved(t, m)
}

// checkJournal compares the journal with what the NameNodes wrote down: each rename once
// and no other, and nothing but renames, and mkdirs if there were any.
func (h *ha) checkJournal(t *testing.T) {
	t.Helper()
	logged := make(map[string]int)
	for _, e := range h.Mutations(t, h.user) {
		if h.made && e.Command == "mkdirs" && e.Allowed {
			continue
		}
		if e.Command != "rename" || !e.Allowed {
			t.Errorf("audit log: %+v", e)
			continue
		}
		logged[e.Source+" "+e.Target]++
	}
	for _, m := range h.journal {
		key := fmt.Sprintf("/.reserved/.inodes/%d %s", m.id, m.to)
		if logged[key] != 1 {
			t.Errorf("%d times in the audit logs, want once: %s", logged[key], key)
		}
		delete(logged, key)
	}
	for key, n := range logged {
		t.Errorf("%d times in the audit logs, not in the journal: %s", n, key)
	}
}

// methods are the names of what a proxy saw, each once.
func methods(p *rig.Proxy) []string {
	var names []string
	for _, r := range p.Requests() {
		names = append(names, r.Method)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// The observer gets edits late: what it would answer is wrong.
func neverAsksObserver(t *testing.T, h *ha) {
	for i := range h.NameNodes() {
		h.Proxy(i).Requests()
	}
	// A new client asks every NameNode for its state, and only ACTIVE ones for more, even when
	// those answer last.
	h.Proxy(h.Active()).Handle(func(r rig.Request) rig.Fault {
		if r.Method == "msync" {
			return rig.Fault{Delay: 300 * time.Millisecond}
		}
		return rig.Fault{}
	})
	h.ports = h.As(t, h.user)
	nn, err := h.ports.Active(within(t, callTime))
	id, _, _ := h.NameNode(h.Active())
	if want := (execute.NameNode{Nameservice: rig.Nameservice, ID: id, Address: h.Proxy(h.Active()).Addr()}); err != nil || nn != want {
		t.Errorf("active: %+v, %v, want %+v", nn, err, want)
	}
	for i := range 20 {
		h.rename(t, h.put(t, fmt.Sprintf("f%d", i)))
	}
	for i := range h.NameNodes() {
		got := methods(h.Proxy(i))
		if i == h.Active() {
			if !slices.Contains(got, "rename2") || !slices.Contains(got, "getFileLinkInfo") && !slices.Contains(got, "getFileInfo") {
				t.Errorf("the ACTIVE NameNode saw %q", got)
			}
			continue
		}
		if len(got) > 0 && !slices.Equal(got, []string{"msync"}) {
			t.Errorf("NameNode %d, which is not ACTIVE, saw %q", i, got)
		}
	}
}

func failoverBetweenCalls(t *testing.T, h *ha) {
	for i := range 4 {
		m := h.put(t, fmt.Sprintf("f%d", i))
		call := h.newCall(t)
		h.Failover(t)
		// The ids were given when another NameNode was ACTIVE.
		if err := h.ports.Rename(within(t, callTime), m, call); err != nil {
			t.Fatalf("rename after failover: %v", err)
		}
		h.moved(t, m)
		h.Failover(t)
		// The new one knows the answer that the old one gave.
		if err := h.ports.Resend(within(t, callTime), m, call); err != nil {
			t.Errorf("resend after failover: %v", err)
		}
	}
}

func allStandby(t *testing.T, h *ha) {
	m := h.put(t, "f")
	call := h.newCall(t)
	h.Admin().AllStandby(t)
	const limit = time.Second
	patient := h.Client(t, hdfs.Options{User: h.user, Patience: limit})
	for name, do := range map[string]func(context.Context) error{
		"stat": func(ctx context.Context) error {
			_, err := h.ports.Stat(ctx, execute.At(m.From))
			return err
		},
		"rename":   func(ctx context.Context) error { return h.ports.Rename(ctx, m, call) },
		"mkdirs":   func(ctx context.Context) error { return h.ports.Mkdirs(ctx, h.to+"/d", 0o700) },
		"new call": func(ctx context.Context) error { _, err := h.ports.NewCall(ctx); return err },
		"impatient": func(context.Context) error {
			_, err := patient.Stat(t.Context(), execute.At(m.From))
			return err
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		began := time.Now()
		err := do(ctx)
		took := time.Since(began)
		cancel()
		if !errors.Is(err, execute.ErrUnavailable) || errors.Is(err, execute.ErrUnknown) {
			t.Errorf("%s: %v, want ErrUnavailable", name, err)
		}
		if took > limit+5*time.Second {
			t.Errorf("%s: ended after %v, want %v", name, took, limit)
		}
	}
	h.Failover(t)
	h.notMoved(t, m)
	if got := h.id(t, execute.At(h.to+"/d")); got != 0 {
		t.Error("mkdirs took effect")
	}
	h.rename(t, m)
}

// waitsForActive has the failover happen while the client looks for an ACTIVE NameNode.
func waitsForActive(t *testing.T, h *ha) {
	m, call := h.put(t, "f"), h.newCall(t)
	h.Admin().AllStandby(t)
	failed := make(chan error)
	time.AfterFunc(700*time.Millisecond, func() { failed <- h.TryFailover() })
	began := time.Now()
	if err := h.ports.Rename(within(t, callTime), m, call); err != nil {
		t.Errorf("rename: %v", err)
	}
	if took := time.Since(began); took < 700*time.Millisecond {
		t.Errorf("done after %v, when nobody was ACTIVE", took)
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	h.moved(t, m)
}
