package hdfs_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"fsweep/execute/fakehdfs"
	"fsweep/execute/hdfstest"
)

// fakeAnswersTheSame does random operations to real NameNodes and to the cluster in memory that
// the executor's tests use. A difference comes back with FSWEEP_SEED=<the seed in the log>.
func fakeAnswersTheSame(t *testing.T, c hdfstest.Cluster) {
	const rounds, steps = 3, 250
	seed := rand.Uint64()
	if s := os.Getenv("FSWEEP_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("FSWEEP_SEED: %v", err)
		}
	}
	for i := range uint64(rounds) {
		t.Logf("FSWEEP_SEED=%d", seed+i)
		fake := fakehdfs.New(fakehdfs.Options{Version: c.Can().Version, HA: c.Can().HA})
		for _, d := range hdfstest.Compare(t, seed+i, steps, c, fake.Cluster()) {
			t.Errorf("seed %d: %s", seed+i, d)
		}
	}
}
