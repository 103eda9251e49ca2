package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"fsweep/execute/act"
	"fsweep/execute/check"
	"fsweep/proto/planfile"
	"fsweep/reports/execution"
)

// TestGuardIsShownOnce: the guard that decides has the same text in the results of a dry run and of an act,
// whose journal holds it as a fact.
func TestGuardIsShownOnce(t *testing.T) {
	t.Parallel()
	i := &planfile.Item{Path: "/a", InodeID: 7}
	v := check.Verdict{Rule: check.ReferredTo, Guard: "/b\\\n/_metadata", Facts: []planfile.Fact{{Name: "reference", Text: "/a/x"}}}
	var texts [2]string
	for n := range texts {
		var b bytes.Buffer
		e := &task{report: execution.New(&b, execution.Options{JSON: true})}
		e.report.Begin(execution.Head{Command: "run"})
		if a := verdict(&v); n == 0 {
			e.report.Item(kept(i, &v, 5))
		} else {
			e.watch(act.Event{Kind: act.ItemSkipped, Path: i.Path, Item: i, Rule: a.Rule, Facts: a.Facts})
		}
		if err := e.report.End(execution.End{}); err != nil {
			t.Fatal(err)
		}
		var out struct {
			Items []struct {
				Guard string          `json:"guard"`
				Facts []planfile.Fact `json:"facts"`
			} `json:"items"`
		}
		if err := json.Unmarshal(b.Bytes(), &out); err != nil || len(out.Items) != 1 || len(out.Items[0].Facts) != 1 {
			t.Fatalf("%v\n%s", err, b.Bytes())
		}
		texts[n] = out.Items[0].Guard
	}
	if want := `/b\\\n/_metadata`; texts[0] != want || texts[1] != want {
		t.Errorf("%q, want %q", texts, want)
	}
}
