package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/analyze/namespace"
	"fsweep/cmd/internal/cli"
	"fsweep/fsimage"
)

// uncommented takes the comments of a suggested policy away, as a person would.
func uncommented(t *rapid.T, policy string) string {
	var b strings.Builder
	for line := range strings.Lines(policy) {
		if line != "#\n" && !strings.HasPrefix(line, "# ") {
			t.Fatalf("no comment: %q", line)
		}
		b.WriteString(strings.TrimPrefix(strings.TrimPrefix(line, "#"), " "))
	}
	return b.String()
}

// TestSuggestedPolicy: whatever looks like a root, the suggested policy is one, has
// nothing in it that was not suggested, and executes nothing.
func TestSuggestedPolicy(t *testing.T) {
	t.Parallel()
	names := []string{
		"a", "b", "flink cp", "job*", "[x]", "ü", "\xff", "new\nline", `quo"te`, `back\slash`, "'", "# no", "a: b", "123", "true", "ops",
		"user", ".Trash", "\u202e", "{}", "-", "~", "x:y", "\u2028", "%d",
	}
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.Custom(func(t *rapid.T) string {
			return "/" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(names), 1, 3).Draw(t, "names"), "/")
		})
		paths := rapid.SliceOfN(path, 0, 6).Draw(t, "paths")
		slices.Sort(paths)
		var trees []flink.Suggestion
		for _, p := range paths {
			layout := rapid.SampledFrom([]flink.Layout{flink.JobRun, flink.RunLayout, flink.Savepoints, flink.HAStorage}).Draw(t, "layout")
			trees = append(trees, flink.Suggestion{Path: []byte(p), Layout: layout, Units: rapid.Int64Range(0, 2).Draw(t, "units")})
		}
		text := suggestPolicy(trees)
		if strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && r < ' ' || r == 0x202e || r == 0x2028 }) {
			t.Errorf("control characters: %q", text)
		}
		plain := uncommented(t, text)
		if !strings.Contains(plain, "version: 1") {
			return // no tree can be in a policy
		}
		p, err := cleanup.ParsePolicy("p", []byte(plain))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for i := range p.Roots {
			r := &p.Roots[i]
			if r.Mode != cleanup.Observe {
				t.Errorf("%s has mode %s", r.Path, r.Mode)
			}
			if !slices.ContainsFunc(trees, func(x flink.Suggestion) bool {
				return string(x.Path) == string(r.Path) && x.Layout.String() == string(r.Layout)
			}) {
				t.Errorf("%q of layout %s was not suggested", r.Path, r.Layout)
			}
		}
	})
}

// TestSuggestedPolicyTakes: what a policy can have is in it, a root in another too.
func TestSuggestedPolicyTakes(t *testing.T) {
	t.Parallel()
	tree := func(path string, layout flink.Layout) flink.Suggestion {
		return flink.Suggestion{Path: []byte(path), Layout: layout, Units: 1}
	}
	text := suggestPolicy([]flink.Suggestion{
		tree("/cp", flink.JobRun), tree("/cp/a b/x", flink.RunLayout), tree("/cp/a b/y", flink.Savepoints), tree("/ha", flink.HAStorage),
		tree("/ha", flink.Savepoints), tree("/user", flink.JobRun), tree("/x\xff", flink.JobRun),
	})
	for _, want := range []string{
		"#   - path: /cp\n", "#       - \"a b\"\n# ", "#   - path: \"/cp/a b/x\"\n", "#   - path: \"/cp/a b/y\"\n", "#   - path: /ha\n", "#     format: kubernetes\n",
		"# # left out: /ha: ", "# # left out: /user: ", "# # left out: /x\\xff: a name that is not UTF-8 cannot be written in a policy\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if got := suggestPolicy(nil); got != "# # Nothing looks like a root of Flink.\n" {
		t.Errorf("%q", got)
	}
	var many []flink.Suggestion
	for i := range 300 {
		many = append(many, tree("/r"+string(rune('a'+i%26))+string(rune('a'+i/26)), flink.JobRun))
	}
	if text := suggestPolicy(many); !strings.Contains(text, "# # left out: 250 more trees\n") {
		t.Error("no limit")
	}
}

func loadImage(t *testing.T, name string) *namespace.Tree {
	t.Helper()
	im, err := fsimage.OpenFile(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { im.Close() })
	tree, err := namespace.Load(t.Context(), im.Image, namespace.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestFindPaths: every path of an image is found, as what it is, and no other.
func TestFindPaths(t *testing.T) {
	t.Parallel()
	tree := loadImage(t, "../../testdata/images/random-3.4.2/plain/fsimage_0000000000000002643")
	var paths []cleanup.Path
	want := map[cleanup.Path]uint64{}
	files := map[cleanup.Path]int64{}
	err := tree.EachINode(t.Context(), 1, func(_ int, b *namespace.EntryBatch) error {
		return b.Each(func(e *namespace.Entry) error {
			p := cleanup.Path(e.AppendPath(nil))
			if strings.HasPrefix(string(p), "/.reserved") {
				return nil
			}
			want[p] = e.INode.ID
			if e.INode.Type == fsimage.FileType {
				files[p] = e.Length()
			}
			paths = append(paths, p, p+"x", p+"/none/at/all")
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(want) < 100 || len(files) < 50 {
		t.Fatalf("only %d paths, %d files", len(want), len(files))
	}
	for _, workers := range []int{1, 3} {
		places, err := findPaths(t.Context(), tree, workers, paths)
		if err != nil || len(places) != len(paths) {
			t.Fatal(len(places), err)
		}
		for i := range places {
			p := &places[i]
			id := p.inodeID
			if p.dir != namespace.NoDir {
				id = tree.ID(p.dir)
			}
			if p.path != paths[i] || id != want[p.path] || p.exists() != (want[p.path] != 0) {
				t.Errorf("%q: inode %d, not %d", p.path, id, want[p.path])
			}
			length, isFile := files[p.path]
			if (p.file != nil) != isFile || isFile && (p.file.Length != length || p.file.INodeID != id) {
				t.Errorf("%q: file %+v", p.path, p.file)
			}
		}
	}
	if places, err := findPaths(t.Context(), tree, 1, nil); err != nil || len(places) != 0 {
		t.Error(places, err)
	}
}

// TestPlanIsHeldBack: before a plan is committed nobody has its last line, however
// the bytes come; so what a reader of a pipe has is no plan.
func TestPlanIsHeldBack(t *testing.T) {
	t.Parallel()
	text := "{\"type\":\"plan\"}\n" + strings.Repeat("x", 100) + "\n\n{\"type\":\"footer\"}\n"
	for size := 1; size <= len(text); size++ {
		name := filepath.Join(t.TempDir(), "out")
		file, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		env := &cli.Env{Name: "fsweep", Stdout: file}
		out, err := env.Create(t.Context(), "-", cli.OutputOptions{})
		if err != nil {
			t.Fatal(err)
		}
		f := &planFiles{plan: out}
		for chunk := range slices.Chunk([]byte(text), size) {
			if n, err := f.Write(chunk); n != len(chunk) || err != nil {
				t.Fatal(n, err)
			}
			if got, err := os.ReadFile(name); err != nil || bytes.Contains(got, []byte("footer")) {
				t.Fatalf("%q %v", got, err)
			}
		}
		if got, err := os.ReadFile(name); string(got) != strings.TrimSuffix(text, "{\"type\":\"footer\"}\n") {
			t.Fatalf("pieces of %d: %q %v", size, got, err)
		}
		if err := f.commit(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); string(got) != text {
			t.Fatalf("pieces of %d: %q %v", size, got, err)
		}
	}
}

func TestPinWarnings(t *testing.T) {
	t.Parallel()
	if got := pinWarnings(nil); got != nil {
		t.Error(got)
	}
	got := pinWarnings(slices.Repeat([]cleanup.Path{"/a\n"}, 22))
	if len(got) != 21 || got[0] != `the pinned path /a\n is not in the image` || got[20] != "2 more pinned paths are not in the image" {
		t.Error(got)
	}
}

// TestOutcome: what stops roots, and the exit code.
func TestOutcome(t *testing.T) {
	t.Parallel()
	root := func(path string, stopped ...cleanup.Fact) *cleanup.RootDecision {
		return &cleanup.RootDecision{Policy: &cleanup.Root{Path: cleanup.Path(path)}, Stopped: stopped}
	}
	tie := cleanup.Fact{Rule: cleanup.TieStops}
	misfits := cleanup.Fact{Rule: cleanup.Misfits, N: 3, Path: "/b/x\n", Text: "run_misplaced"}
	for _, c := range []struct {
		roots []*cleanup.RootDecision
		found []*flink.Root
		code  int
		want  string
	}{
		{[]*cleanup.RootDecision{root("/a"), root("/b")}, nil, 0, ""},
		{[]*cleanup.RootDecision{root("/a"), root("/b", misfits, tie)}, nil, 4, `1 of 2 roots stopped, nothing in them is planned: /b (misfits: 3, the first is /b/x\n, run_misplaced)`},
		{[]*cleanup.RootDecision{root("/a", tie), root("/b", misfits)}, nil, 3, `all 2 roots stopped, nothing is planned: /a (on_tie_stop), /b (misfits: 3, the first is /b/x\n, run_misplaced)`},
		{[]*cleanup.RootDecision{root("/a", tie)}, nil, 3, "the root is stopped, nothing is planned: /a (on_tie_stop)"},
		{
			[]*cleanup.RootDecision{root("/a"), root("/b", misfits)},
			[]*flink.Root{{Path: []byte("/b"), Misfits: []flink.Misfit{{Reason: flink.ExcludedNotFound, Detail: "excluded job directories were not found: ['x']"}}}},
			3, "excluded job directories were not found: ['x'], in /b",
		},
	} {
		r := &ruling{decision: &cleanup.Decision{Roots: c.roots}, survey: &flink.Survey{Roots: c.found}}
		err := r.outcome()
		if cli.ExitCode(err) != c.code {
			t.Errorf("%v: exit code %d", err, cli.ExitCode(err))
		}
		got := ""
		if err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Error(diff)
		}
	}
	if _, ok := errors.AsType[*cli.RefusedError](listHint(cleanup.ErrStale)); !ok {
		t.Error("a stale list is not refused")
	}
}
