package cleanup

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsweep/analyze/flink"
	"fsweep/analyze/namespace"
	"fsweep/fsimage"
	"fsweep/fsimage/imagetest"
)

// TestFromImage goes all the way from a policy's text and an image to items.
func TestFromImage(t *testing.T) {
	t.Parallel()
	it := imagetest.NewTree()
	for path, age := range map[string]float64{
		"/r/orders/" + idA + "/chk-9/_metadata": 1, "/r/orders/" + idA + "/chk-3/part": 30, "/r/orders/" + idB + "/chk-4/_metadata": 20,
		"/r/orders/" + idC + "/shared/sst": 40, "/r/bad/" + idD + "/chk-1/_metadata": 50, "/r/bad/" + idB + "/chk-1/_metadata": 60,
		"/r/keep/" + idD + "/chk-1/_metadata": 50, "/r/keep/" + idB + "/chk-1/_metadata": 60, "/r/keep/" + idB + "/" + flink.MarkerName: 70,
		"/s/savepoint-aaaaaa-000000000001/_metadata": 300, "/s/savepoint-bbbbbb-000000000001/_metadata": 300,
	} {
		it.File(path, 10).MTimeMs = days(age)
	}
	for _, n := range it.Nodes() {
		if n.Kind == imagetest.Directory {
			n.MTimeMs = days(100)
		}
		n.ATimeMs = 0
	}
	b := it.Image().Bytes()
	im, err := fsimage.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := namespace.Load(t.Context(), im, namespace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := mustParse(t, `version: 1
nameservice: nameservice1
lock_dir: /ops/fsweep
belts: {max_percent_of_root: 100%}
live: [{file: k8s, format: kubernetes}]
roots:
  - {path: /r, layout: job-run, exclude_jobs: [bad]}
  - {path: /s, layout: savepoints}
`)
	d, err := flink.Discover(t.Context(), tree, Declarations(p), flink.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{p: p, d: d, in: Inputs{ImageTime: now, Now: now}}
	got, err := Decide(d, p, w.with(lives(idD[:31]+"5", idA)).in)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"checkpoint orders/" + idA + "/chk-3", "unit /s/savepoint-bbbbbb-000000000001", "unit orders/" + idB, "unit orders/" + idC,
	}
	// The run in orders lives: it is kept whole, and its debris with it.
	if diff := cmp.Diff(want[1:], moved(got)); diff != "" {
		t.Error(diff, said(got))
	}
	got, err = Decide(d, p, w.with(lives()).in)
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, "unit /s/savepoint-aaaaaa-000000000001")
	if diff := cmp.Diff(want, moved(got), cmp.Transformer("sort", sorted)); diff != "" {
		t.Error(diff, said(got))
	}
}
