package cleanup

import (
	"testing"
	"time"

	"fsweep/proto/policy"
)

const hour = Duration(time.Hour)

var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

var (
	defaults    = policy.Defaults
	defaultRoot = policy.DefaultRoot
)

func mustParse(t *testing.T, src string) *Policy {
	t.Helper()
	p, err := ParsePolicy("policy.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return p
}
