package policy

import (
	"fmt"
	"strings"
)

// Layout is the shape of what lies below a root.
type Layout string

// The layouts.
const (
	JobRun     Layout = "job-run"    // ROOT/JOB/RUN/{chk-N, shared, taskowned}
	Run        Layout = "run"        // ROOT/RUN/{chk-N, shared, taskowned}
	Savepoints Layout = "savepoints" // ROOT/savepoint-… or ROOT/JOB/savepoint-…
	HAStorage  Layout = "ha-storage" // ROOT/CLUSTER-ID/{blob, completedCheckpoint…, …}
	Children   Layout = "children"   // ROOT/NAME, for listed names
)

func (l *Layout) set(v value) error {
	return oneOf(l, v, JobRun, Run, Savepoints, HAStorage, Children)
}

func (l *Layout) yaml() string { return string(*l) }

// Mode is whether items of a root may be executed.
type Mode string

// The modes.
const (
	Observe Mode = "observe" // items are listed, never executable
	Execute Mode = "execute"
)

func (m *Mode) set(v value) error { return oneOf(m, v, Observe, Execute) }

func (m *Mode) yaml() string { return string(*m) }

// OnTie is what happens if runs have equal newest times.
type OnTie string

// What happens on a tie.
const (
	KeepTied  OnTie = "keep" // all of them are kept
	StopOnTie OnTie = "stop" // the root stops
)

func (o *OnTie) set(v value) error { return oneOf(o, v, KeepTied, StopOnTie) }

func (o *OnTie) yaml() string { return string(*o) }

// Preflight is how far a misfit reaches.
type Preflight string

// The reaches of a misfit.
const (
	PreflightRoot Preflight = "root" // it stops its root
	PreflightAll  Preflight = "all"  // it stops every root
)

func (p *Preflight) set(v value) error { return oneOf(p, v, PreflightRoot, PreflightAll) }

func (p *Preflight) yaml() string { return string(*p) }

// UnreadableGuard is what stays when a guard cannot be read.
type UnreadableGuard string

// What stays.
const (
	KeepOwnerAndRoot UnreadableGuard = "owner-and-root" // what has its owner, and its root
	KeepEverything   UnreadableGuard = "everything"
)

func (u *UnreadableGuard) set(v value) error { return oneOf(u, v, KeepOwnerAndRoot, KeepEverything) }

func (u *UnreadableGuard) yaml() string { return string(*u) }

// Format is how a live source is written.
type Format string

// The formats of live sources.
const (
	Lines      Format = "lines"      // an id or path a line
	Kubernetes Format = "kubernetes" // kubectl get … -o json
	FlinkREST  Format = "flink-rest" // /jobs/overview, one answer or several in one file
)

func (f *Format) set(v value) error { return oneOf(f, v, Kubernetes, FlinkREST, Lines) }

func (f *Format) yaml() string { return string(*f) }

// oneOf sets a value that is one of a few words.
func oneOf[T ~string](to *T, v value, words ...T) error {
	var names []string
	for _, w := range words {
		if v.kind == textKind && v.text == string(w) {
			*to = w
			return nil
		}
		names = append(names, string(w))
	}
	last := len(names) - 1
	return fmt.Errorf("%q is not %s or %s", v.text, strings.Join(names[:last], ", "), names[last])
}
