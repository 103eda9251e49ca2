package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fsweep/execute/act"
	"fsweep/execute/journalfile"
	"fsweep/proto/journal"
	"fsweep/proto/planfile"
)

// journalOf writes a journal of a command, with a call of its own for each rename. Hours are since some day.
func journalOf(t *testing.T, dir *journalfile.Dir, c journal.Command, hours int64, id byte, list ...journal.Line) {
	t.Helper()
	at := noon.Add(time.Duration(hours) * time.Hour).UnixMilli()
	h := &journal.Header{
		Command: c, Tool: program, Version: "1", Nameservice: "ns1", NameNode: journal.NameNode{Address: "nn:8020"},
		Anchors: []journal.Anchor{{Path: "/a", InodeID: 16386}}, User: "flink", Host: "h", PID: 1, ClientID: journal.ClientID{id},
	}
	if c == journal.CommandRun || c == journal.CommandUndo {
		h.Plan = &journal.Plan{File: "plan.jsonl", Digest: planfile.Digest{1}}
	}
	h.AtMs = at
	w, err := dir.Create(h)
	if err != nil {
		t.Fatal(err)
	}
	for n, l := range list {
		l.Stamped().AtMs = at
		if i, ok := l.(*journal.Intent); ok {
			i.Call = &journal.Call{ClientID: h.ClientID, CallID: int64(n), NameNode: h.NameNode}
		}
		if err := w.Append(l); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

var noon = time.UnixMilli(1_800_000_000_000)

func moveOf(id uint64, inodes int64) *journal.Intent {
	return &journal.Intent{
		Purpose: journal.PurposeMove, Kind: planfile.KindUnit, Path: "/a/x", InodeID: id, ParentID: 16386, Inodes: inodes,
		Target: "/user/flink/.Trash/Current/a/x", TrashRoot: "/user/flink/.Trash",
	}
}

func backOf(id uint64, inodes, undoes int64) *journal.Intent {
	return &journal.Intent{
		Purpose: journal.PurposeUndo, Kind: planfile.KindUnit, Path: "/user/flink/.Trash/Current/a/x", InodeID: id, ParentID: 7, Inodes: inodes, Target: "/a/x", Undoes: undoes,
	}
}

func doneOf(intent int64) *journal.Done { return &journal.Done{Intent: intent, Chain: []uint64{7, 8}} }

// TestSpent: what counts against the belt of a trash interval is what runs moved since it began,
// did not move back, or may have moved.
func TestSpent(t *testing.T) {
	t.Parallel()
	dir := journalfile.TestDir(t)
	expect := func(want int64) {
		t.Helper()
		if got, err := spent(dir, noon); err != nil || got != want {
			t.Errorf("%d, %v, want %d", got, err, want)
		}
	}
	expect(0)
	journalOf(t, dir, journal.CommandRun, -1, 1, moveOf(20_000, 1), doneOf(2))
	expect(0) // before the interval
	journalOf(t, dir, journal.CommandRun, 0, 2, moveOf(20_001, 10), doneOf(2), moveOf(20_002, 100), doneOf(4), backOf(20_002, 100, 4), doneOf(6))
	expect(10) // the other came back
	journalOf(t, dir, journal.CommandUndo, 1, 3, backOf(20_003, 1000, 0), doneOf(2))
	expect(10)
	journalOf(t, dir, journal.CommandRun, 1, 4, moveOf(20_004, 10_000))
	expect(10_010) // nobody knows
	journalOf(t, dir, journal.CommandRun, 1, 5, moveOf(20_005, 100_000), &journal.Settled{Intent: 2, How: journal.NotHappened})
	expect(10_010)
	journalOf(t, dir, journal.CommandRun, 1, 6, moveOf(20_006, 1<<62), doneOf(2))
	journalOf(t, dir, journal.CommandRun, 1, 7, moveOf(20_007, 1<<62), doneOf(2))
	expect(1<<63 - 1)
	if err := os.WriteFile(filepath.Join(dir.Path(), "empty.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expect(1<<63 - 1)
	if err := os.WriteFile(filepath.Join(dir.Path(), "x.jsonl"), []byte("something else"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := spent(dir, noon)
	if r, ok := errors.AsType[*act.Refusal](err); !ok || r.Rule != "journals" || !strings.Contains(r.Text, "x.jsonl") {
		t.Errorf("what cannot be read: %v", err)
	}
}

// TestMovedBefore: what a run moved, or moved and moved back, it does not move again; what it skipped, or
// does not know about, it may.
func TestMovedBefore(t *testing.T) {
	t.Parallel()
	dir := journalfile.TestDir(t)
	journalOf(t, dir, journal.CommandRun, 0, 1,
		moveOf(20_001, 1), doneOf(2), moveOf(20_002, 1), doneOf(4), backOf(20_002, 1, 4), doneOf(6),
		&journal.Skipped{Kind: planfile.KindUnit, Path: "/a/x", InodeID: 20_003, Rule: "changed"}, moveOf(20_004, 1))
	names, err := dir.Names()
	if err != nil || len(names) != 1 {
		t.Fatal(err, names)
	}
	f, err := journalfile.Open(filepath.Join(dir.Path(), names[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	moved := movedBefore(f.State())
	for id, want := range map[uint64]bool{20_001: true, 20_002: true, 20_003: false, 20_004: false, 20_005: false} {
		if moved(id) != want {
			t.Errorf("inode %d: %t", id, !want)
		}
	}
}
