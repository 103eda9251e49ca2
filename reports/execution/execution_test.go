package execution

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"fsweep/proto/planfile"
	"fsweep/proto/schematest"
)

const (
	imageMs = 1_796_000_000_000
	dayMs   = 86_400_000
)

func item(p planfile.Path, inodes, length, quota int64) *planfile.Item {
	return &planfile.Item{
		Path: p, InodeID: uint64(16_000 + inodes), MTimeMs: imageMs - 3*dayMs, Entries: inodes, Rule: "old_child",
		Totals:       planfile.Totals{Files: inodes - 1, Directories: 1, Length: length, Space: 3 * length},
		Freed:        planfile.Freed{Now: 0, AfterTrash: 3 * length},
		QuotaEffects: []planfile.Effect{{InodeID: 77, Inodes: inodes, Space: quota}},
	}
}

func head(execute bool) Head {
	h := Head{
		Tool: "fsweep-exec", Version: "1", Command: "run", Execute: execute, StartMs: imageMs + 1000, Conf: "/etc/conf", URI: "hdfs://ns1",
		NameNode: "nn1:8020", User: "flink", PlanFile: "plan.jsonl", Digest: planfile.Digest{1},
	}
	h.Header.Source.ImageTimeMs, h.Header.Removal = imageMs, planfile.RemovalTrash
	return h
}

// night is a run in which everything happens once.
func night(r *Report) error {
	a, b, c, d, e := item("/r/a", 5, 100, 10), item("/r/b\n\x1b[31m", 7, 200, 20), item("/r/c\xff", 2, 40, 30), item("/s/d", 3, 50, 1), item("/s/e", 4, 60, 2)
	r.Begin(head(true))
	for _, i := range []*planfile.Item{a, b, c, d, e} {
		r.Planned(i)
	}
	r.RootBegins("/r", imageMs+2000)
	r.Item(Item{Outcome: Moved, Path: a.Path, Item: a, Target: "/user/flink/.Trash/Current/r/a"})
	r.Item(Item{Outcome: Kept, Path: b.Path, Item: b, Rule: "referenced", Guard: "/x/_metadata\x07"})
	r.Item(Item{Outcome: Kept, Path: c.Path, Item: c, Rule: "a-new-rule", Facts: []planfile.Fact{{Name: "n\x1b", Number: 3}}})
	r.RootBegins("/s", imageMs+3000)
	r.Item(Item{Outcome: Failed, Path: d.Path, Item: d, Message: "NSQuotaExceededException: \x1b"})
	r.Item(Item{Outcome: Moved, Path: e.Path, Item: e, Target: "/t"})
	r.Item(Item{Outcome: Restored, Path: e.Path, Item: e, Target: "/user/flink/.Trash/Current/s/e"})
	r.Note("slow\x1b")
	return r.End(End{AtMs: imageMs + 4000, ExitCode: 5, Last: "ab", TrashIntervalMs: dayMs, Quotas: []planfile.Quota{{Path: "/r", InodeID: 77}}})
}

// TestJSON: the document is as its schema says, and the sums are those of the items, by
// hand.
func TestJSON(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := night(New(&b, Options{JSON: true})); err != nil {
		t.Fatal(err)
	}
	schematest.Document(t, schematest.Closed(t, Schema()), b.Bytes())
	var got struct {
		Items   []struct{ Path, Outcome string }
		Summary struct {
			Planned, Done, Restored, Skipped, Failed count
			Freed                                    planfile.Freed
			Quotas                                   []struct{ Inodes, Space int64 }
			EmptiedFromMs                            int64 `json:"emptied_from_ms"`
			EmptiedToMs                              int64 `json:"emptied_to_ms"`
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	s := got.Summary
	if len(got.Items) != 6 || got.Items[1].Path != "/r/b\n\x1b[31m" || got.Items[2].Path != `/r/c\xff` {
		t.Errorf("items %+v", got.Items)
	}
	for name, c := range map[string]struct{ got, want count }{
		"planned":  {s.Planned, count{5, 21, 450, 1350}},
		"done":     {s.Done, count{2, 9, 160, 480}},
		"restored": {s.Restored, count{1, 4, 60, 180}},
		"skipped":  {s.Skipped, count{2, 9, 240, 720}},
		"failed":   {s.Failed, count{1, 3, 50, 150}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", name, c.got, c.want)
		}
	}
	// What was moved back frees nothing.
	if s.Freed != (planfile.Freed{AfterTrash: 300}) || len(s.Quotas) != 1 || s.Quotas[0].Inodes != 5 {
		t.Errorf("freed %+v, quotas %+v", s.Freed, s.Quotas)
	}
	if s.EmptiedFromMs != imageMs+4000+dayMs || s.EmptiedToMs != imageMs+4000+2*dayMs {
		t.Errorf("the trash is emptied from %d to %d", s.EmptiedFromMs, s.EmptiedToMs)
	}
}

// TestText: one line for each thing, with the words that operators know, whatever names
// and messages hold.
func TestText(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := night(New(&b, Options{})); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if strings.ContainsAny(text, "\x1b\x07") || !utf8.ValidString(text) {
		t.Errorf("it steers the terminal: %q", text)
	}
	for _, want := range []string{
		"\nMOVED         /r/a ", " 3d       4        100B     to /user/flink/.Trash/Current/r/a\n",
		"\nKEEP          /r/b\\n\\x1b[31m ", "because referenced by /x/_metadata\\x07\n",
		"\nKEEP          /r/c\\xff ", "because a-new-rule: n\\x1b 3\n",
		"\nROOT          /r ", "START_TIME 2026-11-30T00:53:22Z\n", "END_TIME 2026-11-30T00:53:23Z\n",
		"\nERROR         /s/d ", "not moved: NSQuotaExceededException: \\x1b\n",
		"\nRESTORED      /s/e ", " from /user/flink/.Trash/Current/s/e\n",
		"  planned             5 items, 21 inodes, 450B\n",
		"    referenced        1 item, 7 inodes, 200B\n",
		"  frees later         300B on disk, when the trash is emptied: 2026-12-01T00:53:24Z to 2026-12-02T00:53:24Z\n",
		"\nQUOTA         /r ", "at once 5 inodes, 10B on disk\n",
		"RESULT        ended with failures",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestLimits: the list is bounded, what is counted is not, and errors are always shown.
func TestLimits(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	r := New(&b, Options{MaxListLines: 2})
	r.Begin(head(false))
	for range 5 {
		i := item("/r/a", 1, 1, 0)
		r.Item(Item{Outcome: WouldMove, Path: i.Path, Item: i})
		r.Item(Item{Outcome: Failed, Path: i.Path, Item: i})
	}
	if err := r.End(End{}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\nWOULD-DELETE"); n != 2 {
		t.Errorf("%d lines", n)
	}
	if n := strings.Count(b.String(), "\nERROR "); n != 5 {
		t.Errorf("%d errors", n)
	}
	if !strings.Contains(b.String(), "3 more WOULD-DELETE lines") || !strings.Contains(b.String(), "would be moved      5 items") {
		t.Error(b.String())
	}
}

// TestProblems: every code has a sentence and an advice, and a document of nothing but
// problems is one.
func TestProblems(t *testing.T) {
	t.Parallel()
	var text, doc bytes.Buffer
	for _, r := range []*Report{New(&text, Options{}), New(&doc, Options{JSON: true})} {
		r.Begin(head(false))
		for code := range problems {
			r.Problem(Problem{Code: code, Path: "/a\n"})
		}
		r.Problem(Problem{Code: "new-code", Text: "words\x1b"})
		if err := r.End(End{ExitCode: 3}); err != nil {
			t.Fatal(err)
		}
	}
	schematest.Document(t, schematest.Closed(t, Schema()), doc.Bytes())
	if n := strings.Count(text.String(), "\nERROR "); n != len(problems)+1 {
		t.Errorf("%d lines", n)
	}
	for code, p := range problems {
		if p[0] == "" || p[1] == "" {
			t.Errorf("%s says nothing", code)
		}
	}
	if !strings.Contains(text.String(), "REFUSED, nothing was changed") || strings.Contains(text.String(), "\x1b") {
		t.Error(text.String())
	}
}

// TestEveryRuleHasWords: what the checks and the acts call a rule or a problem has a
// sentence. Their names are looked for in the sources, because no list of them is needed
// but here.
func TestEveryRuleHasWords(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../docs/OUTPUT.md")
	if err != nil {
		t.Fatal(err)
	}
	for rule := range kept {
		if !bytes.Contains(manual, []byte("`"+rule+"`")) {
			t.Errorf("docs/OUTPUT.md does not explain %s", rule)
		}
	}
	for _, c := range []struct {
		file, pattern string
		known         func(string) bool
		least         int
	}{
		{"check/rules.go", ` Rule = "([a-z-]+)"`, func(r string) bool { return kept[r] != "" }, 21},
		{"check/preflight.go", `(?m)^\t[A-Z]\w+ += "([a-z-]+)"`, func(p string) bool { return problems[p][0] != "" }, 18},
		{"act/move.go", `Rule: "([a-z-]+)"`, func(r string) bool { return kept[r] != "" }, 3},
		{"act/run.go", `Rule: "([a-z-]+)"`, func(r string) bool { return kept[r] != "" }, 1},
		{"act/back.go", `(?:Rule: |State += )"([a-z-]+)"`, func(r string) bool { return kept[r] != "" || r == "in-trash" }, 7},
	} {
		src, err := os.ReadFile("../../execute/" + c.file)
		if err != nil {
			t.Fatal(err)
		}
		names := regexp.MustCompile(c.pattern).FindAllSubmatch(src, -1)
		if len(names) < c.least {
			t.Errorf("%s: only %d names found", c.file, len(names))
		}
		for _, n := range names {
			if !c.known(string(n[1])) {
				t.Errorf("%s: %s has no sentence", c.file, n[1])
			}
		}
	}
}

// TestWhatIsNotKnown: an undo knows paths only, and does not say that they held nothing.
// Long names of rules leave room for what follows, and a guard is named once.
func TestWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	r := New(&b, Options{})
	h := head(true)
	h.Command = "undo"
	r.Begin(h)
	r.Item(Item{Outcome: Restored, Path: "/r/a"})
	r.Item(Item{Outcome: Kept, Path: "/r/b", Rule: "purged"})
	i := item("/r/c", 2, 40, 0)
	r.Item(Item{Outcome: Kept, Path: i.Path, Item: i, Rule: "belt-trash-interval"})
	r.Item(Item{Outcome: Kept, Path: i.Path, Item: i, Rule: "guard-not-readable", Guard: "/x", Facts: []planfile.Fact{{Name: "error", Text: "none for /x"}}})
	r.Item(Item{Outcome: Kept, Path: i.Path, Item: i, Rule: "named-by-a-guard", Guard: "/y"})
	for rule, fact := range map[string]planfile.Fact{
		"new-run": {Name: "run", Text: "/r/j/new"}, "may-be-restored": {Name: "young_run", Text: "/r/j/young"}, "referenced": {Name: "reference", Text: "/r/c/s"},
	} {
		r.Item(Item{Outcome: Kept, Path: i.Path, Item: i, Rule: rule, Guard: "/z", Facts: []planfile.Fact{fact}})
	}
	if err := r.End(End{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"  moved back          1 item\n", "  failed              0 items\n",
		"    belt-trash-interval  1 item, 2 inodes, 40B\n", "    purged               1 item\n",
		"cannot be read: none for /x\n", "have somebody fetch them for --guards-dir.\n", "has its name (/y)\n",
		"does not know: /r/j/new (/z)\n", "complete checkpoint: /r/j/young is young (/z)\n", "referenced: /r/c/s by /z\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// TestWriteFails: the end gives the first error.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	for _, isJSON := range []bool{false, true} {
		if err := night(New(broken{}, Options{JSON: isJSON})); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("JSON %v: %v", isJSON, err)
		}
	}
}
