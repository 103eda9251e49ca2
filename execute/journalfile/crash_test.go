package journalfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"fsweep/proto/journal"
	"fsweep/proto/planfile"
)

const at = 1_800_000_000_000

func header() *journal.Header {
	return &journal.Header{
		Stamp: journal.Stamp{AtMs: at}, Command: journal.CommandRun, Tool: "fsweep-exec", Version: "1", Plan: &journal.Plan{File: "plan.jsonl", Digest: planfile.Digest{1}},
		Nameservice: "prod", NameNode: journal.NameNode{Address: "nn1:8020"}, Anchors: []journal.Anchor{{Path: "/flink", InodeID: 16386}},
		User: "u", Host: "h", PID: 1, ClientID: journal.ClientID{1},
	}
}

func resumed(n byte) *journal.Resumed {
	return &journal.Resumed{
		Stamp: journal.Stamp{AtMs: at}, Version: "1", NameNode: journal.NameNode{Address: "nn2:8020"}, User: "u", Host: "h", PID: 2, ClientID: journal.ClientID{n},
	}
}

func move(id uint64, client byte, call int64) *journal.Intent {
	p := planfile.Path(fmt.Sprintf("/flink/\xff\n%d", id))
	return &journal.Intent{
		Stamp: journal.Stamp{AtMs: at}, Purpose: journal.PurposeMove, Kind: planfile.KindChild, Path: p, InodeID: id, ParentID: 16386,
		Target: "/user/u/.Trash/Current" + p, TrashRoot: "/user/u/.Trash", Inodes: 2,
		Call: &journal.Call{ClientID: journal.ClientID{client}, CallID: call, NameNode: journal.NameNode{Address: "nn1:8020"}},
	}
}

func skipped(id uint64) *journal.Skipped {
	return &journal.Skipped{Stamp: journal.Stamp{AtMs: at}, Kind: planfile.KindChild, Path: "/flink/skipped", InodeID: id, Rule: "changed"}
}

// script does what an executor does: some items moved, some skipped, an end. It gives
// how many lines were acknowledged, and of these how many must be on the disk.
func script(d *Dir) (w *Writer, said, durable int, err error) {
	w, err = d.Create(header())
	if err != nil {
		return nil, 0, 0, err
	}
	said, durable = 1, 1
	for _, l := range []journal.Line{
		skipped(1), skipped(2), move(10, 1, 1), &journal.Done{Stamp: journal.Stamp{AtMs: at}, Intent: 4, Chain: []uint64{99}},
		skipped(3), move(11, 1, 2), &journal.Unknown{Stamp: journal.Stamp{AtMs: at}, Intent: 7, Class: "timeout"},
		&journal.End{Stamp: journal.Stamp{AtMs: at}, ExitCode: 5, Totals: journal.Totals{Planned: 5}},
	} {
		if err = w.Append(l); err != nil {
			return w, said, durable, err
		}
		said++
		if _, lazy := l.(*journal.Skipped); !lazy {
			durable = said
		}
	}
	return w, said, durable, w.Close()
}

// goOn resumes whatever is there, to an end.
func goOn(d *Dir, name string, client byte) error {
	w, err := d.Reopen(name)
	if err != nil {
		return err
	}
	lines := []journal.Line{resumed(client)}
	if i, _ := w.State().Pending(); i != nil {
		lines = append(lines, &journal.Settled{Stamp: journal.Stamp{AtMs: at}, Intent: i.Seq, How: journal.Arrived, Chain: []uint64{99}})
	}
	if w.State().Outcome(12) == journal.OutcomeNone {
		lines = append(lines, move(12, client, 1), nil)
	}
	lines = append(lines, &journal.End{Stamp: journal.Stamp{AtMs: at}, ExitCode: 4, Totals: journal.Totals{Planned: 6}})
	for i, l := range lines {
		if l == nil {
			l = &journal.Done{Stamp: journal.Stamp{AtMs: at}, Intent: lines[i-1].Stamped().Seq, Chain: []uint64{99}}
		}
		if err := w.Append(l); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}

func theFile(t *testing.T, m *machine) (string, *content) {
	t.Helper()
	for name, c := range m.files {
		return filepath.Base(name), c
	}
	return "", nil
}

func complete(b []byte) (n int) { return bytes.Count(b, []byte{'\n'}) }

// survivors are the files that can be there after a crash of the process (all that was
// written), or of the machine (what was synced, and any part of the rest, or zeros in its place).
func survivors(c *content) [][]byte {
	var out [][]byte
	for n := c.synced; n <= len(c.b); n++ {
		if n == c.synced || n == len(c.b) || n == (c.synced+len(c.b))/2 || n == len(c.b)-1 {
			out = append(out, c.b[:n])
		}
	}
	if n := len(c.b) - c.synced; n > 0 {
		out = append(out, append(slices.Clone(c.b[:c.synced]), make([]byte, n)...))
	}
	return out
}

// afterCrash takes what is left of a file and demands that every line that was promised
// is there, that a resumed process goes on, and that the result is a journal.
func afterCrash(t *testing.T, name string, left []byte, durable int) {
	t.Helper()
	m := newMachine()
	d := &Dir{"/journals", m}
	m.files[filepath.Join("/journals", name)] = &content{b: slices.Clone(left), named: true}
	lines := complete(left)
	if lines < durable {
		t.Fatalf("%d lines are left, %d were promised", lines, durable)
	}
	err := goOn(d, name, 2)
	if lines == 0 {
		if !errors.Is(err, journal.ErrNotBegun) {
			t.Fatalf("no line is left: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	_, c := theFile(t, m)
	whole := left[:bytes.LastIndexByte(left, '\n')+1]
	if !bytes.HasPrefix(c.b, whole) || c.synced != len(c.b) || c.locked {
		t.Fatalf("lines that were there are not, or are not synced")
	}
	r, err := journal.Open(bytes.NewReader(c.b))
	if err != nil {
		t.Fatal(err)
	}
	if r.Resumed().CutBytes != int64(len(left)-len(whole)) || r.Ended() == nil || r.Torn() != 0 {
		t.Fatalf("cut %d of %d", r.Resumed().CutBytes, len(left)-len(whole))
	}
	sync, truncate, write := slices.Index(m.log, "sync"), slices.Index(m.log, "truncate"), slices.Index(m.log, "write")
	if sync > write || truncate > sync || (truncate >= 0) != (r.Resumed().CutBytes > 0) {
		t.Fatalf("order %v", m.log[:write+1])
	}
}

// TestCrashAtEveryByte: the process, or the machine, stops after every number of bytes;
// then the resumed process does, too.
func TestCrashAtEveryByte(t *testing.T) {
	t.Parallel()
	all := newMachine()
	if _, _, _, err := script(&Dir{"/journals", all}); err != nil {
		t.Fatal(err)
	}
	name, whole := theFile(t, all)
	for n := range len(whole.b) {
		m := newMachine()
		m.bytes = n
		w, said, durable, err := script(&Dir{"/journals", m})
		if !errors.Is(err, errCrash) || !errors.Is(err, ErrLost) {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if w != nil && !errors.Is(w.Append(skipped(9)), errCrash) {
			t.Fatalf("%d bytes: it goes on after an error", n)
		}
		_, c := theFile(t, m)
		if len(c.b) != n || !bytes.HasPrefix(whole.b, c.b) || complete(c.b) < said {
			t.Fatalf("%d bytes: %d are there, %d lines of %d", n, len(c.b), complete(c.b), said)
		}
		for _, left := range survivors(c) {
			afterCrash(t, name, left, durable)
		}
	}
}

// TestCrashAgain: crashes of a process that resumes a torn journal, at every byte and at
// every call.
func TestCrashAgain(t *testing.T) {
	t.Parallel()
	first := newMachine()
	if _, _, _, err := script(&Dir{"/journals", first}); err != nil {
		t.Fatal(err)
	}
	name, whole := theFile(t, first)
	torn := whole.b[:len(whole.b)-len("}\n")-20] // within the end
	restart := func() *machine {
		m := newMachine()
		m.files["/journals/"+name] = &content{b: slices.Clone(torn), synced: len(torn), named: true}
		return m
	}
	m := restart()
	if err := goOn(&Dir{"/journals", m}, name, 2); err != nil {
		t.Fatal(err)
	}
	_, final := theFile(t, m)
	log := m.log
	crash := func(m *machine) {
		t.Helper()
		if err := goOn(&Dir{"/journals", m}, name, 2); !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
		_, c := theFile(t, m)
		for _, left := range survivors(c) {
			again := newMachine()
			again.files["/journals/"+name] = &content{b: slices.Clone(left), synced: len(left), named: true}
			if err := goOn(&Dir{"/journals", again}, name, 3); err != nil {
				t.Fatal(err)
			}
			_, c := theFile(t, again)
			r, err := journal.Open(bytes.NewReader(c.b))
			if err != nil {
				t.Fatal(err)
			}
			if o := r.State(); o.Outcome(10) != journal.OutcomeDone || o.Outcome(11) != journal.OutcomeDone || o.Outcome(12) != journal.OutcomeDone || r.Ended() == nil {
				t.Fatalf("%+v", o.Totals())
			}
		}
	}
	for n := range len(final.b) - bytes.LastIndexByte(torn, '\n') - 1 {
		m := restart()
		m.bytes = n
		crash(m)
	}
	counts := map[string]int{}
	for _, op := range log {
		if counts[op]++; op == "close" {
			continue // told by TestFailingClose
		}
		m := restart()
		m.fail = fmt.Sprintf("%s %d", op, counts[op])
		crash(m)
	}
}

// TestEveryCallFails: create, lock, write, fsync of file and directory, each time it is
// called. The first error is for ever, and no call follows but those that give up.
func TestEveryCallFails(t *testing.T) {
	t.Parallel()
	all := newMachine()
	if _, _, _, err := script(&Dir{"/journals", all}); err != nil {
		t.Fatal(err)
	}
	name, _ := theFile(t, all)
	if want := []string{"create", "lock", "write", "sync", "syncDir", "write", "write", "write", "sync", "write", "sync", "write", "write", "sync"}; !slices.Equal(all.log[:len(want)], want) {
		t.Errorf("the order is %v", all.log)
	}
	counts := map[string]int{}
	for i, op := range all.log {
		counts[op]++
		m := newMachine()
		m.fail = fmt.Sprintf("%s %d", op, counts[op])
		w, said, durable, err := script(&Dir{"/journals", m})
		if !errors.Is(err, errCrash) || !errors.Is(err, ErrLost) {
			t.Fatalf("%s: %v", m.fail, err)
		}
		calls := len(m.log)
		if w != nil {
			for _, again := range []error{w.Append(move(50, 1, 9)), w.Sync(), w.Append(skipped(51))} {
				if again == nil {
					t.Fatalf("%s: it goes on", m.fail)
				}
			}
		}
		if len(m.log) != calls {
			t.Fatalf("%s: %v follows", m.fail, m.log[calls:])
		}
		for _, late := range m.log[i+1:] {
			if late != "close" && late != "remove" {
				t.Fatalf("%s: %s follows", m.fail, late)
			}
		}
		if w == nil && op != "create" && m.log[calls-1] != "remove" {
			t.Errorf("%s: what nobody goes on with is left: %v", m.fail, m.log)
		}
		_, c := theFile(t, m)
		if c == nil {
			if said > 0 || op != "create" {
				t.Fatalf("%s: no file", m.fail)
			}
			continue
		}
		if said > 0 && !c.named {
			t.Fatalf("%s: lines in a file without a name", m.fail)
		}
		for _, left := range survivors(c) {
			afterCrash(t, name, left, durable)
		}
	}
}

// TestShortWrites: a write that takes less than all is gone on with.
func TestShortWrites(t *testing.T) {
	t.Parallel()
	whole, m := newMachine(), newMachine()
	m.short = true
	for _, m := range []*machine{whole, m} {
		if _, _, _, err := script(&Dir{"/journals", m}); err != nil {
			t.Fatal(err)
		}
	}
	_, want := theFile(t, whole)
	if _, got := theFile(t, m); !reflect.DeepEqual(want, got) || m.count["write"] != len(want.b) {
		t.Error("another file")
	}
	w := &Writer{f: &stuck{}}
	if err := w.write([]byte("x"), true); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
}

// stuck writes nothing and says nothing.
type stuck struct{ handle }

func (*stuck) Write([]byte) (int, error) { return 0, nil }

// TestLazyLines: skipped lines are synced by whatever is durable, by Sync, by Close and
// by their number.
func TestLazyLines(t *testing.T) {
	t.Parallel()
	m := newMachine()
	w, err := (&Dir{"/journals", m}).Create(header())
	if err != nil {
		t.Fatal(err)
	}
	_, c := theFile(t, m)
	most := 0
	for i := range uint64(3000) {
		if err := w.Append(skipped(i + 1)); err != nil {
			t.Fatal(err)
		}
		most = max(most, len(c.b)-c.synced)
	}
	if most > maxUnsynced || most < maxUnsynced/2 || m.count["sync"] < 2 {
		t.Errorf("%d bytes were not synced, %d syncs", most, m.count["sync"])
	}
	for _, sync := range []func() error{w.Sync, w.Sync, w.Close} {
		if err := sync(); err != nil || c.synced != len(c.b) {
			t.Error(err, len(c.b)-c.synced)
		}
	}
	if err := w.Append(skipped(1 << 40)); !errors.Is(err, ErrLost) || c.synced != len(c.b) {
		t.Errorf("after Close: %v", err)
	}
}
