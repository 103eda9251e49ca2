package act

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"fsweep/execute/fakehdfs"
	"fsweep/proto/journal"
)

// TestNotOurs: a cluster that was set up alike, down to the inode ids of the anchors, is told from
// the one of the journal, as is another user. Nothing is changed, and the journal stays as it was.
func TestNotOurs(t *testing.T) {
	t.Parallel()
	before := newWorld(t, fakehdfs.Options{})
	before.plan.Header.Source.NamespaceID, before.plan.Header.Source.ClusterID = 1, "CID-fake"
	ctx, cancel := context.WithCancel(context.Background())
	before.during(t, 2, cancel)
	if _, err := before.run(ctx); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	before.fs.Plan(nil)
	// journalOf is the journal with another header.
	journalOf := func(h func(*journal.Header)) []byte {
		r, err := journal.Open(bytes.NewReader(before.disk.data))
		if err != nil {
			t.Fatal(err)
		}
		enc := journal.NewEncoder()
		var out []byte
		for l, err := range r.Lines() {
			if err != nil {
				t.Fatal(err)
			}
			if head, ok := l.(*journal.Header); ok {
				h(head)
			}
			b, err := enc.Encode(l)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, b...)
		}
		return out
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"ours":         {journalOf(func(*journal.Header) {}), ""},
		"ids unknown":  {journalOf(func(h *journal.Header) { h.Cluster = nil }), ""},
		"namespace id": {journalOf(func(h *journal.Header) { h.Cluster.NamespaceID = 2 }), "other-cluster"},
		"cluster id":   {journalOf(func(h *journal.Header) { h.Cluster.ID = "CID-another" }), "other-cluster"},
		"user":         {journalOf(func(h *journal.Header) { h.User = "bob" }), "other-user"},
	} {
		for _, what := range []string{"resume", "undo"} {
			t.Run(name+"/"+what, func(t *testing.T) {
				t.Parallel()
				w := before.clone()
				w.disk.data = bytes.Clone(c.data)
				p := w.params(w.disk)
				p.Survey = w.fs.Client(user)
				var res *Result
				var err error
				if what == "resume" {
					var j *memory
					if j, err = w.reopen(w.disk, p); err == nil {
						res, err = Resume(context.Background(), p, j)
					}
				} else {
					var r *journal.Reader
					if r, err = journal.Open(bytes.NewReader(c.data)); err == nil {
						p = w.params(w.undoDisk)
						p.Survey = w.fs.Client(user)
						res, err = Undo(context.Background(), p, &UndoOf{Journal: r, File: "j.jsonl"})
					}
				}
				if c.want == "" {
					if err != nil {
						t.Error(err)
					}
					return
				}
				var r *Refusal
				if !errors.As(err, &r) || r.Rule != c.want || res.ExitCode != ExitRefused {
					t.Errorf("%v, %+v", err, res)
				}
				if len(w.fs.Mutating()) > 0 || !bytes.Equal(w.disk.data, c.data) || len(w.undoDisk.data) > 0 {
					t.Error("something was changed")
				}
			})
		}
	}
}

// TestFits: the longest and the deepest path that NameNodes take.
func TestFits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path string
		want bool
	}{
		{"/" + strings.Repeat("x", 7999), true},
		{"/" + strings.Repeat("x", 8000), false},
		{"/" + strings.Repeat("é", 7999), true},
		{"/" + strings.Repeat("😀", 3999), true}, // two UTF-16 units each
		{"/" + strings.Repeat("😀", 4000), false},
		{strings.Repeat("/x", 1000), true},
		{strings.Repeat("/x", 1001), false},
	} {
		if fits(c.path) != c.want {
			t.Errorf("%d bytes, %d levels: %v", len(c.path), strings.Count(c.path, "/"), !c.want)
		}
	}
}
