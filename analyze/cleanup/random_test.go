package cleanup

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"fsweep/analyze/flink"
)

// newSeed gives the first seed of a test; FSWEEP_RANDOM_SEED asks for new ones.
func newSeed(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(1)
	if os.Getenv("FSWEEP_RANDOM_SEED") != "" {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	return seed
}

// randomWorlds calls a test with many worlds. again makes the same world once more.
func randomWorlds(t *testing.T, n int, test func(t *testing.T, r *rand.Rand, w *world, again func() *world)) {
	t.Helper()
	if testing.Short() {
		n /= 10
	}
	first := newSeed(t)
	for i := range uint64(n) {
		again := func() *world { return randomWorld(rand.New(rand.NewPCG(first+i, 1))) }
		if test(t, rand.New(rand.NewPCG(first+i, 2)), again(), again); t.Failed() {
			t.Fatalf("seed %d", first+i)
		}
	}
}

var (
	someRuns   = []string{idA, idB, idC, idD, reused, "01234567-89ab-cdef-0123-456789abcdef"}
	somePoints = []string{spA, spB, spC, spOfAll, "savepoint-ffffff-000000000005", "savepoint-aaaaaa-000000000006"}
	someJobs   = []string{"j", "jj", "a b", "chk", "k%*"}
	someNames  = []string{"spark-1", "spark-2", "spark-3"}
	// Few, so that many are equal; some are at the edge of a limit.
	someAges = []float64{0.5, 1, 2, 3, 6, 6.5, 7, 10, 20, 20, 30, 40}
)

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func oneIn(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

// randomWorld makes up to three roots.
func randomWorld(r *rand.Rand) *world {
	w := &world{p: new(Policy), d: &flink.Discovery{}, in: Inputs{ImageTime: now, Now: now}}
	*w.p = defaults()
	w.p.LockDir = "/ops"
	if oneIn(r, 4) {
		w.p.Preflight = PreflightAll
	}
	for i := range 1 + r.IntN(3) {
		policy := randomPolicy(r, Path(fmt.Sprintf("/r%d", i)))
		w.p.Roots = append(w.p.Roots, policy)
		w.d.Roots = append(w.d.Roots, randomRoot(r, &policy))
		if policy.Layout == Savepoints && oneIn(r, 2) {
			w.in.JobMaps = map[Path]*JobMap{policy.Path: {dirs: map[string]string{spA: "j", spB: "j", spOfAll: "x"}, runs: map[string]string{"cccccc": "x"}}}
		}
	}
	if !oneIn(r, 4) {
		lives(pick(r, someRuns))(w)
		w.in.Live[0].Clusters = []string{pick(r, someJobs)}
	}
	if oneIn(r, 3) {
		w.in.SeenLive = []string{pick(r, someRuns), pick(r, someRuns)}
	}
	if oneIn(r, 2) {
		w.in.Pins = []Path{randomPath(r, w), randomPath(r, w) + "/chk-7"}
	}
	if oneIn(r, 3) {
		w.p.Protect = []Path{randomPath(r, w)}
	}
	if oneIn(r, 2) {
		w.p.Belts = Belts{MaxItems: Count(1 + r.IntN(5)), MaxInodesPerMove: Count(3 + r.IntN(10)), MaxInodes: Count(10 + r.IntN(30)), MaxBytes: Size(r.IntN(200)), MaxPercentOfRoot: Percent(1 + r.IntN(100))}
	}
	return w
}

// randomPath gives the path of a unit.
func randomPath(r *rand.Rand, w *world) Path {
	root := pick(r, w.d.Roots)
	for range 20 {
		if j := pick(r, root.Jobs); len(j.Units) > 0 {
			return Path(naivePath(root, j, pick(r, j.Units)))
		}
	}
	return "/nowhere"
}

func randomPolicy(r *rand.Rand, path Path) Root {
	p := defaultRoot(pick(r, []Layout{JobRun, JobRun, Run, Savepoints, HAStorage, Children}))
	p.Path, p.Mode, p.MinAge = path, pick(r, []Mode{Observe, Execute}), Duration(1+r.IntN(10))*24*hour
	if p.Layout == Children {
		p.Names = []Glob{"spark-*"}
	}
	if p.Groups() {
		p.Keep, p.KeepWithin = Count(1+r.IntN(3)), Duration(r.IntN(20))*24*hour
		if oneIn(r, 8) {
			p.OnTie = StopOnTie
		}
	}
	if p.Layout == JobRun || p.Layout == Run {
		if oneIn(r, 2) {
			p.StaleCheckpoints = &StaleCheckpoints{KeepNewest: Count(1 + r.IntN(2)), OlderThan: Duration(1+r.IntN(10)) * 24 * hour}
		}
		if oneIn(r, 2) {
			p.UnreferencedShared = &UnreferencedShared{OlderThan: 168 * hour}
		}
	}
	return p
}

func randomRoot(r *rand.Rand, p *Root) *flink.Root {
	root := &flink.Root{Declared: declaration(p), Path: []byte(p.Path), INodeID: 1, Totals: flink.Totals{Directories: int64(10 + r.IntN(200))}, Marked: oneIn(r, 30)}
	if oneIn(r, 15) {
		root.NumMisfits = 1
	}
	names := map[Layout][]string{JobRun: someRuns, Run: someRuns, Savepoints: somePoints, HAStorage: someJobs, Children: someNames}[p.Layout]
	if p.Layout != JobRun {
		root.Jobs = append(root.Jobs, randomJob(r, p, "", names))
	}
	if p.Groups() {
		for _, i := range r.Perm(len(someJobs))[:r.IntN(4)] {
			root.Jobs = append(root.Jobs, randomJob(r, p, someJobs[i], names))
		}
	}
	if len(root.Jobs) == 0 {
		root.Jobs = append(root.Jobs, randomJob(r, p, "j", names))
	}
	return root
}

func randomJob(r *rand.Rand, p *Root, name string, names []string) *flink.Job {
	j := &flink.Job{Name: name, Selected: !oneIn(r, 15)}
	if name != "" {
		j.Marked, j.NumUnknown = oneIn(r, 20), int64(max(0, r.IntN(12)-10))
	}
	for _, i := range r.Perm(len(names))[:r.IntN(len(names)+1)] {
		u := randomUnit(r, p, names[i])
		u.Selected = j.Selected
		j.Units = append(j.Units, u)
	}
	return j
}

func randomUnit(r *rand.Rand, p *Root, name string) *flink.Unit {
	var u *flink.Unit
	switch age := pick(r, someAges); p.Layout {
	case JobRun, Run:
		u = randomRun(r, name, age)
	case Savepoints:
		if u = sp(name, age); oneIn(r, 4) {
			nothingComplete(u)
			u.Metadata = nil
		}
	case HAStorage:
		u = unit(flink.ClusterUnit, name, age)
	case Children:
		u = unit(flink.ChildUnit, name, age)
	}
	if oneIn(r, 4) {
		touch(pick(r, someAges))(u)
		u.Times.Newest.Ms = max(u.Times.Newest.Ms, u.Times.NewestMetadataMs)
		u.Times.Rank, u.NewestFile = u.Times.Newest, u.Times.Newest
	}
	if u.Skeleton {
		u.NewestFile = flink.Stamp{}
	} else if age := pick(r, someAges); oneIn(r, 3) && days(age) > u.Times.Newest.Ms {
		touchDir(age)(u)
	}
	switch r.IntN(40) {
	case 0:
		u.Marked = true
	case 1:
		u.MarkedInside = true
	case 2:
		u.OpenFiles = 1
	case 3:
		u.Flags = pick(r, []flink.Flags{{Quota: true}, {QuotaInside: true}, {SnapshotsInside: true}, {SnapshotsAbove: true}, {EncryptionZone: true}, {Encrypted: true}})
	case 4:
		u.Times.UnknownMTimes, u.Times.OldestMs = 1, -3
	case 5:
		u.Times.Newest.Ms, u.Times.Rank.Ms, u.NewestFile.Ms = days(-0.5), days(-0.5), days(-0.5)
	case 6, 7:
		u.Times.NewestDataATimeMs = days(pick(r, someAges))
	case 8:
		u.NumUnknown = 1
	}
	return u
}

func randomRun(r *rand.Rand, name string, age float64) *flink.Unit {
	u := unit(flink.RunUnit, name, age)
	for range r.IntN(5) {
		n := int64(r.IntN(12))
		old := age + pick(r, someAges) - someAges[0]
		if oneIn(r, 6) {
			old = age
		}
		var edits []func(*flink.Checkpoint)
		if oneIn(r, 8) {
			edits = append(edits, pick(r, []func(*flink.Checkpoint){
				func(c *flink.Checkpoint) { c.Marked = true }, func(c *flink.Checkpoint) { c.OpenFiles = 1 }, emptyMetadata,
				leftover(old, false), func(c *flink.Checkpoint) { c.Times.UnknownMTimes = 1 },
			}))
		}
		if !hasCheckpoint(u, n) {
			chk(n, old, !oneIn(r, 3), edits...)(u)
		}
	}
	u.Skeleton = len(u.Checkpoints) == 0 && oneIn(r, 2)
	if !u.Skeleton {
		u.Shared, u.Taskowned = flink.Area{INodeID: u.INodeID + 1, Totals: flink.Totals{Directories: 1, Files: 3}}, flink.Area{INodeID: u.INodeID + 2, Totals: flink.Totals{Directories: 1}}
	}
	return u
}

func hasCheckpoint(u *flink.Unit, n int64) bool {
	for _, c := range u.Checkpoints {
		if c.N == n {
			return true
		}
	}
	return false
}
