package fakehdfs_test

import (
	"testing"

	"fsweep/execute/fakehdfs"
	"fsweep/execute/hdfstest"
)

// TestCompareFindsADifference shows that the comparison of clusters can fail: one that
// pretends a rename is found, and one that does not is not.
func TestCompareFindsADifference(t *testing.T) {
	t.Parallel()
	moves := 0
	for seed := range uint64(5) {
		a, b := fakehdfs.New(fakehdfs.Options{}), fakehdfs.New(fakehdfs.Options{HA: true})
		if d := hdfstest.Compare(t, seed, 300, a.Cluster(), b.Cluster()); len(d) > 0 {
			t.Fatalf("seed %d: %v", seed, d)
		}
		moved := 0
		for _, op := range a.Mutating() {
			if op.Call == "rename2" && op.Effect {
				moved++
			}
		}
		moves += moved
		liar := fakehdfs.New(fakehdfs.Options{})
		liar.Plan(func(op fakehdfs.Op) fakehdfs.Fault {
			if op.Call == "rename2" {
				return fakehdfs.Fault{Kind: fakehdfs.Pretend}
			}
			return fakehdfs.Fault{}
		})
		if d := hdfstest.Compare(t, seed, 300, fakehdfs.New(fakehdfs.Options{}).Cluster(), liar.Cluster()); len(d) == 0 {
			t.Errorf("seed %d: no difference was found", seed)
		}
	}
	if moves < 50 {
		t.Errorf("only %d renames", moves)
	}
}
