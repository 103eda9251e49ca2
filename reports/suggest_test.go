package reports

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsweep/analyze"
	"fsweep/analyze/flink"
	"fsweep/analyze/namespace"
)

func suggestions() *Suggestions {
	unset := namespace.Quota{Namespace: namespace.Unset, Space: namespace.Unset}
	for k := range unset.Type {
		unset.Type[k] = namespace.Unset
	}
	near, far := unset, unset
	near.Namespace, near.Type[namespace.SSD] = 1000, 4096
	far.Space = 0 // a quota of 0 is one
	used := namespace.Usage{Namespace: 999, Space: 5000}
	used.Type[namespace.SSD] = 2048
	here := namespace.Usage{Namespace: 250, Space: 3000}
	here.Type[namespace.SSD] = 1024
	return &Suggestions{
		Source:   analyze.Source{Image: "fsimage_1", VerifiedReason: "not checked"},
		Findings: []namespace.Finding{{Code: "overflow", Count: 1, Message: "M."}},
		Trees: []flink.Suggestion{
			{
				Path: []byte("/f\n/cp"), INodeID: 16390, Layout: flink.JobRun, Jobs: 3, Units: 5, Checkpoints: 7,
				Totals: flink.Totals{Directories: 20, Files: 1200, Symlinks: 1, Length: 1000, Space: 3000},
				Quotas: []flink.QuotaShare{
					{Path: []byte("/f\n"), Quota: near, Used: used, Here: here},
					{Path: []byte("/"), Quota: far, Used: used, Here: here},
				},
			},
			{Path: []byte("/s\xff"), INodeID: 16400, Layout: flink.Savepoints, Units: 1, Totals: flink.Totals{Directories: 2}},
		},
		Policy: "# version: 1\n",
	}
}

func TestSuggestionsText(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := SuggestionsText(&b, suggestions()); err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(b.String(), "\nTrees: ")
	const want = `2
  layout      jobs  units  checkpoints  inodes   space consumed  path
  job-run        3      5            7   1,221  2.9 KiB (3,000)  /f\n/cp
  savepoints     0      1            0       2                0  /s\xff
  Units are runs, savepoints or clusters. A layout is declared in a policy, never guessed: look at a tree before you do.

What they fill of quotas
  quota of             limit             used  used %      by the tree  by the tree %  path of the quota  tree
  namespace            1,000              999   99.90              250          25.00  /f\n               /f\n/cp
  SSD        4.0 KiB (4,096)  2.0 KiB (2,048)   50.00  1.0 KiB (1,024)          25.00  /f\n               /f\n/cp
  space                    0  4.9 KiB (5,000)          2.9 KiB (3,000)                 /                  /f\n/cp

A policy to begin with; take the comments away
# version: 1
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(b.String(), "NOT VERIFIED: not checked") || !strings.Contains(b.String(), "overflow (1): M.") {
		t.Error(b.String())
	}
	b.Reset()
	if err := SuggestionsText(&b, &Suggestions{Policy: "# none\n"}); err != nil || strings.Contains(b.String(), "quota of") || !strings.Contains(b.String(), "\nTrees: 0\n") {
		t.Error(err, b.String())
	}
}

func TestSuggestionsJSON(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := SuggestionsJSON(&b, suggestions()); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Source   struct{ Image string }
		Findings []struct{ Code string }
		Trees    []map[string]any
		Policy   string
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	limit := func(of string, limit, used, here float64) map[string]any {
		return map[string]any{"of": of, "limit": limit, "used": used, "here": here}
	}
	want := []map[string]any{
		{
			"path": "/f\n/cp", "inode_id": 16390.0, "layout": "job-run", "jobs": 3.0, "units": 5.0, "checkpoints": 7.0,
			"directories": 20.0, "files": 1200.0, "symlinks": 1.0, "length": 1000.0, "space_consumed": 3000.0,
			"quotas": []any{
				map[string]any{"path": "/f\n", "limits": []any{limit("namespace", 1000, 999, 250), limit("SSD", 4096, 2048, 1024)}},
				map[string]any{"path": "/", "limits": []any{limit("space", 0, 5000, 3000)}},
			},
		},
		{
			"path": `/s\xff`, "path_b64": "L3P/", "inode_id": 16400.0, "layout": "savepoints", "jobs": 0.0, "units": 1.0, "checkpoints": 0.0,
			"directories": 2.0, "files": 0.0, "symlinks": 0.0, "length": 0.0, "space_consumed": 0.0, "quotas": []any{},
		},
	}
	if diff := cmp.Diff(want, got.Trees); diff != "" {
		t.Error(diff)
	}
	if got.Source.Image != "fsimage_1" || got.Findings[0].Code != "overflow" || got.Policy != "# version: 1\n" {
		t.Errorf("%+v", got)
	}
}
