package plan

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"fsweep/fsimage/imagetest"
	pb "fsweep/proto/fsimage"
	"fsweep/proto/planfile"
)

// jobRun is a policy with one executable root.
const jobRun = "belts: {max_percent_of_root: 100%}\nroots: [{path: /f/cp, layout: job-run, mode: execute}]\n"

// old makes a job with a kept run and an old one, which becomes an item.
func (w *world) old(job string) {
	w.put(job+"/"+runA+"/chk-9/_metadata", 2, 10)
	w.put(job+"/"+runB+"/chk-4/_metadata", 400, 20)
	w.put(job+"/"+runB+"/shared/s", 400, 30)
}

func paths(places []planfile.Place) (out []string) {
	for _, p := range places {
		out = append(out, string(p.Path))
	}
	return out
}

// TestHeader has every key of a policy that an executor must know.
func TestHeader(t *testing.T) {
	t.Parallel()
	w := newWorld(`preflight: all
removal: quarantine:/q/box
plan_ttl: 12h
guard_age: 36h
unreadable_guard: everything
foreign_authorities: [other:8020]
hold_paths: [/ops/fsweep/HOLD, /ops/file]
protect: [/f/cp/keep, /f/file, "/f/zażółć"]
belts: {max_items: 7, max_inodes_per_move: 8, max_inodes: 9, max_bytes: 1kB, max_percent_of_root: 11%, min_trash_interval: 48h}
pace: {between_items: 1ms, batch: 2, between_batches: 3s, between_roots: 4s, rpc_timeout: 5s, window: "22:15-04:00", stop_on: "mismatch:6%"}
roots:
  - {path: /f/cp, layout: job-run, mode: execute}
  - {path: /f/none, layout: job-run}
`)
	w.warnings = []string{"one", "two", "one", "bad\xff"}
	w.old("/f/cp/job")
	file, keep, odd := w.put("/f/file", 1, 3), w.put("/f/cp/keep/", 1), w.put("/f/zażółć", 1, 3)
	lock, hold, box := w.put("/ops/fsweep/", 1), w.put("/ops/file", 1), w.put("/q/box/", 1)
	m := w.write(t, 1)
	h := m.plan.Header
	want := planfile.Header{
		Format: 1, Tool: "fsweep", Version: "1", Source: h.Source,
		Policy: planfile.Policy{Name: "policy.yaml", Digest: m.policy.Digest()},
		NowMs:  w.now.UnixMilli(), ExpiresMs: imageTime.UnixMilli() + 12*hour, Nameservice: "ns1",
		Warnings: []string{"one", "two", `bad\xff`, "the hold path /ops/file exists: nothing is executed while it does"}, Preflight: "all", Removal: "quarantine", Quarantine: []planfile.Place{{Path: "/q/box", InodeID: box.ID}},
		UnreadableGuard: "everything", GuardAgeMs: 36 * hour, ForeignAuthorities: []string{"other:8020"},
		LockDir:   planfile.Place{Path: "/ops/fsweep", InodeID: lock.ID},
		HoldPaths: []planfile.Place{{Path: "/ops/file", InodeID: hold.ID}, {Path: "/ops/fsweep/HOLD"}},
		Anchors:   h.Anchors,
		Protect:   []planfile.Place{{Path: "/f/cp/keep", InodeID: keep.ID}, {Path: "/f/file", InodeID: file.ID}, {Path: "/f/zażółć", InodeID: odd.ID}},
		Belts:     planfile.Belts{MaxItems: 7, MaxInodesPerMove: 8, MaxInodes: 9, MaxBytes: 1000, MaxPercentOfRoot: 11, MinTrashIntervalMs: 48 * hour},
		Pace:      planfile.Pace{BetweenItemsMs: 1, Batch: 2, BetweenBatchesMs: 3000, BetweenRootsMs: 4000, RPCTimeoutMs: 5000, Window: "22:15-04:00", StopOn: "mismatch:6%"},
		Roots: []planfile.Root{
			{Path: "/f/cp", InodeID: w.it.Dir("/f/cp").ID, Layout: "job-run", Mode: "execute", Inodes: 11, Stopped: []planfile.Stop{{Reason: "other_root_stopped", Path: "/f/none"}}},
			{Path: "/f/none", Layout: "job-run", Mode: "observe", Stopped: []planfile.Stop{{Reason: "missing_root: ", Path: "/f/none"}}},
		},
	}
	want.Roots[1].Stopped[0].Reason = h.Roots[1].Stopped[0].Reason // its sentence is another package's
	if diff := cmp.Diff(want, h); diff != "" {
		t.Error(diff)
	}
	if s := h.Source; s.ImageTimeMs != imageTime.UnixMilli() || s.Image != "fsimage_1" {
		t.Errorf("%+v", s)
	}
	if r := h.Roots[1].Stopped[0].Reason; !strings.HasPrefix(r, "missing_root") {
		t.Error(r)
	}
	if got, want := paths(h.Anchors), []string{"/f", "/f/cp", "/ops", "/ops/fsweep"}; !cmp.Equal(got, want) {
		t.Error(got)
	}
	if len(m.plan.items) > 0 || len(m.plan.guards) != 2 {
		t.Error("items in roots that are stopped, or no guards")
	}
}

// TestExecutable: which plans an executor may act on.
func TestExecutable(t *testing.T) {
	t.Parallel()
	const good, missing, observed = "  - {path: /f/cp, layout: job-run, mode: execute}\n", "  - {path: /f/none, layout: job-run, mode: execute}\n", "  - {path: /g/cp, layout: job-run}\n"
	for _, tc := range []struct {
		policy               string
		complete, executable bool
	}{
		{"roots:\n" + good, true, true},
		{"roots:\n" + good + observed, true, true},
		{"roots:\n" + observed, true, false},
		{"roots:\n" + missing, false, false},
		{"roots:\n" + good + missing, false, true},
		{"roots:\n" + observed + missing, false, false},
		{"preflight: all\nroots:\n" + good + missing, false, false},
		{"preflight: all\nroots:\n" + good + observed, true, true},
	} {
		w := newWorld(tc.policy)
		w.old("/f/cp/job")
		w.old("/g/cp/job")
		m := w.write(t, 1)
		if m.plan.Complete != tc.complete || m.plan.Executable != tc.executable {
			t.Errorf("complete %v, executable %v: %s", m.plan.Complete, m.plan.Executable, tc.policy)
		}
	}
}

// TestAnchors: an image without a root, without a lock directory, and with nothing.
func TestAnchors(t *testing.T) {
	t.Parallel()
	w := newWorld("roots: [{path: /none, layout: job-run}]\n")
	for _, d := range []string{"/b", "/a", "/d", "/c", "/e"} {
		w.put(d+"/x/", 9)
	}
	if got, want := paths(w.write(t, 1).plan.Anchors), []string{"/a", "/b", "/c", "/d"}; !cmp.Equal(got, want) {
		t.Error(got)
	}
	w = newWorld("roots: [{path: /none, layout: job-run}]\n")
	if m := w.write(t, 1); len(m.plan.Anchors) != 0 || m.plan.Executable {
		t.Error(m.plan.Anchors)
	}
	policy := "roots:\n"
	for i := range 40 {
		policy += "  - {path: /p/" + strings.Repeat("d", i+1) + "/r, layout: job-run}\n"
	}
	w = newWorld(policy)
	for i := range 40 {
		w.put("/p/"+strings.Repeat("d", i+1)+"/r/", 9)
	}
	if got := w.write(t, 1).plan.Anchors; len(got) != 32 || got[0].Path != "/p/d/r" {
		t.Error(len(got), got[0])
	}
}

// TestProtectMissing: a path that nobody has protects nothing.
func TestProtectMissing(t *testing.T) {
	t.Parallel()
	w := newWorld("protect: [/f/cp/b/y, /f/cp/job, /f/cp/a]\n" + jobRun)
	w.old("/f/cp/job")
	r, _ := w.request(t, 1)
	var out bytes.Buffer
	_, err := Write(t.Context(), &out, r)
	if !errors.Is(err, ErrNotFound) || !strings.HasSuffix(err.Error(), ": ['/f/cp/a', '/f/cp/b/y']") || out.Len() > 0 {
		t.Error(err, out.Len())
	}
}

// TestWaivers: until when, and which have no effect.
func TestWaivers(t *testing.T) {
	t.Parallel()
	w := newWorld("")
	ok, late := w.put("/f/cp/job/"+runA+"/chk-9/_metadata", 2, 10), w.put("/f/cp/job/"+runB+"/chk-9/_metadata", 3, 10)
	w.put("/f/cp/job/"+runC+"/chk-9/_metadata", 3, 10)
	w.policy += fmt.Sprintf(`waive_guards:
  - {inode_id: %d, reason: "block lost", expires: 2026-01-01}
  - {inode_id: %d, reason: "gone", expires: 2025-12-31}
  - {inode_id: 99999, reason: "none", expires: 2026-05-05}
`, ok.ID, late.ID) + jobRun
	m := w.write(t, 1)
	until := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC).UnixMilli()
	waived := 0
	for _, g := range m.plan.guards {
		if g.Waived != "" {
			waived++
			if g.InodeID != ok.ID || g.Waived != "block lost" || g.WaivedUntilMs != until {
				t.Errorf("%+v", g)
			}
		}
	}
	want := []string{fmt.Sprintf("The waiver of guard %d expired on 2025-12-31: it counts again.", late.ID), "The waiver of guard 99999 has no effect: the image has no such guard."}
	if waived != 1 || !cmp.Equal(m.plan.Warnings, want) {
		t.Errorf("%d waived, %q", waived, m.plan.Warnings)
	}
}

// TestGuardsWithoutName: what cannot be asked could refer to anything.
func TestGuardsWithoutName(t *testing.T) {
	t.Parallel()
	for _, change := range []func(it *imagetest.Tree){
		func(it *imagetest.Tree) { it.FileIn(it.DirIn(it.Dir("/x"), ".."), "_metadata", 5) },
		func(it *imagetest.Tree) { it.FileIn(it.DirIn(it.Dir("/x"), "a/b"), "completedCheckpoint1", 5) },
		func(it *imagetest.Tree) { it.FileIn(it.Dir("/x"), "_metadata"); it.FileIn(it.Dir("/x"), "_metadata") },
	} {
		w := newWorld(jobRun)
		w.old("/f/cp/job")
		change(w.it)
		r, _ := w.request(t, 1)
		var out bytes.Buffer
		if _, err := Write(t.Context(), &out, r); !errors.Is(err, ErrImage) || out.Len() > 0 {
			t.Error(err, out.Len())
		}
	}
}

// TestContradictions: items of which the image does not say one thing are left out,
// with all items of their job, and their guards are outside.
func TestContradictions(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]func(w *world, m *imagetest.Image){
		"an inode without a record": func(w *world, m *imagetest.Image) {
			m.Section(imagetest.INodeDir).Add(&pb.INodeDirectorySection_DirEntry{Parent: proto.Uint64(w.it.Dir("/f/cp/bad/" + runB + "/chk-4").ID), Children: []uint64{88888}})
		},
		"two directories of one name": nil,
		"a name that is none":         nil,
	} {
		w := newWorld("belts: {max_percent_of_root: 100%}\nroots: [{path: /f/cp, layout: job-run, mode: execute}, {path: /t, layout: children, names: [sp*], min_age: 1h, mode: execute}]\n")
		w.old("/f/cp/bad")
		w.put("/f/cp/bad/"+runC+"/chk-4/_metadata", 500, 20)
		w.old("/f/cp/good")
		w.put("/t/spark/x/y", 600, 1)
		bad := 0
		switch name {
		case "two directories of one name":
			w.it.DirIn(w.it.Dir("/t/spark"), "x").MTimeMs = 1e12
			bad = 1
		case "a name that is none":
			w.it.DirIn(w.it.Dir("/t/spark"), "..").MTimeMs = 1e12
			bad = 1
		}
		image := w.it.Image()
		if breaks != nil {
			breaks(w, image)
		}
		w.image = image
		m := w.write(t, 2)
		var got []string
		for _, i := range m.plan.items {
			got = append(got, string(i.Path))
		}
		want := []string{"/f/cp/good/" + runB, "/t/spark"}
		if bad == 1 {
			want = []string{"/f/cp/bad/" + runB, "/f/cp/bad/" + runC, "/f/cp/good/" + runB}
		}
		if !cmp.Equal(got, want) || len(m.plan.Warnings) != 1 || !strings.Contains(m.plan.Warnings[0], "contradicts itself about 1 item:") {
			t.Errorf("%s: %q, %q", name, got, m.plan.Warnings)
		}
		for _, g := range m.plan.guards {
			if in := strings.Contains(string(g.Path), "/"+runB+"/") && (bad == 1 || strings.Contains(string(g.Path), "/good/")); bad == 0 && (g.Item != 0) != in {
				t.Errorf("%s: %+v", name, g)
			}
		}
	}
}

// TestUnusable has places of the policy with which no executor can begin.
func TestUnusable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		there []string
		want  []string
	}{
		{nil, []string{"the quarantine /q/box is not in the image: nothing of this plan can be executed; make it, and plan from an image that has it"}},
		{[]string{"/q/box/", "/ops/fsweep/"}, nil},
		{[]string{"/q/boxes/", "/q/b", "/ops/fsweep/HOLDER"}, []string{"the quarantine /q/box is not in the image: nothing of this plan can be executed; make it, and plan from an image that has it"}},
		{
			[]string{"/q/box", "/ops/fsweep"},
			[]string{"the lock directory /ops/fsweep is no directory: nothing can be executed", "the quarantine /q/box is no directory: nothing can be executed"},
		},
		{
			[]string{"/q/box/", "/ops/fsweep/HOLD/", "/ops/hold"},
			[]string{"the hold path /ops/fsweep/HOLD exists: nothing is executed while it does", "the hold path /ops/hold exists: nothing is executed while it does"},
		},
	} {
		w := newWorld("removal: quarantine:/q/box\nhold_paths: [/ops/fsweep/HOLD, /ops/hold]\n" + jobRun)
		w.old("/f/cp/job")
		for _, path := range c.there {
			w.put(path, 1)
		}
		if got := w.write(t, 1).plan.Warnings; !slices.Equal(got, c.want) {
			t.Errorf("with %q:\n%s", c.there, cmp.Diff(c.want, got))
		}
	}
}
