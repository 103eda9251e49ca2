package cleanup

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsweep/proto/planfile"
	"fsweep/proto/schematest"
)

var update = flag.Bool("update", false, "write the golden files")

// outputs are all that the package writes, of the samples.
var outputs = map[string]func(io.Writer) error{
	"plan.txt": func(w io.Writer) error {
		return Text(w, sample(), TextOptions{MaxListLines: 1000, ListContents: true})
	},
	"plan.json":    func(w io.Writer) error { return JSON(w, sample()) },
	"explain.txt":  func(w io.Writer) error { return ExplainText(w, explanations()) },
	"explain.json": func(w io.Writer) error { return ExplainJSON(w, explanations()) },
}

func written(t *testing.T, name string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := outputs[name](&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name := range outputs {
		got, file := written(t, name), filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestLines: whatever names hold, text is lines of characters that can be seen, and
// words that scripts look for stand only at the start of lines that are theirs.
func TestLines(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plan.txt", "explain.txt"} {
		for l := range strings.Lines(string(written(t, name))) {
			if strings.ContainsAny(strings.TrimSuffix(l, "\n"), "\n\r\t\x1b\u202e\ufffd") || strings.HasSuffix(l, " \n") {
				t.Errorf("%s: %q", name, l)
			}
		}
	}
	text := string(written(t, "plan.txt"))
	for want, n := range map[string]int{
		"\nROOT ": 3, "\nJOB ": 3, "\nKEEP ": 7, "\nWOULD-DELETE ": 5, "\nERROR ": 4,
		"\nERROR: excluded job directories were not found: ['dgrahp']\n":                  1,
		"\nERROR: selected job directories were not found: ['it\\'s', 'back\\\\slash']\n": 1,
	} {
		if got := strings.Count(text, want); got != n {
			t.Errorf("%q: %d times, want %d", want, got, n)
		}
	}
	if last := text[strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n")+1:]; last != "plan: plan.jsonl sha256:02"+strings.Repeat("0", 62)+"\n" {
		t.Errorf("the last line is %q", last)
	}
}

// TestLimit: what is left out is counted, of every kind; nothing else changes.
func TestLimit(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := Text(&b, sample(), TextOptions{MaxListLines: 2}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for want, n := range map[string]int{
		"\nROOT ": 3, "\nJOB ": 2, "\nKEEP ": 2, "\nWOULD-DELETE ": 2, "\nERROR: ": 2,
		"\n… 1 more JOB line is not printed (--max-list-lines 2); JSON has all\n":            1,
		"\n… 5 more KEEP lines are not printed (--max-list-lines 2); JSON has all\n":         1,
		"\n… 3 more WOULD-DELETE lines are not printed (--max-list-lines 2); JSON has all\n": 1,
	} {
		if got := strings.Count(text, want); got != n {
			t.Errorf("%q: %d times, want %d in\n%s", want, got, n, text)
		}
	}
	all := string(written(t, "plan.txt"))
	if a, b := all[strings.Index(all, "\nSummary"):], text[strings.Index(text, "\nSummary"):]; a != b {
		t.Error(cmp.Diff(a, b))
	}
}

// TestQuotaLimit: of the two directories with a quota one is left out.
func TestQuotaLimit(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := Text(&b, sample(), TextOptions{MaxListLines: 1}); err != nil {
		t.Fatal(err)
	}
	_, quotas, _ := strings.Cut(b.String(), "\nQuotas")
	if !strings.Contains(quotas, "/flink") || strings.Contains(quotas, `/q\xfe`) ||
		!strings.Contains(quotas, "\n… 1 more directory with a quota not printed (--max-list-lines 1); JSON has all\n") {
		t.Error(quotas)
	}
}

// TestSums are those of the sample, added by hand.
func TestSums(t *testing.T) {
	t.Parallel()
	var v struct {
		Summary jsonSummary `json:"summary"`
	}
	if err := json.Unmarshal(written(t, "plan.json"), &v); err != nil {
		t.Fatal(err)
	}
	s := &v.Summary
	// chk-3 (3 inodes, 2048 bytes), run B (3, 1 GiB), chk-7 (2, 7), one swept file (1, 5).
	want := sums{Items: 4, Inodes: 9, Bytes: 2048 + 1<<30 + 7 + 5}
	want.Freed.AfterTrash, want.Freed.HeldBySnapshots = 6144+2<<30+15, 1<<30
	if s.Planned != want {
		t.Errorf("planned %+v, want %+v", s.Planned, want)
	}
	// Run C (3, 1 GiB), shared (2, 8), two swept files (2, 2 GiB).
	if want := (sums{Items: 4, Inodes: 7, Bytes: 1<<30 + 8 + 2<<30}); s.Deferred != want {
		t.Errorf("deferred %+v, want %+v", s.Deferred, want)
	}
	if want := (sums{Items: 1, Inodes: 1}); s.Observed != want {
		t.Errorf("observed %+v, want %+v", s.Observed, want)
	}
	if s.Roots != 3 || s.RootsStopped != 1 || s.RootsObserve != 1 || s.Jobs != 4 || s.Kept != 2 || s.Candidates != 4 || s.Proof != 4 || s.Conditional != 1 {
		t.Errorf("%+v", s)
	}
	for name, got := range map[string][]counted{"beyond_keep": s.PlannedBy, "old_child": s.ObservedBy, "newest_by_metadata": s.KeptBy, "belts": s.DeferredBy, "misfits": s.StoppedBy} {
		want := map[string]int64{"beyond_keep": 2, "old_child": 1, "newest_by_metadata": 1, "belts": 2, "misfits": 1}[name]
		if i := indexRule(got, name); i < 0 || got[i].Count != want {
			t.Errorf("%s: %v, want %d", name, got, want)
		}
	}
}

// TestFreedBySweeps: what files of sweeps free is counted with the root that they are in.
func TestFreedBySweeps(t *testing.T) {
	t.Parallel()
	sweep := func(mode planfile.Mode) *Root {
		item := &Item{Item: planfile.Item{Path: "/r/j/" + runB, Entries: 1, Freed: planfile.Freed{Now: 1, AfterTrash: 10, HeldBySnapshots: 100}}}
		swept := Sweep{Path: "/r/j/a/shared", Planned: Files{5, 50}, Freed: planfile.Freed{Now: 3, AfterTrash: 30, HeldBySnapshots: 300}}
		return &Root{Root: planfile.Root{Path: "/r", Mode: mode}, Jobs: seq(&Job{Units: seq(&Unit{Verdict: Keep, Items: []*Item{item}, Sweeps: []Sweep{swept}})})}
	}
	p := &Plan{Roots: seq(sweep(planfile.ModeExecute), sweep(planfile.ModeObserve))}
	var b bytes.Buffer
	if err := JSON(&b, p); err != nil {
		t.Fatal(err)
	}
	var v struct {
		Summary jsonSummary `json:"summary"`
	}
	if err := json.Unmarshal(b.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	both := planfile.Freed{Now: 4, AfterTrash: 40, HeldBySnapshots: 400}
	if v.Summary.Planned.Freed != both || v.Summary.Observed.Freed != both {
		t.Errorf("%+v, %+v", v.Summary.Planned, v.Summary.Observed)
	}
	b.Reset()
	if err := Text(&b, p, TextOptions{}); err != nil || !bytes.Contains(b.Bytes(), []byte("4B at once, 40B when the trash")) {
		t.Errorf("%v\n%s", err, b.Bytes())
	}
	p.Header.Removal, p.Header.Quarantine = planfile.RemovalQuarantine, []planfile.Place{{Path: "/q/a b"}}
	p.Roots = seq(sweep(planfile.ModeExecute))
	b.Reset()
	if err := Text(&b, p, TextOptions{}); err != nil || !bytes.Contains(b.Bytes(), []byte("nothing before somebody empties the quarantine /q/a b\n")) {
		t.Errorf("%v\n%s", err, b.Bytes())
	}
}

func indexRule(list []counted, name string) int {
	for i, c := range list {
		if c.Rule == name {
			return i
		}
	}
	return -1
}

// TestSchema: what is written is as the schemas say, and has no key that they lack.
func TestSchema(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"plan.json": PlanSchema(), "explain.json": ExplainSchema()} {
		schematest.Document(t, schematest.Closed(t, text), written(t, name))
	}
}

// TestNamesInJSON: the bytes of every name can be had from the JSON.
func TestNamesInJSON(t *testing.T) {
	t.Parallel()
	var v struct {
		Roots []struct {
			Jobs []struct {
				Name    string `json:"name"`
				NameB64 []byte `json:"name_b64"`
				PathB64 []byte `json:"path_b64"`
				Units   []struct {
					Path    string `json:"path"`
					PathB64 []byte `json:"path_b64"`
				} `json:"units"`
			} `json:"jobs"`
		} `json:"roots"`
	}
	if err := json.Unmarshal(written(t, "plan.json"), &v); err != nil {
		t.Fatal(err)
	}
	const name = "a*\u202eb\n\xff"
	j := &v.Roots[0].Jobs[2]
	if string(j.NameB64) != name || j.Name != `a*\u{202e}b\n\xff` || string(j.PathB64) != "/flink/"+name || string(j.Units[0].PathB64) != "/flink/"+name+"/"+runA {
		t.Errorf("%+v", j)
	}
	if u := &v.Roots[2].Jobs[0].Units[0]; u.Path != "/tmp/spark/日本" || u.PathB64 != nil {
		t.Errorf("%+v", u)
	}
}

type fullDisk struct{}

var errFull = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	t.Parallel()
	for name, write := range outputs {
		if err := write(fullDisk{}); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRulesDoc: the document has every rule with its sentence, as it is made here.
func TestRulesDoc(t *testing.T) {
	t.Parallel()
	const file, begin, end = "../../docs/plan.md", "-update\" -->\n", "<!-- rules: end -->"
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(doc), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("no marks")
	}
	var b strings.Builder
	b.WriteString("| rule | sentence | it ends when |\n|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		b.WriteString("| `" + name + "` | " + docSentence(rules[name].says) + " | " + docSentence(rules[name].change) + " |\n")
	}
	want := head + begin + b.String() + end + tail
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(want, string(doc)); diff != "" {
		t.Error(diff)
	}
}

// docSentence shows a fact by its name, and of plurals the one for many.
func docSentence(s string) string {
	s = regexp.MustCompile(`\{([a-z_]+)\|[^|}]*\|([^}]*)\}`).ReplaceAllString(s, "`$1` $2")
	s = regexp.MustCompile(`\{([a-z_]+)\+([a-z_]+)\}`).ReplaceAllString(s, "`$1` + `$2`")
	return strings.NewReplacer("{", "`", "}", "`", "[", "", "]", "", "|", `\|`).Replace(s)
}
