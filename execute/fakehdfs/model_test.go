package fakehdfs_test

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fsweep/execute"
	"fsweep/execute/fakehdfs"
)

// thing is what the naive model knows of one path.
type thing struct {
	id   uint64
	kind execute.Kind
}

// model is a map of paths, and the calls that have succeeded.
type model struct {
	paths map[string]thing
	done  map[execute.Call]bool
}

func (m *model) at(id uint64) string {
	for p, th := range m.paths {
		if th.id == id {
			return p
		}
	}
	return ""
}

// rename predicts what a NameNode answers to the superuser.
func (m *model) rename(id uint64, to string) error {
	from := m.at(id)
	if from == "" {
		return execute.ErrNotFound
	}
	for dir := path.Dir(to); dir != "/"; dir = path.Dir(dir) {
		if th, ok := m.paths[dir]; ok && th.kind != execute.Directory {
			return execute.ErrNotDirectory
		}
	}
	if to == from {
		return execute.ErrExists
	}
	if strings.HasPrefix(to, from+"/") {
		return errInside
	}
	if _, ok := m.paths[to]; ok {
		return execute.ErrExists
	}
	if _, ok := m.paths[path.Dir(to)]; !ok {
		return execute.ErrNoParent
	}
	for p, th := range maps.Clone(m.paths) {
		if p == from || strings.HasPrefix(p, from+"/") {
			delete(m.paths, p)
			m.paths[to+p[len(from):]] = th
		}
	}
	return nil
}

var errInside = errors.New("inside of itself")

func (m *model) sums(dir string) (files, directories int64) {
	for p, th := range m.paths {
		if p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/") {
			if th.kind == execute.Directory {
				directories++
			} else {
				files++
			}
		}
	}
	return files, directories
}

func (m *model) children(dir string) []string {
	var names []string
	for p := range m.paths {
		if p != "/" && path.Dir(p) == dir {
			names = append(names, path.Base(p))
		}
	}
	slices.Sort(names)
	return names
}

// TestModel runs random operations on the fake and on a naive map of paths.
func TestModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := &modelRun{T: t, ctx: context.Background(), fs: fakehdfs.New(fakehdfs.Options{HA: rapid.Bool().Draw(t, "HA"), PageSize: 2})}
		r.client = r.fs.Client("root")
		r.model = model{paths: map[string]thing{"/": {16385, execute.Directory}}, done: make(map[execute.Call]bool)}
		t.Repeat(map[string]func(*rapid.T){
			"mkdir": r.mkdir, "put": r.put, "delete": r.remove, "rename": r.rename, "resend": r.resend,
			"clone": r.clone, "failover": func(*rapid.T) { r.fs.Failover() }, "": r.check,
		})
	})
}

type modelRun struct {
	*rapid.T
	ctx    context.Context
	fs     *fakehdfs.FS
	client *fakehdfs.Client
	model  model
	sent   []sentCall
}

type sentCall struct {
	move execute.Move
	call execute.Call
}

func (r *modelRun) path(t *rapid.T, name string) string {
	return "/" + strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 3).Draw(t, name), "/")
}

func (r *modelRun) mkdir(t *rapid.T) {
	p := r.path(t, "path")
	err := r.client.Mkdirs(r.ctx, p, 0o755)
	made, want := p, error(nil)
	for at := p; at != "/"; at = path.Dir(at) {
		if th, ok := r.model.paths[at]; ok && th.kind != execute.Directory {
			want = execute.ErrNotDirectory
			if at == p {
				want = execute.ErrExists
			}
		}
	}
	if !errors.Is(err, want) {
		t.Fatalf("mkdirs %s: %v, want %v", p, err, want)
	}
	for ; err == nil && made != "/"; made = path.Dir(made) {
		e, ok := r.fs.Lookup(made)
		if old, was := r.model.paths[made]; !ok || was && old.id != e.ID {
			t.Fatalf("mkdirs %s: %s is %+v, was %+v", p, made, e, old)
		}
		r.model.paths[made] = thing{e.ID, execute.Directory}
	}
}

func (r *modelRun) put(t *rapid.T) {
	p := r.path(t, "path")
	if _, ok := r.model.paths[path.Dir(p)]; !ok || r.model.paths[path.Dir(p)].kind != execute.Directory {
		return
	}
	if _, ok := r.model.paths[p]; ok {
		return
	}
	r.fs.Put(p, "alice", []byte(p))
	e, _ := r.fs.Lookup(p)
	for _, th := range r.model.paths {
		if th.id >= e.ID {
			t.Fatalf("new id %d, there is %d", e.ID, th.id)
		}
	}
	r.model.paths[p] = thing{e.ID, execute.File}
}

func (r *modelRun) remove(t *rapid.T) {
	p := r.path(t, "path")
	if _, ok := r.model.paths[p]; !ok {
		return
	}
	r.fs.Delete(p)
	maps.DeleteFunc(r.model.paths, func(q string, _ thing) bool { return q == p || strings.HasPrefix(q, p+"/") })
}

func (r *modelRun) rename(t *rapid.T) {
	from := r.path(t, "from")
	th, ok := r.model.paths[from]
	if !ok {
		return
	}
	call, err := r.client.NewCall(r.ctx)
	if err != nil {
		t.Fatal(err)
	}
	m := execute.Move{ID: th.id, ParentID: r.model.paths[path.Dir(from)].id, From: from, To: r.path(t, "to"), Trash: rapid.Bool().Draw(t, "trash")}
	r.sent = append(r.sent, sentCall{m, call})
	r.settle(t, m, call, r.client.Rename(r.ctx, m, call))
}

func (r *modelRun) resend(t *rapid.T) {
	if len(r.sent) == 0 {
		return
	}
	s := rapid.SampledFrom(r.sent).Draw(t, "call")
	if rapid.Bool().Draw(t, "other client") {
		r.client = r.fs.Client("root")
	}
	r.settle(t, s.move, s.call, r.client.Resend(r.ctx, s.move, s.call))
}

// settle compares an answer with the model's.
func (r *modelRun) settle(t *rapid.T, m execute.Move, call execute.Call, got error) {
	want := error(nil)
	if !r.model.done[call] {
		want = r.model.rename(m.ID, m.To)
		r.model.done[call] = want == nil
	}
	if want == errInside && got != nil { //nolint:errorlint // it is never wrapped
		return
	}
	if !errors.Is(got, want) {
		t.Fatalf("rename of %d to %s: %v, want %v", m.ID, m.To, got, want)
	}
}

// clone goes on with a copy; what happens to the original does not matter.
func (r *modelRun) clone(*rapid.T) {
	old := r.fs
	r.fs = old.Clone()
	r.client = r.fs.Client("root")
	for _, e := range old.Entries()[1:] {
		if path.Dir(e.Path) == "/" {
			old.Delete(e.Path)
		}
	}
}

func (r *modelRun) check(t *rapid.T) {
	got := make(map[string]thing)
	for _, e := range r.fs.Entries() {
		got[e.Path] = thing{e.ID, e.Kind}
	}
	if !maps.Equal(got, r.model.paths) {
		t.Fatalf("the fake has %v, the model %v", got, r.model.paths)
	}
	for p, th := range r.model.paths {
		files, directories := r.model.sums(p)
		sum, err := r.client.Summary(r.ctx, execute.ByID(th.id), 1000)
		if err != nil || sum.Files != files || sum.Directories != directories {
			t.Fatalf("summary of %s: %+v, %v, want %d files, %d directories", p, sum, err, files, directories)
		}
		if th.kind == execute.Directory {
			r.list(t, p)
		}
	}
}

func (r *modelRun) list(t *rapid.T, dir string) {
	var names []string
	for after, left := []byte(nil), int64(1); left > 0; {
		page, err := r.client.List(r.ctx, execute.At(dir), after)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Entries {
			names, after = append(names, string(e.Name)), e.Name
			if r.model.paths[path.Join(dir, string(e.Name))].id != e.ID {
				t.Fatalf("%s in %s has id %d", e.Name, dir, e.ID)
			}
		}
		left = page.Left
	}
	if want := r.model.children(dir); !slices.Equal(names, want) {
		t.Fatalf("%s holds %v, want %v", dir, names, want)
	}
}
