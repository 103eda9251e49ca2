package check_test

import (
	"context"
	"testing"
	"unicode/utf8"

	"fsweep/execute/check"
)

// TestFactsAreText: a journal takes only text, and what stands in a verdict goes there. So
// nobody stops a run by the name of a directory.
func TestFactsAreText(t *testing.T) {
	t.Parallel()
	const odd = "b\xffd\n"
	for name, c := range map[string]struct {
		before, change func(w *world)
		item           string
		rule           check.Rule
		fact, want     string
	}{
		"new run": {
			change: func(w *world) { w.fs.Mkdir(jobs+"/orders/"+odd, "eve", 0o755) },
			item:   order0, rule: check.NewRun, fact: "run", want: jobs + `/orders/b\xffd\n`,
		},
		"new run without a checkpoint": {
			change: func(w *world) { w.fs.Mkdir(runs+"/"+odd+"/chk-1", "eve", 0o755) },
			item:   single0, rule: check.MayBeRestored, fact: "new_run", want: runs + `/b\xffd\n`,
		},
		"directory inside": {
			before: func(w *world) {
				w.fs.Mkdir(scratch+"/spark-1/"+odd, "flink", 0o755)
				w.old(scratch, 20)
			},
			change: func(w *world) { w.fs.SetTimes(scratch+"/spark-1/"+odd, 5, -1) },
			item:   scratch + "/spark-1", rule: check.Changed, fact: "path", want: scratch + `/spark-1/b\xffd\n`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.before != nil {
				c.before(w)
			}
			r, d := w.plan()
			c.change(w)
			s := w.session(r, d)
			if err := s.Check(context.Background()); err != nil {
				t.Fatal(err)
			}
			found := false
			for _, f := range verdicts(t, s)[c.item].Facts {
				found = found || f.Name == c.fact && f.Text == c.want
				if !utf8.ValidString(f.Text) {
					t.Errorf("%s: %q", f.Name, f.Text)
				}
			}
			if v := verdicts(t, s)[c.item]; v.Rule != c.rule || !found {
				t.Errorf("%+v", v)
			}
		})
	}
}
