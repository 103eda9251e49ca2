package check_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"fsweep/execute"
	"fsweep/execute/check"
	"fsweep/execute/fakehdfs"
	"fsweep/proto/planfile"
)

// TestPreflight changes one thing each; all problems are given, not only the first.
func TestPreflight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(w *world, o *check.Options)
		want   []string
	}{
		{"nothing", func(*world, *check.Options) {}, nil},
		{"another plan was approved", func(_ *world, o *check.Options) { o.Approved = &planfile.Digest{1} }, []string{check.NotApproved}},
		{"expired", func(w *world, _ *check.Options) { w.fs.Advance(24 * time.Hour) }, []string{check.Expired}},
		{"clock", func(w *world, _ *check.Options) { w.fs.Advance(-2 * time.Hour) }, []string{check.ClockBehind}},
		{"safe mode", func(w *world, _ *check.Options) { w.fs.SetSafeMode(true) }, []string{check.InSafeMode}},
		{"hold", func(w *world, _ *check.Options) { w.fs.Put("/ops/HOLD", "x", nil) }, []string{check.Held}},
		{"hold cannot be seen", func(w *world, _ *check.Options) { w.fs.Mkdir("/ops", "root", 0o700) }, []string{check.NotKnown, check.NotKnown}},
		{"root replaced", func(w *world, _ *check.Options) { w.fs.Delete(scratch); w.fs.Mkdir(scratch, "x", 0o755) }, []string{check.AnchorDiffers}},
		{"lock directory gone", func(w *world, _ *check.Options) { w.fs.Delete("/ops/fsweep") }, []string{check.LockDirDiffers}},
		{"locks cannot be made", func(w *world, o *check.Options) {
			w.fs.Mkdir("/ops/fsweep", "other", 0o755)
			o.Survey = asked{c: w.fs.Client("flink")}
		}, []string{check.LockDirNotUsable}},
		{"the lock could not be given back", func(w *world, o *check.Options) {
			w.fs.Mkdir("/ops/fsweep/done", "other", 0o755)
			w.fs.Mkdir("/ops/fsweep/broken", "other", 0o777)
			o.Survey = asked{c: w.fs.Client("flink")}
		}, []string{check.LockDirNotUsable}},
		{"files are where locks go", func(w *world, _ *check.Options) {
			w.fs.Put("/ops/fsweep/done", "flink", nil)
			w.fs.Put("/ops/fsweep/broken", "flink", nil)
		}, []string{check.LockDirNotUsable, check.LockDirNotUsable}},
		{"the lock can be given back", func(w *world, o *check.Options) {
			w.fs.Mkdir("/ops/fsweep/done", "flink", 0o755)
			w.fs.Mkdir("/ops/fsweep/broken", "other", 0o777)
			o.Survey = asked{c: w.fs.Client("flink")}
		}, nil},
		{"no trash", func(w *world, _ *check.Options) { w.fs.SetTrash(0) }, []string{check.NoTrash}},
		{"trash too short", func(w *world, _ *check.Options) { w.fs.SetTrash(23 * time.Hour) }, []string{check.TrashTooShort}},
		{"a file is the trash", func(w *world, _ *check.Options) { w.fs.Put("/user/flink/.Trash", "flink", nil) }, []string{check.TrashNotUsable}},
		{"no home, so no trash either", func(w *world, _ *check.Options) { w.fs.Delete("/user/flink") }, []string{check.TrashNotUsable}},
		{"a file is the home", func(w *world, _ *check.Options) {
			w.fs.Delete("/user/flink")
			w.fs.Put("/user/flink", "flink", nil)
		}, []string{check.TrashNotUsable}},
		{"a tenth fewer ids", func(w *world, _ *check.Options) { w.live.IDs = w.live.IDs[:9] }, []string{check.ListShrunk}},
		{"one of ten clusters more, no ConfigMap", func(w *world, _ *check.Options) { w.live.HAConfigMaps = 0 }, []string{check.ListShrunk}},
		{"lists are not given", func(_ *world, o *check.Options) { o.Lists = nil }, []string{check.ListNotUsable, check.ListNotUsable}},
		{"lists cannot be read", func(_ *world, o *check.Options) {
			o.Lists = func(planfile.Input, bool) (*check.Named, error) { return nil, errors.New("too old") }
		}, []string{check.ListNotUsable, check.ListNotUsable}},
		{"many", func(w *world, o *check.Options) {
			w.fs.SetSafeMode(true)
			w.fs.SetTrash(0)
			o.Approved = &planfile.Digest{1}
		}, []string{check.NotApproved, check.InSafeMode, check.NoTrash}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for i := range 9 {
				w.live.IDs = append(w.live.IDs, run(1000+i))
			}
			r, d := w.plan()
			w.fs.Advance(time.Hour)
			s := w.session(r, d, func(o *check.Options) { o.Approved = &d; c.change(w, o) })
			finds(t, s, c.want)
		})
	}
}

// surveyed is what NameNodes say of themselves.
type surveyed struct {
	execute.Surveyor
	all []execute.NameNodeState
}

func (s surveyed) NameNodes(context.Context) []execute.NameNodeState { return s.all }

func (s surveyed) Access(context.Context, execute.Ref, execute.Access) error { return nil }

// asked asks the cluster what the user may do.
type asked struct {
	surveyed
	c *fakehdfs.Client
}

func (s asked) Access(ctx context.Context, ref execute.Ref, want execute.Access) error {
	return s.c.Access(ctx, ref, want)
}

func survey(all ...execute.NameNodeState) surveyed { return surveyed{all: all} }

// TestPreflightOfPlans: plans of which something is wrong from the beginning.
func TestPreflightOfPlans(t *testing.T) {
	t.Parallel()
	quarantine := func(id uint64) func(w *world, h *planfile.Header) {
		return func(_ *world, h *planfile.Header) {
			h.Removal, h.Quarantine = planfile.RemovalQuarantine, []planfile.Place{{Path: "/quarantine", InodeID: id}}
		}
	}
	for _, c := range []struct {
		name   string
		edit   func(w *world, h *planfile.Header)
		change func(w *world, o *check.Options)
		want   []string
	}{
		{"not executable, without anchors", func(_ *world, h *planfile.Header) { h.Executable, h.Anchors = false, nil }, nil, []string{check.NotExecutable, check.NoAnchor}},
		{"expired at this moment", func(w *world, h *planfile.Header) { h.ExpiresMs = h.NowMs + 3_600_000 }, func(w *world, o *check.Options) {
			end := w.header.NowMs
			o.Now = func() time.Time { return time.UnixMilli(end) }
		}, []string{check.Expired}},
		{"not yet expired", func(w *world, h *planfile.Header) { h.ExpiresMs = h.NowMs + 3_600_000 }, func(w *world, o *check.Options) {
			end := w.header.NowMs
			o.Now = func() time.Time { return time.UnixMilli(end - 1) }
		}, nil},
		{"another nameservice", func(_ *world, h *planfile.Header) { h.Nameservice = "ns2" }, nil, []string{check.OtherNameservice}},
		{"cluster id", func(_ *world, h *planfile.Header) { h.Source.ClusterID = "CID-1" }, func(_ *world, o *check.Options) {
			o.Survey = survey(execute.NameNodeState{ClusterID: "CID-1", NamespaceID: 1}, execute.NameNodeState{ClusterID: "CID-2", NamespaceID: 1})
		}, []string{check.OtherCluster}},
		{"namespace id", nil, func(_ *world, o *check.Options) {
			o.Survey = survey(execute.NameNodeState{}, execute.NameNodeState{NamespaceID: 1}, execute.NameNodeState{NamespaceID: 2})
		}, []string{check.OtherCluster}},
		{"the same ids, or none", func(_ *world, h *planfile.Header) { h.Source.ClusterID = "CID-1" }, func(_ *world, o *check.Options) {
			o.Survey = survey(execute.NameNodeState{ClusterID: "CID-1", NamespaceID: 1}, execute.NameNodeState{})
		}, nil},
		{"no quarantine", quarantine(0), nil, []string{check.QuarantineDiffers}},
		{"quarantine is a file", quarantine(0), func(w *world, _ *check.Options) { w.fs.Put("/quarantine", "flink", nil) }, []string{check.QuarantineDiffers}},
		{"quarantine", quarantine(0), func(w *world, _ *check.Options) { w.fs.Mkdir("/quarantine", "flink", 0o755); w.fs.SetTrash(0) }, nil},
		{"another quarantine", quarantine(16_400), func(w *world, _ *check.Options) { w.fs.Mkdir("/quarantine", "flink", 0o755) }, []string{check.QuarantineDiffers}},
		{"a trash of a root that is only observed does not matter", func(_ *world, h *planfile.Header) {
			for i := range h.Roots {
				if h.Roots[i].Path != scratch {
					h.Roots[i].Mode = planfile.ModeObserve
				}
			}
		}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.items = nil
			w.edit = func(h *planfile.Header) {
				if c.edit != nil {
					c.edit(w, h)
				}
				w.header.NowMs = h.ExpiresMs // for the change
			}
			r, d := w.plan()
			s := w.session(r, d, func(o *check.Options) {
				if c.change != nil {
					c.change(w, o)
				}
			})
			finds(t, s, c.want)
		})
	}
}

// finds demands the problems of a preflight, in their order.
func finds(t *testing.T, s *check.Session, want []string) {
	t.Helper()
	got, err := s.Preflight(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, p := range got {
		codes = append(codes, p.Code)
	}
	if !slices.Equal(codes, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
