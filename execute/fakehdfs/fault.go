package fakehdfs

import (
	"slices"
	"time"

	"fsweep/execute"
)

// Op is one operation: a message to a NameNode (getFileInfo, rename2, …), the read of
// a file, or a step of the test's own ([FS.Step]). One call of a port may take several,
// and a client that looks for the ACTIVE NameNode sends one again.
type Op struct {
	N        int    // from 1, of all clients together
	Port     string // method of the port: Stat, Rename, …
	Call     string // message: getFileLinkInfo, rename2, …
	Mutating bool
	User     string
	Client   int       // number of the client, from 1
	NameNode string    // address it went to
	At       time.Time // by the clock of the cluster
	Path     string    // what it asked about, or the source of a rename
	ID       uint64    // the inode that it names; 0: none

	Move   execute.Move // of a rename
	CallID execute.Call // of a rename
	Resent bool         // a rename by Resend

	Effect bool  // the NameNode did what it was asked for
	Err    error // what the client saw

	nameNode int
}

// FaultKind is what goes wrong.
type FaultKind uint8

// The kinds of faults. Each strikes before the effect of the operation, or after it.
const (
	None       FaultKind = iota
	Lost                 // the connection breaks: the request is lost, or with After the answer
	Refused              // the NameNode answers Error
	False                // the NameNode answers false, or nothing, where that is possible: see [FS.Plan]
	Pretend              // the NameNode answers success; without After it did nothing
	Frozen               // no answer until the context ends; with After the operation takes effect
	Late                 // no answer; a change takes effect when For has passed on the clock, unless there was a failover
	Slow                 // the answer takes For on the clock; the context may end before
	Jump                 // the clock jumps by For
	NameTaken            // a directory of root's stands at the target
	ParentGone           // the directory of the target, or of what was asked about, is moved away
	Swapped              // what the operation is about is moved away, and a new inode like it stands there
)

// Fault is what happens to one operation. The zero value is none.
type Fault struct {
	Kind  FaultKind
	After bool                 // strike when the operation has taken effect
	Error *execute.RemoteError // the answer of Refused
	For   time.Duration        // of Late, Slow and Jump
	Do    func(*FS)            // called first, at the same moment: changes the cluster, stops a context
}

// Named is a fault with a name.
type Named struct {
	Name string
	Fault
}

// Faults gives faults of each kind and moment that a cluster can have, for tests that
// put each of them at each operation. Refusals after the effect are not among them, but for
// those that make a client ask again: a NameNode that refuses has done nothing.
func Faults() []Named {
	all := []Named{
		{"safe mode", Fault{Kind: Refused, Error: SafeMode()}},
		{"permission", Fault{Kind: Refused, Error: Permission()}},
		{"pretended", Fault{Kind: Pretend}},
		{"late", Fault{Kind: Late, For: 5 * time.Second}},
		{"very late", Fault{Kind: Late, For: 5 * time.Minute}},
	}
	for _, n := range []Named{
		{"lost", Fault{Kind: Lost}},
		{"frozen", Fault{Kind: Frozen}},
		{"false", Fault{Kind: False}},
		{"standby", Fault{Kind: Refused, Error: Standby()}},
		{"retriable", Fault{Kind: Refused, Error: Retriable()}},
		{"slow", Fault{Kind: Slow, For: 3 * time.Second}},
		{"very slow", Fault{Kind: Slow, For: time.Hour}},
		{"clock forwards", Fault{Kind: Jump, For: 2 * time.Hour}},
		{"clock backwards", Fault{Kind: Jump, For: -2 * time.Hour}},
		{"name taken", Fault{Kind: NameTaken}},
		{"parent gone", Fault{Kind: ParentGone}},
		{"swapped", Fault{Kind: Swapped}},
		{"failover", Fault{Do: (*FS).Failover}},
	} {
		after := n
		after.Name, after.After = n.Name+" after", true
		n.Name += " before"
		all = append(all, n, after)
	}
	return all
}

// Standby is the answer of a NameNode that is not ACTIVE. The client looks for another.
func Standby() *execute.RemoteError {
	return refuse(standby, execute.ErrUnavailable, "Operation category WRITE is not supported in state standby. Visit https://s.apache.org/sbnn-error")
}

// Retriable is the answer of a NameNode that wants to be asked again.
func Retriable() *execute.RemoteError {
	return refuse(retriable, execute.ErrUnavailable, "NameNode still not started")
}

// SafeMode is the answer of a NameNode that takes no changes.
func SafeMode() *execute.RemoteError {
	return refuse(safeMode, execute.ErrSafeMode, "Cannot rename. Name node is in safe mode.")
}

// Permission is the answer to a user who may not do that.
func Permission() *execute.RemoteError {
	return refuse(accessControl, execute.ErrPermission, "Permission denied")
}

// Plan sets what decides, for each operation, what happens to it; nil: nothing does.
// It is called before the operation takes effect, without locks, and may use the FS.
// [False] gives nothing (null) to a look at one inode or a listing, false to mkdirs and
// isFileClosed; other calls fail, as they have no such answer.
func (f *FS) Plan(plan func(Op) Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plan = plan
}

// At plans one fault, for operation n.
func (f *FS) At(n int, fault Fault) {
	f.Plan(func(op Op) Fault {
		if op.N == n {
			return fault
		}
		return Fault{}
	})
}

type crashWhen uint8

const (
	crashBefore crashWhen = iota + 1
	crashAfter
)

type crash struct {
	n    int
	when crashWhen
}

// CrashAfter lets the process die when operation n has taken effect and nobody has seen
// its answer: that call and all later ones of clients that exist then give [ErrDead], are not
// counted and do nothing. Clients made afterwards belong to a new process.
func (f *FS) CrashAfter(n int) { f.setCrash(crash{n, crashAfter}) }

// CrashBefore is CrashAfter, but operation n has no effect.
func (f *FS) CrashBefore(n int) { f.setCrash(crash{n, crashBefore}) }

func (f *FS) setCrash(c crash) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.crash = c
}

// Ops gives the number of operations so far.
func (f *FS) Ops() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ops
}

// Log gives all operations so far.
func (f *FS) Log() []Op {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.log)
}

// Mutating gives those operations that ask for a change.
func (f *FS) Mutating() []Op {
	return slices.DeleteFunc(f.Log(), func(op Op) bool { return !op.Mutating })
}

// ForgetLog empties the log; the count goes on.
func (f *FS) ForgetLog() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = nil
}

const stepCall = "step"

// meddle is somebody else's doing between two operations. Where it is not possible,
// nothing happens.
func (s *state) meddle(kind FaultKind, op Op) {
	path := op.Path
	if op.Move.To != "" && kind != Swapped {
		path = op.Move.To
	}
	l, err := s.tree.locate(asJava(path))
	if err != nil || len(l.names) == 0 {
		return
	}
	p, n := l.parent(), l.last()
	switch {
	case kind == NameTaken && p != nil && n == nil && p.kind == execute.Directory:
		s.tree.add(p.id, l.names[len(l.names)-1], execute.Directory, superuser, 0o755, s.now)
	case kind == ParentGone && p != nil && p.id != rootID:
		s.park(p)
	case kind == Swapped && n != nil:
		was := *n
		s.park(n)
		m := s.tree.add(p.id, was.name, was.kind, was.owner, was.perm, was.mtime)
		m.group, m.content, m.repl, m.ec, m.atime = was.group, was.content, was.repl, was.ec, was.atime
	}
}

// park moves an inode to a name beside its own that nobody uses.
func (s *state) park(n *inode) {
	name := n.name + ".parked"
	for s.tree.inodes[n.parent].child(name) != 0 {
		name += "+"
	}
	s.tree.detach(n.id, s.now)
	s.tree.attach(n.id, n.parent, name, s.now)
}
