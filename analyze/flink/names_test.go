package flink

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// TestCheckpointNumber: only what Java writes for a number that is not negative counts.
func TestCheckpointNumber(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{0, 1, 7, 10, 99, 100, 1234567, math.MaxInt64} {
		name := "chk-" + strconv.FormatInt(n, 10)
		if got, ok := checkpointNumber(name); got != n || !ok {
			t.Errorf("%s: %d, %v", name, got, ok)
		}
	}
	for _, name := range []string{"", "chk", "chk-", "chk--1", "chk-+1", "chk-01", "chk-00", "chk-1 ", "chk- 1", "chk-1_0", "chk-0x1", "chk-1e3", "Chk-1", "chk-9223372036854775808", "xchk-1", "chk-1/"} {
		if n, ok := checkpointNumber(name); ok {
			t.Errorf("%q: %d", name, n)
		}
	}
}

// TestNamesOfBytes: a name of bytes is judged as the same name as a string.
func TestNamesOfBytes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]GuardKind{
		"_metadata": MetadataGuard, "completedCheckpoint": CheckpointPointer, "completedCheckpoint7f": CheckpointPointer, "submittedJobGraph1": JobPointer,
		"submittedExecutionPlan": JobPointer, "submittedApplicationx": JobPointer,
		"": NoGuard, "_metadat": NoGuard, "_metadata1": NoGuard, "completedCheckpoin": NoGuard, "CompletedCheckpoint1": NoGuard, "submittedJob": NoGuard, "_metadata.inprogress": NoGuard,
	} {
		if guardKind(name) != want || guardKind([]byte(name)) != want || IsGuard([]byte(name)) != (want != NoGuard) {
			t.Errorf("%q: %v, %v, want %v", name, guardKind(name), guardKind([]byte(name)), want)
		}
		if progress := strings.HasPrefix(name, "_metadata.inprogress"); isInProgress(name) != progress || isInProgress([]byte(name)) != progress {
			t.Errorf("%q: in progress %v", name, !progress)
		}
	}
}
