package cleanup

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsweep/analyze/flink"
)

func size(inodes, bytes int64) func(*flink.Unit) {
	return func(u *flink.Unit) { u.Totals = flink.Totals{Directories: 1, Files: inodes - 1, Length: bytes} }
}

// order gives the items in their order, and those that are deferred with why.
func order(d *Decision) (out []string) {
	short := strings.NewReplacer("/r/", "", idA, "A", idB, "B", idC, "C", idD, "D")
	for _, i := range slices.Concat(d.Items, d.Deferred) {
		s := short.Replace(string(i.Path))
		for _, f := range i.Deferred {
			s += fmt.Sprintf(" %s", f.Rule)
			if f.Limit != 0 {
				s += fmt.Sprintf(" %d>%d", f.N, f.Limit)
			}
		}
		out = append(out, s)
	}
	return out
}

func TestBelts(t *testing.T) {
	t.Parallel()
	area := func(inodes int64, id uint64) flink.Area {
		return flink.Area{INodeID: id, Totals: flink.Totals{Directories: 1, Files: inodes - 1}}
	}
	large := func(u *flink.Unit) {
		size(100, 0)(u)
		u.Shared, u.Taskowned = area(50, 8), area(30, 9)
		chk(9, 20, false)(u)
	}
	jobs := func() *world {
		return root(JobRun, job("j", run(idA, 1), run(idB, 30, size(10, 100)), run(idC, 20, size(20, 200)), run(idD, 40, size(5, 50))),
			job("k", run(idA, 1), run(idB, 40, size(5, 50))))
	}
	belts := func(edit func(*Belts)) func(*world) { return func(w *world) { edit(&w.p.Belts) } }
	for _, s := range []struct {
		says string
		w    *world
		want []string
	}{
		{"newest run of a job first", jobs(), []string{"j/C", "j/B", "j/D", "k/B"}},
		{"max_items", jobs().with(belts(func(b *Belts) { b.MaxItems = 2 })), []string{"j/C", "j/B", "j/D max_items 3>2", "k/B max_items 3>2"}},
		{"max_inodes, and what refers to older runs stays with them", jobs().with(belts(func(b *Belts) { b.MaxInodes = 12 })), []string{"k/B", "j/C max_inodes 20>12", "j/B newer_deferred", "j/D newer_deferred"}},
		{"max_bytes", jobs().with(belts(func(b *Belts) { b.MaxBytes = 349 })), []string{"j/C", "j/B", "j/D max_bytes 350>349", "k/B max_bytes 350>349"}},
		{"max_percent_of_root", jobs().with(belts(func(b *Belts) { b.MaxPercentOfRoot = 30 }), func(w *world) { w.d.Roots[0].Totals = flink.Totals{Directories: 10, Files: 90} }), []string{"j/C", "j/B", "j/D max_percent_of_root 35>30", "k/B max_percent_of_root 35>30"}},
		{"bigger runs are split: chk first, then taskowned, shared", root(JobRun, job("j", run(idA, 1), run(idB, 20, large))).with(belts(func(b *Belts) { b.MaxInodesPerMove = 60 })), []string{"j/B/chk-9", "j/B/chk-7", "j/B/taskowned", "j/B/shared"}},
		{"a part that is too large itself stays", root(JobRun, job("j", run(idA, 1), run(idB, 20, large), run(idC, 30))).with(belts(func(b *Belts) { b.MaxInodesPerMove = 40 })), []string{"j/B/chk-9", "j/B/chk-7", "j/B/taskowned", "j/B/shared max_inodes_per_move 50>40", "j/C newer_deferred"}},
		{"what must go before keeps the rest back", root(JobRun, job("j", run(idA, 1), run(idB, 20, large))).with(belts(func(b *Belts) { b.MaxInodesPerMove, b.MaxItems = 60, 1 })), []string{"j/B/chk-9", "j/B/chk-7 max_items 2>1", "j/B/taskowned other_part_deferred", "j/B/shared other_part_deferred"}},
		{"savepoints are never split", root(Savepoints, job("j", sp(spA, 10), sp(spB, 11), sp(spC, 20, size(100, 0)))).with(belts(func(b *Belts) { b.MaxInodesPerMove = 60 })), []string{"j/" + spC + " max_inodes_per_move 100>60"}},
	} {
		t.Run(s.says, func(t *testing.T) {
			t.Parallel()
			d := s.w.decide(t)
			if diff := cmp.Diff(s.want, order(d)); diff != "" {
				t.Error(diff)
			}
			for _, i := range d.Items {
				if (i.SplitOf != 0) != (strings.Count(string(i.Path), "/") > 3) || i.SplitOf != 0 && i.SplitOf != i.ParentID {
					t.Errorf("%+v", i)
				}
			}
		})
	}
}

// second makes a second root /s of layout job-run.
func second(w *world, jobs ...*flink.Job) *world {
	r := defaultRoot(JobRun)
	r.Path = "/s"
	w.p.Roots = append(w.p.Roots, r)
	w.d.Roots = append(w.d.Roots, &flink.Root{Path: []byte("/s"), INodeID: 2, Totals: flink.Totals{Directories: 1 << 30}, Jobs: jobs})
	return w
}

// TestObserve: roots that are only observed use nothing up.
func TestObserve(t *testing.T) {
	t.Parallel()
	w := second(root(JobRun, job("j", run(idA, 1), run(idB, 20))), job("j", run(idC, 1), run(idD, 20)))
	w.p.Belts.MaxItems = 1
	d := w.decide(t)
	if len(d.Items) != 2 || len(d.Deferred) != 0 || !d.Items[0].Root.Executable || d.Items[1].Root.Executable {
		t.Error(order(d))
	}
	w.p.Roots[1].Mode = Execute
	if d = w.decide(t); len(d.Items) != 1 || len(d.Deferred) != 1 {
		t.Error(order(d))
	}
}

// TestPreflight: a misfit stops its root or all of them.
func TestPreflight(t *testing.T) {
	t.Parallel()
	w := second(root(JobRun, job("j", run(idA, 1), run(idB, 20))), job("j", run(idC, 1), run(idD, 20)))
	w.d.Roots[1].NumMisfits = 1
	w.d.Roots[1].Misfits = []flink.Misfit{{Reason: flink.FileAmongJobs, Path: []byte("/s/x")}}
	d := w.decide(t)
	want := []Fact{{Rule: Misfits, N: 1, Path: "/s/x", Text: "file_among_jobs"}}
	if diff := cmp.Diff(want, d.Roots[1].Stopped); diff != "" || len(d.Items) != 1 || len(d.Roots[0].Stopped) != 0 {
		t.Error(diff, order(d))
	}
	w.p.Preflight = PreflightAll
	d = w.decide(t)
	if diff := cmp.Diff([]Fact{{Rule: OtherRootStopped, Path: "/s"}}, d.Roots[0].Stopped); diff != "" || len(d.Items)+len(d.Deferred) != 0 {
		t.Error(diff, order(d))
	}
	// A name that does not exist is a mistake in the policy, whatever preflight says.
	for _, reason := range []flink.Reason{flink.ExcludedNotFound, flink.SelectedNotFound} {
		w.d.Roots[1].NumMisfits = 2
		w.d.Roots[1].Misfits = []flink.Misfit{{Reason: flink.FileAmongJobs, Path: []byte("/s/x")}, {Reason: reason, Path: []byte("/s")}}
		for _, p := range []Preflight{PreflightAll, PreflightRoot} {
			w.p.Preflight = p
			d = w.decide(t)
			if diff := cmp.Diff([]Fact{{Rule: NamesNotFound, Path: "/s"}}, d.Roots[0].Stopped); diff != "" || len(d.Items)+len(d.Deferred) != 0 {
				t.Error(p, diff, order(d))
			}
			if len(d.Roots[1].Stopped) != 1 || d.Roots[1].Stopped[0].Rule != Misfits {
				t.Error(p, d.Roots[1].Stopped)
			}
		}
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	d := second(root(JobRun, job("j", run(idA, 1, chk(5, 3, false)), run(idB, 20))), job("k")).decide(t)
	for path, want := range map[Path]string{
		"/x":                          "",
		"/rr":                         "",
		"/r":                          "/r",
		"/r/j":                        "/r j",
		"/r/jj":                       "/r",
		"/s/k/" + idA:                 "/s k",
		"/r/j/" + idA + "/chk-7":      "/r j keep newest_by_metadata",
		"/r/j/" + idA + "/chk-5/file": "/r j keep newest_by_metadata incomplete_checkpoint",
		"/r/j/" + idB + "/shared/x":   "/r j candidate beyond_keep beyond_keep",
	} {
		a := explain(d, path)
		var got []string
		if a.Root != nil {
			got = append(got, string(a.Root.Policy.Path))
		}
		if a.Job != nil {
			got = append(got, a.Job.Name)
		}
		if a.Unit != nil {
			got = append(got, a.Unit.Verdict.String(), string(a.Unit.Rule))
		}
		if a.Item != nil {
			got = append(got, string(a.Item.Rule))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", path, s, want)
		}
	}
}
