package rig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// AuditEvent is one line of a NameNode's audit log. What was answered from the
// retry cache has no line, nor have some failures other than of permission.
type AuditEvent struct {
	NameNode string // nn1
	Allowed  bool
	User     string
	Command  string // rename; without its options
	Source   string
	Target   string // "" if none
	Context  string // of the caller, "" if none
}

// reads are commands that change nothing. Any other one is taken for a change.
var reads = map[string]bool{
	"getfileinfo": true, "listStatus": true, "contentSummary": true, "quotaUsage": true, "getXAttrs": true, "listXAttrs": true, "getEZForPath": true,
	"isFileClosed": true, "open": true, "msync": true, "safemode_get": true, "getAclStatus": true, "getfilelinkinfo": true, "checkAccess": true,
	"getServerDefaults": true, "fsck": true, "listEncryptionZones": true, "getErasureCodingPolicy": true, "getStoragePolicy": true,
	"listSnapshottableDirectory": true, "getLinkTarget": true, "datanodeReport": true,
}

// Mutating tells whether the command changes something.
func (e *AuditEvent) Mutating() bool { return !reads[e.Command] }

// Audit gives the audit log of each NameNode, one after the other, so far. Events of
// the administrator are those of the user root.
func (c *Cluster) Audit(t testing.TB) []AuditEvent {
	t.Helper()
	var events []AuditEvent
	for _, n := range c.nodes {
		b, err := os.ReadFile(filepath.Join(c.dir, "audit-"+n.id+".log"))
		if err != nil {
			t.Fatalf("rig: %v", err)
		}
		for line := range strings.Lines(string(b)) {
			e, ok := parseAudit(strings.TrimSuffix(line, "\n"))
			if !ok {
				t.Fatalf("rig: audit log of %s: %q", n.id, line)
			}
			e.NameNode = n.id
			events = append(events, e)
		}
	}
	return events
}

// Mutations gives what a user changed or tried to change so far.
func (c *Cluster) Mutations(t testing.TB, user string) []AuditEvent {
	t.Helper()
	var found []AuditEvent
	for _, e := range c.Audit(t) {
		if e.User == user && e.Mutating() {
			found = append(found, e)
		}
	}
	return found
}

// parseAudit takes a line apart: KEY=VALUE with tabs between.
func parseAudit(line string) (AuditEvent, bool) {
	var e AuditEvent
	seen := 0
	for field := range strings.SplitSeq(line, "\t") {
		key, value, ok := strings.Cut(field, "=")
		if !ok {
			return e, false
		}
		seen++
		switch key {
		case "allowed":
			e.Allowed = value == "true"
		case "ugi":
			e.User, _, _ = strings.Cut(value, " ")
		case "cmd":
			e.Command, _, _ = strings.Cut(value, " ")
		case "src":
			e.Source = orEmpty(value)
		case "dst":
			e.Target = orEmpty(value)
		case "callerContext":
			e.Context = value
		default:
			seen--
		}
	}
	return e, seen >= 5
}

func orEmpty(s string) string {
	if s == "null" {
		return ""
	}
	return s
}
