package plan

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsweep/fsimage/imagetest"
	"fsweep/proto/planfile"
)

// quotaLines shows quota lines as "path inodes before>after, space before>after, types".
func quotaLines(m *made) (out []string) {
	for _, q := range m.plan.quotas {
		out = append(out, fmt.Sprintf("%s %d>%d %d>%d %v>%v", q.Path, q.NSBefore, q.NSAfter, q.DSBefore, q.DSAfter, q.TypesBefore, q.TypesAfter))
	}
	return out
}

// oldRun is an item of 4 inodes and 20 bytes in the job of a root, beside what stays:
// the root, job, run, chk and _metadata with 10 bytes. All files have one replica.
func (w *world) oldRun(root string) {
	w.put(root+"/job/"+runA+"/chk-9/_metadata", 2, 10)
	w.put(root+"/job/"+runB+"/chk-4/_metadata", 400, 15)
	w.put(root+"/job/"+runB+"/shared/s", 400, 5)
	for _, f := range w.files {
		f.Replication = 1
	}
}

// TestTrash: which directories get back what is moved to a trash of an unknown user.
func TestTrash(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, root string
		limited    []string
		change     func(w *world)
		want       []string
	}{
		{"all above but /", "/f/x/cp", []string{"/", "/f", "/f/x", "/f/x/cp", "/f/x/cp/job"}, nil, []string{"/f", "/f/x", "/f/x/cp", "/f/x/cp/job"}},
		{"only what is above", "/f/cp", []string{"/f", "/g", "/f/cp/jo", "/f/cp/job/" + runA}, nil, []string{"/f"}},
		{"not what holds homes", "/user/flink/cp", []string{"/", "/user", "/user/flink", "/user/flink/cp"}, nil, []string{"/user/flink/cp"}},
		{"not /user itself", "/user/cp", []string{"/user", "/user/cp"}, nil, nil},
		{"another user", "/x/user/flink/cp", []string{"/x", "/x/user", "/x/user/flink"}, nil, []string{"/x", "/x/user", "/x/user/flink"}},
		{"zone", "/z/a/b/cp", []string{"/z", "/z/a", "/z/a/b"}, func(w *world) {
			w.it.Dir("/z/a").XAttr(imagetest.XAttrRaw, "hdfs.crypto.encryption.zone", []byte{1})
		}, []string{"/z/a/b"}},
		{"all in one zone", "/f/cp", []string{"/f"}, func(w *world) {
			w.it.Root.XAttr(imagetest.XAttrRaw, "hdfs.crypto.encryption.zone", []byte{1})
		}, []string{"/f"}},
		{"snapshottable, with a trash", "/s/a/cp", []string{"/s", "/s/a"}, func(w *world) {
			w.it.Snapshot(w.it.Dir("/s"), 1, "s1")
			w.put("/s/.Trash/", 1)
		}, []string{"/s/a"}},
		{"a trash that is nobody's", "/s/a/cp", []string{"/s", "/s/a"}, func(w *world) {
			w.it.Snapshot(w.it.Dir("/s"), 1, "s1")
			w.put("/s/a/.Trash/", 1)
		}, []string{"/s", "/s/a"}},
		{"all in a snapshot", "/s/a/cp", []string{"/s", "/s/a"}, func(w *world) { w.snapshot("/s") }, nil},
	} {
		w := newWorld(fmt.Sprintf("belts: {max_percent_of_root: 100%%}\nroots: [{path: %s, layout: job-run, mode: execute}]\n", tc.root))
		w.oldRun(tc.root)
		for _, d := range tc.limited {
			w.it.Dir(d).Quota(1000, 5000)
			w.it.Dir(d).MTimeMs = imageTime.UnixMilli() - 900*hour
		}
		if tc.change != nil {
			tc.change(w)
		}
		m := w.write(t, 1)
		var got []string
		for _, q := range m.plan.quotas {
			got = append(got, string(q.Path))
			if q.NSBefore-q.NSAfter != 5 || q.DSBefore-q.DSAfter != 20 || *q.NSQuota != 1000 || *q.DSQuota != 5000 || q.InodeID != w.it.Dir(string(q.Path)).ID {
				t.Errorf("%s: %+v", tc.name, q)
			}
		}
		if len(m.plan.items) != 1 || !slices.Equal(got, tc.want) {
			t.Errorf("%s: %d items, %q, want %q", tc.name, len(m.plan.items), got, tc.want)
		}
		if m.plan.items[0].QuotaEffects != nil && !slices.IsSortedFunc(m.plan.items[0].QuotaEffects, func(a, b planfile.Effect) int { return int(a.InodeID) - int(b.InodeID) }) {
			t.Errorf("%s: effects are not sorted", tc.name)
		}
	}
}

// TestQuarantine: what is charged there is taken off here, by the policies of there.
func TestQuarantine(t *testing.T) {
	t.Parallel()
	w := newWorld("removal: quarantine:/all/q/box\nbelts: {max_percent_of_root: 100%}\nroots: [{path: /all/f/cp, layout: job-run, mode: execute, unreferenced_shared: {older_than: 200h}}]\n")
	w.oldRun("/all/f/cp")
	w.put("/all/f/cp/job/"+runA+"/shared/s", 600, 7).Replication = 1
	w.put("/all/q/", 900)
	w.it.Dir("/all").Quota(1000, -1)
	w.it.Dir("/all/f").Quota(1000, -1).SetPolicy(7) // HOT
	w.it.Dir("/all/q").Quota(1000, -1).SetPolicy(2) // COLD
	w.it.Dir("/all/f").MTimeMs = imageTime.UnixMilli() - 900*hour
	m := w.write(t, 2)
	// Of /all/f: itself, cp, job, the run that stays with chk-9, _metadata and shared, with 10
	// bytes; the item with 5 inodes and 20 bytes; the file of the sweep with 7.
	want := []string{
		"/all/f 13>7 37>10 {37 0 0 0 0}>{10 0 0 0 0}",
		"/all/q 1>7 0>27 {0 0 0 0 0}>{0 0 27 0 0}",
	}
	if diff := cmp.Diff(want, quotaLines(m)); diff != "" {
		t.Error(diff)
	}
	for _, i := range m.plan.items {
		if i.Freed != (planfile.Freed{}) || len(i.QuotaEffects) != 2 || i.QuotaEffects[0].Inodes+i.QuotaEffects[1].Inodes != 0 {
			t.Errorf("%+v", i)
		}
	}
}

// TestDeferredQuota: what is deferred has effects, which are not added up.
func TestDeferredQuota(t *testing.T) {
	t.Parallel()
	w := newWorld("belts: {max_items: 1, max_percent_of_root: 100%}\nroots: [{path: /f/cp, layout: job-run, mode: execute}]\n")
	w.oldRun("/f/cp")
	w.put("/f/cp/job/"+runC+"/shared/", 500)
	w.it.Dir("/f/cp").Quota(100, -1)
	m := w.write(t, 1)
	if len(m.plan.items) != 2 || m.plan.items[1].Deferred != "max_items" || m.plan.items[1].QuotaEffects[0].Inodes != 2 {
		t.Fatalf("%+v", m.plan.items)
	}
	if got := m.plan.quotas[0]; got.NSBefore != 12 || got.NSAfter != 7 {
		t.Errorf("%+v", got)
	}
	if f := m.Footer; f.Planned.Items != 1 || f.Deferred.Items != 1 || f.Deferred.Entries != 2 {
		t.Errorf("%+v", f)
	}
}
