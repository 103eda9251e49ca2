package flink

import (
	"slices"
	"strconv"
	"strings"
)

// Names that mean something to fsweep itself.
const (
	// MarkerName is the file that keeps the directory that it is in.
	MarkerName = ".fsweep-keep"
	// MarkerXAttr is the extended attribute that keeps what has it.
	MarkerXAttr = "user.fsweep.keep"

	metadataName = "_metadata"
	zoneXAttr    = "raw.hdfs.crypto.encryption.zone"
)

// isUUID tells whether a name is a uuid as Java writes it.
func isUUID(name string) bool {
	if len(name) != 36 {
		return false
	}
	parts := strings.Split(name, "-")
	if len(parts) != 5 {
		return false
	}
	for i, n := range [...]int{8, 4, 4, 4, 12} {
		if !isHex(parts[i], n) {
			return false
		}
	}
	return true
}

// isRunID tells whether a name is one that Flink and its operator give to runs.
// In which case somebody copied it does not matter.
func isRunID(name string) bool {
	name = strings.ToLower(name)
	return isJobID(name) || isUUID(name)
}

// checkpointNumber gives N of chk-N; false if it is not written as Flink does.
func checkpointNumber(name string) (int64, bool) {
	digits, ok := strings.CutPrefix(name, "chk-")
	if !ok || digits == "" || digits[0] < '0' || digits[0] > '9' || digits[0] == '0' && len(digits) > 1 {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil
}

func looksLikeSavepoint(name string) bool { return strings.HasPrefix(name, "savepoint-") }

// RunDigits gives the six hex digits that a savepoint's name has of the id of its
// run; empty if it has none. They name a run, never a job, and all jobs in
// application mode share 000000 and ffffff.
func (u *Unit) RunDigits() string {
	if u.Kind != SavepointUnit || !isSavepoint(u.Name) {
		return ""
	}
	return u.Name[len("savepoint-"):][:6]
}

// isStore tells whether a name is that of a directory beside the clusters, with
// results of what ended.
func isStore(name string) bool {
	return name == "job-result-store" || name == "application-result-store"
}

// isReserved tells whether Flink, HDFS or fsweep use a name for something that
// is no job, so that a job of that name is a root declared wrongly.
func isReserved(name string) bool {
	return name == metadataName || isInProgress(name) || isStore(name) || pointerKind(name) != NoGuard ||
		slices.Contains([]string{"blob", "dstl", "_entropy_", ".Trash", MarkerName}, name)
}

// ofFlink tells whether Flink gives such a name to something, which then must not be
// in a child of layout children. Guards are no part of it: they are found anywhere.
func ofFlink[S string | []byte](name S) bool {
	if len(name) < len("chk-0") {
		return false
	}
	switch name[0] { // nearly all names end here
	case '_', '.', 'a', 'b', 'c', 'd', 'j', 's', 't':
	default:
		return false
	}
	n := string(name)
	return n == metadataName || isInProgress(n) || isStore(n) || isState(n) || isSavepoint(n) || pointerKind(n) != NoGuard ||
		strings.HasPrefix(n, "blob_p-") || strings.HasPrefix(n, "blob_t-")
}

// isInProgress tells whether a name is that of a `_metadata` that was never
// finished.
func isInProgress[S string | []byte](name S) bool {
	return begins(name, "_metadata.inprogress") || begins(name, "._metadata.inprogress")
}

// isMerged tells whether a directory in shared or taskowned is one of file
// merging, and isForSt whether it is one of a ForSt operator.
func isMerged(name string) bool { return strings.HasPrefix(name, "job_") }

func isForSt(name string) bool { return strings.HasPrefix(name, "op_") }

// impossible tells whether no client can make or use a name.
func impossible[S string | []byte](name S) bool {
	for i := range len(name) {
		if name[i] == '/' {
			return true
		}
	}
	switch string(name) {
	case "", ".", "..", ".snapshot":
		return true
	}
	return false
}

// GuardKind is what a guard is.
type GuardKind uint8

// The kinds of guards.
const (
	// NoGuard is none.
	NoGuard GuardKind = iota
	// MetadataGuard is the `_metadata` of a checkpoint or savepoint.
	MetadataGuard
	// CheckpointPointer is a completedCheckpoint* of a high availability directory.
	CheckpointPointer
	// JobPointer is a submittedJobGraph*, submittedExecutionPlan* or
	// submittedApplication*: it holds the path that a job is to be restored from.
	JobPointer
)

// String gives none, metadata, checkpoint-pointer or job-pointer.
func (k GuardKind) String() string {
	return [...]string{"none", "metadata", "checkpoint-pointer", "job-pointer"}[min(k, JobPointer)]
}

// guardKind tells by name which guard a file is.
func guardKind[S string | []byte](name S) GuardKind {
	if string(name) == metadataName {
		return MetadataGuard
	}
	return pointerKind(name)
}

func pointerKind[S string | []byte](name S) GuardKind {
	switch {
	case begins(name, "completedCheckpoint"):
		return CheckpointPointer
	case begins(name, "submittedJobGraph"), begins(name, "submittedExecutionPlan"), begins(name, "submittedApplication"):
		return JobPointer
	}
	return NoGuard
}

// begins is strings.HasPrefix without a string: it is asked about many names.
func begins[S string | []byte](name S, with string) bool {
	return len(name) >= len(with) && string(name[:len(with)]) == with
}

// quoted lists names as operators know it from Python: ['a', 'b'].
func quoted(names []string) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, name := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		q := strconv.Quote(name)
		b.WriteByte('\'')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`), "'", `\'`))
		b.WriteByte('\'')
	}
	b.WriteByte(']')
	return b.String()
}
