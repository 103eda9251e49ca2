package act

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fsweep/execute/fakehdfs"
	"fsweep/proto/journal"
)

// trashes are where things may appear.
var trashes = []string{"/user/alice/.Trash", "/zone/.Trash", "/quarantine", "/locks"}

// watchSends lets no rename be sent of which no intent is on the disk.
func (w *world) watchSends(t *testing.T, d *disk, fault func(fakehdfs.Op) fakehdfs.Fault) {
	w.fs.Plan(func(op fakehdfs.Op) fakehdfs.Fault {
		if op.Call == "rename2" {
			want := fmt.Sprintf(`"client_id":"%x","call_id":%d,`, op.CallID.ClientID, op.CallID.CallID)
			if !bytes.Contains(d.data[:d.durable], []byte(want)) {
				t.Errorf("operation %d: rename of %q without an intent on the disk", op.N, op.Move.From)
			}
		}
		if fault == nil {
			return fakehdfs.Fault{}
		}
		return fault(op)
	})
}

// effects gives all renames that had an effect.
func (w *world) effects() []fakehdfs.Op {
	all := slices.Clone(w.past)
	for _, op := range w.fs.Log() {
		if op.Call == "rename2" && op.Effect {
			all = append(all, op)
		}
	}
	return all
}

// truth holds the lines of a journal, and of those that earlier processes left, against what
// the cluster did: every move is in one, and every line is true.
func (w *world) truth(t *testing.T, d *disk) {
	t.Helper()
	a := account{effects: map[string]fakehdfs.Op{}, said: map[string]bool{}}
	for _, op := range w.effects() {
		a.effects[fmt.Sprintf("%x/%d", op.CallID.ClientID, op.CallID.CallID)] = op
	}
	begun := false
	disks := append(slices.Clone(w.shelf), w.disk, w.undoDisk)
	if !slices.Contains(disks, d) {
		disks = append(disks, d)
	}
	for _, d := range disks {
		r, err := journal.Open(bytes.NewReader(d.data))
		if errors.Is(err, journal.ErrNotBegun) {
			continue
		}
		if err != nil {
			t.Fatalf("the journal cannot be read: %v", err)
		}
		begun = true
		a.add(t, r)
	}
	if n := len(w.fs.Mutating()); n > 0 && !begun {
		t.Errorf("%d changes without a journal", n)
	}
	for k, op := range a.effects {
		if !a.said[k] {
			t.Errorf("operation %d moved %q to %q, and no journal says so", op.N, op.Move.From, op.Move.To)
		}
	}
}

// account is what happened, and what journals say of it, by the ids of calls.
type account struct {
	effects map[string]fakehdfs.Op
	said    map[string]bool
}

func (a *account) add(t *testing.T, r *journal.Reader) {
	t.Helper()
	intents := map[int64]*journal.Intent{}
	key := func(seq int64) string {
		c := intents[seq].Call
		if c == nil {
			return ""
		}
		return fmt.Sprintf("%s/%d", c.ClientID, c.CallID)
	}
	happened := func(seq int64, did bool, line int64) {
		k := key(seq)
		if k == "" {
			return
		}
		if _, ok := a.effects[k]; ok != did {
			t.Errorf("line %d says that intent %d happened: %t; it is %t", line, seq, did, ok)
		}
		a.said[k] = true
	}
	for l, err := range r.Lines() {
		if err != nil {
			t.Fatal(err)
		}
		switch l := l.(type) {
		case *journal.Intent:
			intents[l.Seq] = l
		case *journal.Done:
			happened(l.Intent, true, l.Seq)
		case *journal.Failed:
			if l.Intent > 0 {
				happened(l.Intent, false, l.Seq)
			}
		case *journal.Skipped:
			if l.Intent > 0 {
				happened(l.Intent, false, l.Seq)
			}
		case *journal.Settled:
			switch l.How {
			case journal.Gone:
				a.said[key(l.Intent)] = true
			default:
				happened(l.Intent, l.How != journal.NotHappened, l.Seq)
			}
		}
	}
	if p, _ := r.State().Pending(); p != nil {
		a.said[key(p.Seq)] = true
	}
}

// unplanned compares all that is outside of trashes, locks and items with what it was.
func (w *world) unplanned(t *testing.T, before *world) {
	t.Helper()
	if got, want := w.rest(), before.rest(); got != want {
		t.Errorf("something else changed:\n%s\nwas\n%s", got, want)
	}
}

// rest gives path and id of all that is no item, nor in a trash or the lock directory.
func (w *world) rest() string {
	var b strings.Builder
	for _, e := range w.fs.Entries() {
		if !w.ours(e.Path) {
			fmt.Fprintf(&b, "%q %d %d\n", e.Path, e.ID, e.Length)
		}
	}
	return b.String()
}

func (w *world) ours(p string) bool {
	for _, i := range w.items {
		if p == string(i.Path) || strings.HasPrefix(p, string(i.Path)+"/") {
			return true
		}
	}
	for _, dir := range append(slices.Clone(trashes), w.aside...) {
		if p == dir || strings.HasPrefix(p, dir+"/") {
			return true
		}
	}
	return false
}

// state tells where each item is: path at home, "trash" or "gone".
func (w *world) state() string {
	var b strings.Builder
	for _, i := range w.items {
		e, ok := w.fs.ByID(i.InodeID)
		where := "elsewhere " + e.Path
		switch {
		case !ok:
			where = "gone"
		case e.Path == string(i.Path):
			where = "home"
		case slices.ContainsFunc(trashes[:3], func(dir string) bool { return strings.HasPrefix(e.Path, dir+"/") }):
			where = "trash"
		}
		fmt.Fprintf(&b, "%.20q %s\n", i.Path, where)
	}
	return b.String()
}

// kept counts the old things in the trash that must still be there.
func (w *world) nothingOverwritten(t *testing.T, before *world) {
	t.Helper()
	for _, e := range before.fs.Entries() {
		if _, ok := w.fs.ByID(e.ID); !ok {
			t.Errorf("%q, inode %d, is no more", e.Path, e.ID)
		}
	}
}

// brief gives the journal without hashes, for messages.
func (w *world) brief() string {
	var b strings.Builder
	for line := range strings.Lines(string(w.disk.data)) {
		if a, c, ok := strings.Cut(line, `"prev":"`); ok && len(c) > 66 {
			line = a + c[66:]
		}
		b.WriteString(line[:min(len(line), 330)])
		b.WriteByte('\n')
	}
	return b.String()
}

// TestLastReads: directly before a move is announced, the id is looked up, then its directory, then its
// path, and nothing comes between that, the announcement and the rename but the look-up of the client.
func TestLastReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakehdfs.Options{})
	var asked []string
	seen := 0
	w.fs.Plan(func(op fakehdfs.Op) fakehdfs.Fault {
		if op.Port == "fsync" && bytes.Contains(w.disk.data[w.disk.durable:], []byte(`"purpose":"move"`)) {
			r, err := journal.Open(bytes.NewReader(w.disk.data))
			if err != nil {
				t.Fatal(err)
			}
			i, _ := r.State().Pending()
			id := fmt.Sprintf("/.reserved/.inodes/%d", i.InodeID)
			want := []string{"Stat " + id, "Stat " + id + "/..", "Stat " + id, "Stat " + string(i.Path), "write "} // the port looks itself whose parent it is
			if got := asked[max(0, len(asked)-len(want)):]; !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			seen++
		}
		asked = append(asked, op.Port+" "+op.Path)
		return fakehdfs.Fault{}
	})
	if _, err := w.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if seen != 7 {
		t.Errorf("%d moves were announced", seen)
	}
}
