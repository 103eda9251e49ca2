package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"fsweep/execute"
)

// vast is a cluster that is computed, not held: jobs with runs, which all have one checkpoint.
// The last run of each job is kept.
type vast struct {
	runs, jobs int // runs that are planned

	mu    sync.Mutex
	clock time.Time
	moved []bool // runs
	user  byte   // number of the process
	named map[string]uint64
	up    map[uint64]uint64
	calls int32
	asked int
	peak  uint64 // bytes that the program had from the system
}

const (
	vastRoot  = 10
	vastJob   = 1000
	vastRun   = 1_000_000 // run, chk-1, shared and _metadata have consecutive ids
	vastMTime = 1_790_000_000_000
	vastTrash = "/user/flink/.Trash/Current"
)

func newVast(jobs, perJob int) *vast {
	v := &vast{
		runs: jobs * perJob, jobs: jobs, clock: time.UnixMilli(vastMTime).Add(20 * 24 * time.Hour), moved: make([]bool, jobs*perJob+jobs),
		named: map[string]uint64{}, up: map[uint64]uint64{1: 1, vastRoot: 1},
	}
	for _, p := range []string{"/user/flink", "/ops/fsweep"} {
		v.make(p)
	}
	return v
}

// make makes a directory that is held.
func (v *vast) make(p string) uint64 {
	if p == "/" {
		return 1
	}
	if id, ok := v.named[p]; ok {
		return id
	}
	id := uint64(20 + len(v.named))
	if id >= vastJob {
		id += vastRun + 4*uint64(len(v.moved))
	}
	v.named[p] = id
	v.up[id] = v.make(path.Dir(p))
	return id
}

func (v *vast) job(n int) int {
	if n >= v.runs {
		return n - v.runs
	}
	return n / (v.runs / v.jobs)
}

func (v *vast) jobPath(j int) string { return fmt.Sprintf("/c/job%06d", j) }
func (v *vast) runPath(n int) string { return fmt.Sprintf("%s/%s", v.jobPath(v.job(n)), vastName(n)) }
func vastName(n int) string          { return fmt.Sprintf("a1b2c3d4e5f60718293a4b5c%08x", n) }
func vastID(n int) uint64            { return vastRun + 4*uint64(n) }
func (v *vast) isRun(id uint64) bool { return id >= vastRun && id < vastID(len(v.moved)) }

// tick counts a question.
func (v *vast) tick() {
	v.clock = v.clock.Add(100 * time.Microsecond)
	if v.asked++; v.asked%5_000 == 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		v.peak = max(v.peak, m.Sys-m.HeapReleased)
	}
}

func (v *vast) find(p string) (uint64, bool) {
	trashed := strings.HasPrefix(p, vastTrash+"/c/job")
	if trashed {
		p = strings.TrimPrefix(p, vastTrash)
		if id, ok := v.named[vastTrash+p]; ok {
			return id, true
		}
	}
	rest, ok := strings.CutPrefix(p, "/c/job")
	if p == "/c" {
		return vastRoot, true
	}
	if !ok {
		id, ok := v.named[p]
		return id, ok
	}
	parts := strings.Split(rest, "/")
	j, err := strconv.Atoi(parts[0])
	if err != nil || j >= v.jobs {
		return 0, false
	}
	if len(parts) == 1 {
		return vastJob + uint64(j), !trashed
	}
	name, ok := strings.CutPrefix(parts[1], "a1b2c3d4e5f60718293a4b5c")
	n, err := strconv.ParseUint(name, 16, 32)
	if !ok || err != nil || int(n) >= len(v.moved) || v.moved[n] != trashed {
		return 0, false
	}
	k, ok := map[string]uint64{"": 0, "chk-1": 1, "shared": 2, "chk-1/_metadata": 3}[strings.Join(parts[2:], "/")]
	return vastID(int(n)) + k, ok
}

func (v *vast) parent(id uint64) uint64 {
	switch {
	case v.isRun(id):
		n, k := int(id-vastRun)/4, (id-vastRun)%4
		switch {
		case k == 3:
			return id - 2
		case k > 0:
			return id - k
		case v.moved[n]:
			return v.named[vastTrash+v.jobPath(v.job(n))]
		}
		return vastJob + uint64(v.job(n))
	case id >= vastJob && id < vastRun:
		return vastRoot
	}
	return v.up[id]
}

func (v *vast) status(id uint64) *execute.Status {
	s := &execute.Status{ID: id, Kind: execute.Directory, MTimeMs: vastMTime, Owner: "flink", Group: "flink", Permission: 0o755}
	if v.isRun(id) {
		s.Children = []int64{2, 1, 0, 0}[(id-vastRun)%4]
		if (id-vastRun)%4 == 3 {
			s.Kind, s.Length = execute.File, int64(len(vastMetadata))
		}
	}
	return s
}

func (v *vast) resolve(ref execute.Ref) (uint64, bool) {
	rest, ok := strings.CutPrefix(ref.Path(), "/.reserved/.inodes/")
	if !ok {
		return v.find(ref.Path())
	}
	number, up := strings.CutSuffix(rest, "/..")
	id, err := strconv.ParseUint(number, 10, 64)
	if err == nil && up {
		id = v.parent(id)
	}
	return id, err == nil && id != 0
}

func (v *vast) Stat(_ context.Context, ref execute.Ref) (*execute.Status, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tick()
	id, ok := v.resolve(ref)
	if !ok {
		return nil, execute.ErrNotFound
	}
	return v.status(id), nil
}

func (v *vast) List(_ context.Context, dir execute.Ref, _ []byte) (*execute.Page, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tick()
	id, ok := v.resolve(dir)
	if !ok {
		return nil, execute.ErrNotFound
	}
	page := &execute.Page{}
	add := func(id uint64, name string) {
		s := v.status(id)
		s.Name = []byte(name)
		page.Entries = append(page.Entries, *s)
	}
	switch {
	case id == v.named["/user/flink/.Trash"]:
		add(v.named[vastTrash], "Current")
	case id == vastRoot:
		for j := range v.jobs {
			add(vastJob+uint64(j), path.Base(v.jobPath(j)))
		}
	case v.isRun(id) && (id-vastRun)%4 == 0:
		add(id+1, "chk-1")
		add(id+2, "shared")
	case v.isRun(id) && (id-vastRun)%4 == 1:
		add(id+2, "_metadata")
	case id >= vastJob && id < vastRun:
		j, each := int(id-vastJob), v.runs/v.jobs
		for n := j * each; n < (j+1)*each; n++ {
			if !v.moved[n] {
				add(vastID(n), vastName(n))
			}
		}
		add(vastID(v.runs+j), vastName(v.runs+j))
	}
	return page, nil
}

var vastMetadata = metadata("/elsewhere/shared/x")

func (v *vast) Read(_ context.Context, _ execute.FileID, use func(io.Reader) error) error {
	v.mu.Lock()
	v.tick()
	v.mu.Unlock()
	return use(bytes.NewReader(vastMetadata))
}

func (v *vast) Summary(context.Context, execute.Ref, int64) (*execute.Summary, error) {
	n := int64(len(vastMetadata))
	return &execute.Summary{Files: 1, Directories: 3, Length: n, Space: 3 * n}, nil
}

func (v *vast) Active(context.Context) (execute.NameNode, error) {
	return execute.NameNode{Nameservice: "ns1", ID: "nn1", Address: "nn1:8020"}, nil
}
func (v *vast) SafeMode(context.Context) (bool, error) { return false, nil }
func (v *vast) Defaults(context.Context) (execute.Defaults, error) {
	return execute.Defaults{TrashInterval: 24 * time.Hour}, nil
}
func (v *vast) XAttrs(context.Context, execute.Ref) ([]execute.XAttr, error) { return nil, nil }
func (v *vast) Closed(context.Context, execute.Ref) (bool, error)            { return true, nil }
func (v *vast) EncryptionZone(context.Context, string) (string, error)       { return "", nil }
func (v *vast) TrashRoot(context.Context, string) (*execute.TrashRoot, error) {
	return &execute.TrashRoot{Path: "/user/flink/.Trash", Kind: execute.HomeTrash}, nil
}

func (v *vast) Mkdirs(_ context.Context, p string, _ uint16) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tick()
	v.make(p)
	return nil
}

func (v *vast) NewCall(ctx context.Context) (execute.Call, error) {
	v.calls++
	n, err := v.Active(ctx)
	return execute.Call{ClientID: [16]byte{v.user + 1}, CallID: v.calls, NameNode: n}, err
}

func (v *vast) Rename(_ context.Context, m execute.Move, _ execute.Call) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tick()
	if v.isRun(m.ID) {
		v.moved[(m.ID-vastRun)/4] = m.Trash
		return nil
	}
	id := v.named[m.From]
	delete(v.named, m.From)
	v.named[m.To] = id
	v.up[id] = v.named[path.Dir(m.To)]
	return nil
}

func (v *vast) Resend(context.Context, execute.Move, execute.Call) error { return execute.ErrUnknown }

func (v *vast) Now() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.clock
}

func (v *vast) Sleep(_ context.Context, d time.Duration) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clock = v.clock.Add(d)
	return nil
}

// before gives what the program has from the system, without garbage.
func (v *vast) before() uint64 {
	runtime.GC()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	v.peak = 0
	return m.Sys - m.HeapReleased
}
