package main

import (
	"bytes"
	"strings"
	"testing"

	view "fsweep/reports/cleanup"
)

// TestExplainFreed: an explanation looks at no blocks, so it must not say that moving
// a candidate frees nothing.
func TestExplainFreed(t *testing.T) {
	t.Parallel()
	v := manyKinds(t)
	if len(v.decision.Items) == 0 {
		t.Fatal("no items")
	}
	for _, i := range v.decision.Items {
		x := v.answer(t, explainTarget{path: i.Path, exists: true, inodeID: i.INodeID})
		var b bytes.Buffer
		if err := view.ExplainJSON(&b, &view.Explanations{Paths: []*view.Explanation{x}}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), `"after_trash"`) || !strings.Contains(b.String(), `"needs_reference_proof"`) {
			t.Errorf("%s: %s", i.Path, b.String())
		}
	}
}
