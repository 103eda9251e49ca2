package plan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"fsweep/analyze/cleanup"
	pb "fsweep/proto/fsimage"
	"fsweep/proto/planfile"
)

const sweeping = "belts: {max_items: 1000000, max_inodes: 1000000, max_percent_of_root: 100%}\n" +
	"roots: [{path: /f/cp, layout: job-run, mode: execute, unreferenced_shared: {older_than: 200h}}]\n"

// kept is a run that stays, with so many files that nothing may refer to.
func kept(policy string, files int) *world {
	w := newWorld(policy)
	run := "/f/cp/job/" + runA
	w.put(run+"/chk-9/_metadata", 2, 10)
	for i := range files {
		area := []string{"shared", "taskowned", "shared/op_1/db", "shared-"}[i%3]
		w.put(fmt.Sprintf("%s/%s/%x", run, area, (i*7919)%files), int64(300+i%50), uint64(i%4))
	}
	return w
}

// TestSweepSpills: the same plan whether files are sorted in memory or on disk, by one
// or by many.
func TestSweepSpills(t *testing.T) {
	t.Parallel()
	var want []byte
	for _, workers := range []int{1, 2, 5} {
		for _, memory := range []int{0, 1, 4 << 10} {
			w := kept(sweeping, 3000)
			w.tempDir = t.TempDir()
			r, m := w.request(t, workers)
			r.sortMemory = memory
			var out bytes.Buffer
			var err error
			if m.Result, err = Write(t.Context(), &out, r); err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want, m.bytes = out.Bytes(), out.Bytes()
				m.read(t)
				if len(m.plan.items) != 3000 {
					t.Error(len(m.plan.items))
				}
			}
			if !bytes.Equal(out.Bytes(), want) {
				t.Errorf("other bytes with %d workers and %d bytes", workers, memory)
			}
			if left, _ := os.ReadDir(w.tempDir); len(left) > 0 {
				t.Error(left)
			}
		}
	}
}

// TestSweepRules: what is no item, and what is counted.
func TestSweepRules(t *testing.T) {
	t.Parallel()
	w := newWorld("belts: {max_items: 2, max_percent_of_root: 100%}\n" + sweeping[strings.Index(sweeping, "roots"):])
	run := "/f/cp/job/" + runA
	w.put(run+"/chk-9/_metadata", 2, 10)
	w.put(run+"/shared/a", 201, 1)
	w.put(run+"/shared/young", 199, 2)
	w.put(run+"/shared/read", 300, 4).ATimeMs = imageTime.UnixMilli() - 5*hour
	w.put(run+"/shared/z", 900, 8)
	w.put(run+"/shared/z2", 900, 16)
	w.put(run+"/shared/completedCheckpoint1", 900, 32)
	w.put(run+"/taskowned/t", 900, 64)
	m := w.write(t, 2)
	var got []string
	for _, i := range m.plan.items {
		got = append(got, fmt.Sprint(string(i.Path[len(run)+1:]), " ", i.Deferred, " ", i.Conditional, " ", i.NeedsReferenceProof, " ", i.Rule))
	}
	want := []string{
		"shared/a  true true unreferenced_shared", "shared/z  true true unreferenced_shared",
		"shared/z2 max_items true true unreferenced_shared", "taskowned/t max_items true true unreferenced_shared",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for s, sums := range m.Sweeps {
		want := SweepTotals{Planned: FileTotals{2, 9}, Deferred: FileTotals{1, 16}, PassedOver: FileTotals{2, 6}, Freed: planfile.Freed{AfterTrash: 27}}
		if strings.HasSuffix(string(s.Path), "taskowned") {
			want = SweepTotals{Deferred: FileTotals{1, 64}}
		}
		if sums != want {
			t.Errorf("%s: %+v", s.Path, sums)
		}
	}
	if len(m.Sweeps) != 2 {
		t.Error(len(m.Sweeps))
	}
}

// TestSweepUnsound: a file whose size cannot be is left out, and the others are planned.
func TestSweepUnsound(t *testing.T) {
	t.Parallel()
	for _, size := range []uint64{1 << 63, 1<<64 - 1, 1<<62 + 1} { // the last one three times is beyond 64 bits
		w := newWorld(sweeping)
		run := "/f/cp/job/" + runA
		w.put(run+"/chk-9/_metadata", 2, 10)
		w.put(run+"/shared/a", 300, 5)
		w.put(run+"/shared/b", 300, 5).Edit = func(m *pb.INodeSection_INode) { m.File.Blocks[0].NumBytes = &size }
		m := w.write(t, 2)
		if len(m.plan.items) != 1 || m.plan.items[0].Path != planfile.Path(run+"/shared/a") {
			t.Errorf("%d: %d items", size, len(m.plan.items))
		}
		for _, s := range m.Sweeps {
			want := planfile.Freed{AfterTrash: 15} // three replicas
			if s.Planned != (FileTotals{1, 5}) || s.PassedOver.Files != 1 || s.PassedOver.Bytes < 0 || s.Freed != want {
				t.Errorf("%d: %+v", size, s)
			}
		}
	}
}

// failing fails after so many bytes.
type failing struct{ left int }

var errFull = errors.New("full")

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestWriteFails: an error of the writer is given back, and the temporary file is gone.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	for _, left := range []int{0, 100 << 10} {
		w := kept(sweeping, 2000)
		w.tempDir = t.TempDir()
		r, _ := w.request(t, 2)
		r.sortMemory = 100
		if _, err := Write(t.Context(), &failing{left}, r); !errors.Is(err, errFull) {
			t.Error(err)
		}
		if left, _ := os.ReadDir(w.tempDir); len(left) > 0 {
			t.Error(left)
		}
	}
	w := kept(sweeping, 2000)
	w.tempDir = "/nowhere/at/all"
	r, _ := w.request(t, 2)
	r.sortMemory = 100
	if _, err := Write(t.Context(), io.Discard, r); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestCanceled: before, and in the middle of items.
func TestCanceled(t *testing.T) {
	t.Parallel()
	w := kept(sweeping, 3000)
	r, _ := w.request(t, 2)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Write(ctx, io.Discard, r); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	w = kept(sweeping, 3000)
	r, _ = w.request(t, 2)
	ctx, cancel = context.WithCancel(t.Context())
	out := &counting{after: 200 << 10, do: cancel}
	if _, err := Write(ctx, out, r); !errors.Is(err, context.Canceled) || out.n > 400<<10 {
		t.Error(err, out.n)
	}
}

type counting struct {
	n, after int
	do       func()
}

func (c *counting) Write(b []byte) (int, error) {
	if c.n += len(b); c.n > c.after {
		c.do()
	}
	return len(b), nil
}

// TestJobMap: a savepoint right below its root has the job of the map.
func TestJobMap(t *testing.T) {
	t.Parallel()
	w := newWorld("belts: {max_percent_of_root: 100%}\nroots: [{path: /sp, layout: savepoints, keep: 1, keep_within: 0h, job_map: map, mode: execute}]\n")
	w.jobMap = map[cleanup.Path]string{"/sp": "aaaaaa my job\n"}
	for i, name := range []string{spA, spDot, "savepoint-aaaaaa-0000000000aa"} {
		w.put("/sp/"+name+"/_metadata", int64(300+100*i), 5)
	}
	m := w.write(t, 1)
	var jobs []planfile.Name
	for _, i := range m.plan.items {
		jobs = append(jobs, i.Job)
	}
	if !slices.Equal(jobs, []planfile.Name{"my job", "my job"}) {
		t.Errorf("%q", jobs)
	}
}
