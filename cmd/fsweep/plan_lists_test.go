package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestPlanLongestList: the longest list that a policy may have fits into a plan.
func TestPlanLongestList(t *testing.T) {
	t.Parallel()
	w := newPlanWorld(rand.New(rand.NewPCG(1, 1)))
	w.protect = nil
	for i := range 10_000 {
		path := fmt.Sprintf("/protected/%04d", i)
		w.tree.Dir(path)
		w.protect = append(w.protect, path)
	}
	file, _ := w.plan(t, 1)
	if head, _, _ := strings.Cut(string(file), "\n"); !strings.Contains(head, `"path":"/protected/9999"`) {
		t.Error("the last of them is not in the plan")
	}
}
