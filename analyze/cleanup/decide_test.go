package cleanup

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fsweep/analyze/flink"
	"fsweep/analyze/namespace"
)

// Ids of runs, and names of savepoints with their digits.
const (
	idA     = "aaaaaa00000000000000000000000001"
	idB     = "bbbbbb00000000000000000000000002"
	idC     = "cccccc00000000000000000000000003"
	idD     = "dddddd00000000000000000000000004"
	idE     = "eeeeee00000000000000000000000005"
	reused  = "ffffffff8e2d96d90000000000000000"
	spA     = "savepoint-aaaaaa-000000000001"
	spB     = "savepoint-bbbbbb-000000000002"
	spC     = "savepoint-cccccc-000000000003"
	spOfAll = "savepoint-000000-000000000004"
)

// days is a time so many days before the image.
func days(n float64) int64 { return now.Add(-time.Duration(n * 24 * float64(time.Hour))).UnixMilli() }

var nextID atomic.Uint64

// run makes a run of which everything is so many days old, with a complete chk-7
// and state.
func run(name string, age float64, edits ...func(*flink.Unit)) *flink.Unit {
	return unit(flink.RunUnit, name, age, append([]func(*flink.Unit){chk(7, age, true)}, edits...)...)
}

func sp(name string, age float64, edits ...func(*flink.Unit)) *flink.Unit {
	complete := func(u *flink.Unit) {
		u.Metadata = &flink.File{Name: "_metadata", Length: 1, MTimeMs: days(age)}
		u.Times.NewestMetadataMs, u.Times.HasMetadata = days(age), true
	}
	return unit(flink.SavepointUnit, name, age, append([]func(*flink.Unit){complete}, edits...)...)
}

func unit(kind flink.UnitKind, name string, age float64, edits ...func(*flink.Unit)) *flink.Unit {
	u := &flink.Unit{
		Kind: kind, Name: name, INodeID: nextID.Add(1000), ParentID: 1, Selected: true, RunID: kind == flink.RunUnit,
		ConstantID: strings.HasSuffix(name, "0000000000000000"), Totals: flink.Totals{Directories: 3, Files: 7, Length: 70},
		Times:  flink.Times{OldestMs: days(age)},
		Shared: flink.Area{Dir: namespace.NoDir}, Taskowned: flink.Area{Dir: namespace.NoDir},
	}
	touch(age)(u)
	for _, edit := range edits {
		edit(u)
	}
	return u
}

// touch makes the newest thing in a unit, a file, so many days old.
func touch(age float64) func(*flink.Unit) {
	return func(u *flink.Unit) {
		u.NewestFile = flink.Stamp{Ms: days(age), Place: flink.SharedPlace}
		u.Times.Newest, u.Times.Rank = u.NewestFile, u.NewestFile
	}
}

// touchDir does so with a directory, as moving something out of it does.
func touchDir(age float64) func(*flink.Unit) {
	return func(u *flink.Unit) {
		u.Times.Newest = flink.Stamp{Ms: days(age), Place: flink.DirectoryPlace}
		u.Times.Rank = u.Times.Newest
	}
}

// chk adds a checkpoint, with a `_metadata` or without.
func chk(n int64, age float64, complete bool, edits ...func(*flink.Checkpoint)) func(*flink.Unit) {
	return func(u *flink.Unit) {
		c := &flink.Checkpoint{
			N: n, INodeID: u.INodeID + uint64(n) + 10, MTimeMs: days(age), Totals: flink.Totals{Directories: 1, Files: 2, Length: 20},
			Times: flink.Times{Newest: flink.Stamp{Ms: days(age), Place: flink.CheckpointPlace}, OldestMs: days(age)},
		}
		if complete {
			c.Metadata = &flink.File{Name: "_metadata", Length: 1, MTimeMs: days(age)}
			c.Times.NewestMetadataMs, c.Times.HasMetadata = days(age), true
			u.Times.NewestMetadataMs, u.Times.HasMetadata = max(u.Times.NewestMetadataMs, days(age)), true
		}
		for _, edit := range edits {
			edit(c)
		}
		u.Checkpoints = append(u.Checkpoints, c)
		slices.SortFunc(u.Checkpoints, func(a, b *flink.Checkpoint) int { return int(a.N - b.N) })
	}
}

// nothingComplete takes all checkpoints away.
func nothingComplete(u *flink.Unit) {
	u.Checkpoints, u.Times.HasMetadata, u.Times.NewestMetadataMs = nil, false, 0
}

func skeleton(u *flink.Unit) {
	nothingComplete(u)
	u.NewestFile = flink.Stamp{}
	u.Skeleton, u.Totals = true, flink.Totals{Directories: 3}
}

func job(name string, units ...*flink.Unit) *flink.Job {
	return &flink.Job{Name: name, Selected: true, Units: units}
}

// world is one root with its policy.
type world struct {
	p  *Policy
	d  *flink.Discovery
	in Inputs
}

// root makes a root /r. Belts hold nothing back.
func root(layout Layout, jobs ...*flink.Job) *world {
	r := defaultRoot(layout)
	r.Path, r.Mode = "/r", Execute
	r.KeepWithin = 0
	if layout == Children {
		r.Names, r.MinAge = []Glob{"spark-*"}, 144*hour
	}
	w := &world{p: new(Policy), d: &flink.Discovery{}, in: Inputs{ImageTime: now, Now: now}}
	*w.p = defaults()
	w.p.LockDir, w.p.Roots, w.p.Belts.MaxPercentOfRoot = "/ops", []Root{r}, 100
	w.d.Roots = []*flink.Root{{Declared: declaration(&r), Path: []byte("/r"), INodeID: 1, Totals: flink.Totals{Directories: 1 << 30}, Jobs: jobs}}
	return w
}

func (w *world) with(edits ...func(*world)) *world {
	for _, edit := range edits {
		edit(w)
	}
	return w
}

func (w *world) root() *Root { return &w.p.Roots[0] }

func (w *world) decide(t testing.TB) *Decision {
	t.Helper()
	for _, r := range w.d.Roots {
		i := slices.IndexFunc(w.p.Roots, func(p Root) bool { return string(p.Path) == string(r.Path) })
		r.Declared = declaration(&w.p.Roots[i])
	}
	d, err := Decide(w.d, w.p, w.in)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// lives says that these ids exist, and the ConfigMaps of these clusters.
func lives(ids ...string) func(*world) {
	return func(w *world) {
		w.in.Live = []*LiveSet{{Name: "k8s", Format: Kubernetes, IDs: append([]string{"eeeeee00000000000000000000000009"}, ids...), Clusters: ids, HAConfigMaps: 3}}
	}
}

// said gives, for every unit, its name in short and the rules that keep it, or the
// one that selects it.
func said(d *Decision) map[string]string {
	out := map[string]string{}
	for _, r := range d.Roots {
		for _, j := range r.Jobs {
			for _, u := range j.Units {
				text := "MOVE " + string(u.Rule)
				if u.Verdict == Keep {
					var rules []string
					for _, f := range u.Keeps {
						rules = append(rules, string(f.Rule))
					}
					text = strings.Join(rules, " ")
				}
				out[strings.TrimPrefix(string(u.Path), "/r/")] = text
			}
		}
	}
	return out
}

// moved gives the kinds and paths of all items, also of those that are deferred.
func moved(d *Decision) []string {
	var out []string
	for _, i := range slices.Concat(d.Items, d.Deferred) {
		out = append(out, fmt.Sprintf("%s %s", i.Kind, strings.TrimPrefix(string(i.Path), "/r/")))
	}
	slices.Sort(out)
	return out
}

// sentence is a rule of the design with a world in which it shows.
type sentence struct {
	says string
	w    *world
	want map[string]string // by unit
}

func checkSentences(t *testing.T, list []sentence) {
	t.Helper()
	for _, s := range list {
		t.Run(s.says, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(s.want, said(s.w.decide(t))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

const beyond = "MOVE beyond_keep"

func TestInputsThatDecideNothing(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*world){
		"no image time":                            func(w *world) { w.in.ImageTime = time.Time{} },
		"now is before the image":                  func(w *world) { w.in.Now = now.Add(-time.Second) },
		"a live source is missing":                 func(w *world) { w.p.Live = []LiveSource{{File: "other"}} },
		"a live source is empty":                   func(w *world) { w.in.Live = []*LiveSet{{Name: "k8s"}} },
		"a live source lost a tenth of its ids":    func(w *world) { lives()(w); w.in.PreviousLive = map[string]LiveCount{"k8s": {IDs: 2}} },
		"a live source lost its clusters":          func(w *world) { lives()(w); w.in.PreviousLive = map[string]LiveCount{"k8s": {IDs: 1, Clusters: 5}} },
		"the job map is missing":                   func(w *world) { w.p.Roots[0].JobMap = "m" },
		"the root was looked at in another layout": func(w *world) { w.d.Roots[0].Declared.Layout = flink.RunLayout },
		"an exclude came after the look":           func(w *world) { w.p.Roots[0].ExcludeJobs = []Name{"job"} },
		"a root was not looked at":                 func(w *world) { w.d.Roots = nil },
	} {
		w := root(JobRun, job("job", run(idA, 10))).with(edit)
		if d, err := Decide(w.d, w.p, w.in); d != nil || !errors.Is(err, ErrDecide) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// 18 of 20 are a tenth less, 18 of 19 are not.
	for before, want := range map[int]bool{18: true, 19: true, 20: false, 30: false} {
		w := root(JobRun).with(lives())
		for i := range 17 {
			w.in.Live[0].IDs = append(w.in.Live[0].IDs, fmt.Sprintf("%032x", i))
		}
		w.in.PreviousLive = map[string]LiveCount{"k8s": {IDs: before}, "gone": {IDs: 9}}
		if _, err := Decide(w.d, w.p, w.in); (err == nil) != want {
			t.Errorf("18 ids after %d: %v", before, err)
		}
	}
}

// TestLayoutNames: the names of layouts are those of analyze/flink.
func TestLayoutNames(t *testing.T) {
	t.Parallel()
	for _, l := range []Layout{JobRun, Run, Savepoints, HAStorage, Children} {
		if got, ok := flink.ParseLayout(string(l)); !ok || got.String() != string(l) {
			t.Error(l, got)
		}
	}
}

// shuffle changes the order of all that has none.
func (w *world) shuffle(r *rand.Rand) {
	r.Shuffle(len(w.p.Roots), func(i, j int) { w.p.Roots[i], w.p.Roots[j] = w.p.Roots[j], w.p.Roots[i] })
	r.Shuffle(len(w.d.Roots), func(i, j int) { w.d.Roots[i], w.d.Roots[j] = w.d.Roots[j], w.d.Roots[i] })
	r.Shuffle(len(w.in.Pins), func(i, j int) { w.in.Pins[i], w.in.Pins[j] = w.in.Pins[j], w.in.Pins[i] })
	r.Shuffle(len(w.in.SeenLive), func(i, j int) { w.in.SeenLive[i], w.in.SeenLive[j] = w.in.SeenLive[j], w.in.SeenLive[i] })
	for _, root := range w.d.Roots {
		r.Shuffle(len(root.Jobs), func(i, j int) { root.Jobs[i], root.Jobs[j] = root.Jobs[j], root.Jobs[i] })
		for _, j := range root.Jobs {
			r.Shuffle(len(j.Units), func(a, b int) { j.Units[a], j.Units[b] = j.Units[b], j.Units[a] })
		}
	}
}

func sorted(list []string) map[string]bool {
	set := map[string]bool{}
	for _, s := range list {
		set[s] = true
	}
	return set
}
