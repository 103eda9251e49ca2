package plan

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"fsweep/proto/planfile"
)

// objects is what objects take, dead ones that were not collected yet included.
func objects() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// TestMillionFiles: a plan of a million files that nothing refers to takes less than
// 64 MiB beside the tree and what was decided.
func TestMillionFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a tree and a plan of a million files, which takes a gigabyte and many seconds")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(15)) // as the program has it
	const files = 1_000_000
	w := kept(sweeping, 0)
	for i := range 50 {
		shared := w.put(fmt.Sprintf("/f/cp/job/%s/shared/job_%d/", runA, i), 900)
		for k := range files / 50 {
			n := w.it.FileIn(shared, fmt.Sprintf("0f8fad5b-d9cb-469f-a165-%012x", k*7919%(files/50)), 100)
			n.MTimeMs, n.ATimeMs = imageTime.UnixMilli()-int64(300+i)*hour, 0
		}
	}
	r, m := w.request(t, 2)
	w.it, w.files, w.image = nil, nil, nil
	r.TempDir = t.TempDir()
	out, err := os.Create(filepath.Join(t.TempDir(), "plan.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	runtime.GC()
	before, done, peak := objects(), make(chan bool), make(chan uint64)
	go func() {
		var most uint64
		for {
			select {
			case <-done:
				peak <- most
				return
			case <-time.After(2 * time.Millisecond):
				most = max(most, objects())
			}
		}
	}()
	buffered := bufio.NewWriter(out)
	if m.Result, err = Write(t.Context(), buffered, r); err != nil {
		t.Fatal(err)
	}
	if err := buffered.Flush(); err != nil {
		t.Fatal(err)
	}
	done <- true
	// What waits to be collected is up to 15 % of all.
	used := int64(<-peak) - int64(before)
	extra := used - int64(before)*15/100
	t.Logf("%d MiB before, %d MiB more", before>>20, used>>20)
	if extra > 64<<20 {
		t.Errorf("%d MiB", extra>>20)
	}
	if m.Footer.Items != files || m.Footer.Planned.Items != files {
		t.Errorf("%+v", m.Footer)
	}
	if _, digest, err := planfile.Open(out); err != nil || digest != m.Digest {
		t.Error(err)
	}
}
