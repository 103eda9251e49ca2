package flink

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"fsweep/analyze/namespace"
	"fsweep/fsimage"
	"fsweep/fsimage/imagetest"
)

// Names of runs and savepoints.
const (
	runA = "0123456789abcdef0123456789abcdef"
	runB = "fedcba9876543210fedcba9876543210"
	sp1  = "savepoint-012345-0123456789ab"
	sp2  = "savepoint-fedcba-0123456789ab"
)

// plant puts paths into a tree: one that ends in a slash is a directory, one
// with an arrow a symbolic link, any other a file of ten bytes.
func plant(t *imagetest.Tree, paths ...string) *imagetest.Tree {
	for _, p := range paths {
		if link, target, ok := strings.Cut(p, " -> "); ok {
			t.Symlink(link, target)
		} else if strings.HasSuffix(p, "/") {
			t.Dir(p)
		} else {
			t.File(p, 10)
		}
	}
	return t
}

// run gives the paths of an ordinary run with one checkpoint.
func runAt(dir string) []string {
	return []string{dir + "/chk-3/_metadata", dir + "/chk-3/f", dir + "/shared/s", dir + "/taskowned/"}
}

func load(t testing.TB, tree *imagetest.Tree, opts ...fsimage.Option) *namespace.Tree {
	t.Helper()
	return loadImage(t, tree.Image(), opts...)
}

func loadImage(t testing.TB, image *imagetest.Image, opts ...fsimage.Option) *namespace.Tree {
	t.Helper()
	b := image.Bytes()
	im, err := fsimage.Open(bytes.NewReader(b), int64(len(b)), opts...)
	if err != nil {
		t.Fatal(err)
	}
	n, err := namespace.Load(t.Context(), im, namespace.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func discover(t testing.TB, tree *namespace.Tree, decls ...Declaration) *Discovery {
	t.Helper()
	d, err := Discover(t.Context(), tree, decls, Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func decl(layout Layout, path string, edits ...func(*Declaration)) Declaration {
	d := Declaration{Path: []byte(path), Layout: layout}
	for _, edit := range edits {
		edit(&d)
	}
	return d
}

func exclude(names ...string) func(*Declaration) {
	return func(d *Declaration) { d.ExcludeJobs = names }
}
func sel(names ...string) func(*Declaration)    { return func(d *Declaration) { d.Jobs = names } }
func ignore(names ...string) func(*Declaration) { return func(d *Declaration) { d.Ignore = names } }
func names(globs ...string) func(*Declaration)  { return func(d *Declaration) { d.Names = globs } }

// texts shows misfits and unknown entries in short.
func texts(list []Misfit) []string {
	var out []string
	for _, m := range list {
		out = append(out, fmt.Sprintf("%s %s", m.Reason, m.Path))
	}
	return out
}

// units shows all units of a root, by path below it.
func (d *Discovery) unitPaths(r *Root) []string {
	var out []string
	for _, j := range r.Jobs {
		for _, u := range j.Units {
			p := d.index.t.AppendPath(nil, u.Dir)
			out = append(out, string(p[len(r.Path)+1:]))
		}
	}
	return out
}
