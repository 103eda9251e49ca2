package fakehdfs

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"fsweep/execute"
)

// Options are what a test may choose. Zero values are filled in by [New].
type Options struct {
	Version    string        // of Hadoop; "3.4.2". Below 3.3 renames pass protected directories
	HA         bool          // two NameNodes, nn1 and nn2, of nameservice ns1
	Start      time.Time     // of the clock; 2026-01-02 03:04:05 UTC
	Trash      time.Duration // interval; a day. Negative: there is no trash
	PageSize   int           // entries of a page of a listing; 1000
	BlockSize  int64         // bytes; 128 MiB
	NoXAttrs   bool          // extended attributes are switched off
	NoSnapshot bool          // snapshottable directories have no trash of their own
	NoContent  bool          // there are no DataNodes: all files are empty
	NoLog      bool          // operations are counted, not recorded
	NoRetries  bool          // there is no retry cache: what is sent again is carried out again
}

// FS is a cluster in memory. All methods may be used by many goroutines at once.
// Methods that prepare a cluster act as its superuser, are no operations, meet no
// fault, and panic when they cannot do what they are asked for: that is a mistake of
// the test.
type FS struct {
	mu      sync.Mutex
	state   *state
	plan    func(Op) Fault
	crash   crash
	process *process
	clients int
	log     []Op
	ops     int
}

// process is what dies in a crash: all clients made since the last one.
type process struct{ dead bool }

// New makes an empty cluster.
func New(o Options) *FS {
	if o.Version == "" {
		o.Version = "3.4.2"
	}
	if o.Start.IsZero() {
		o.Start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	}
	if o.Trash == 0 {
		o.Trash = 24 * time.Hour
	}
	if o.PageSize == 0 {
		o.PageSize = 1000
	}
	if o.BlockSize == 0 {
		o.BlockSize = 128 << 20
	}
	now := o.Start.UnixMilli()
	return &FS{
		process: new(process),
		state: &state{
			opts: o, tree: newTree(now), now: now, trash: max(o.Trash, 0),
			groups: make(map[string][]string), retries: make(map[retryKey]int64),
		},
	}
}

// Clone gives a cluster in the same state, with its clock, retry cache and safe mode.
// It has no clients, no plan, no log, and counts operations from 0. It costs a few
// words for each inode; inodes are copied when one side changes them.
func (f *FS) Clone() *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := *f.state
	s.tree = f.state.tree.clone()
	s.groups = maps.Clone(s.groups)
	s.retries = maps.Clone(s.retries)
	s.protected = slices.Clone(s.protected)
	s.late = slices.Clone(s.late)
	return &FS{process: new(process), state: &s, clients: f.clients}
}

// Client gives ports of a new client, which acts as a user. The user "root" is the
// superuser. It belongs to the process that runs now, and dies with it.
func (f *FS) Client(user string) *Client {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clients++
	c := &Client{fs: f, user: user, process: f.process, number: f.clients}
	binary.BigEndian.PutUint64(c.id[8:], uint64(f.clients)) // no other client of this state ever has it
	return c
}

// Now gives the clock.
func (f *FS) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.UnixMilli(f.state.now).UTC()
}

// Advance moves the clock, backwards too. Each operation moves it by one millisecond.
func (f *FS) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state.now += d.Milliseconds()
}

// before tells whether the version is older.
func (o Options) before(major, minor int) bool {
	parts := strings.SplitN(o.Version, ".", 3)
	a, _ := strconv.Atoi(parts[0])
	b := 0
	if len(parts) > 1 {
		b, _ = strconv.Atoi(parts[1])
	}
	return a < major || a == major && b < minor
}

// nameNode gives the name of a NameNode.
func (s *state) nameNode(i int) execute.NameNode {
	if !s.opts.HA {
		return execute.NameNode{Address: "namenode.example:8020"}
	}
	id := fmt.Sprintf("nn%d", i+1)
	return execute.NameNode{Nameservice: "ns1", ID: id, Address: id + ".example:8020"}
}

// answer is what came of one operation.
type answer struct {
	err  error
	lost bool // no answer of a NameNode is known
}

// operate carries out one operation: counted, planned, recorded, perhaps hit by a fault.
func (f *FS) operate(ctx context.Context, p *process, op Op, effect func(*state) error) answer {
	if err := ctx.Err(); err != nil {
		return answer{err: err}
	}
	f.mu.Lock()
	if p.dead {
		f.mu.Unlock()
		return answer{err: ErrDead}
	}
	f.state.now++
	if done := f.state.catchUp(); !f.state.opts.NoLog {
		f.log = append(f.log, done...)
	}
	f.ops++
	op.N, op.At = f.ops, time.UnixMilli(f.state.now).UTC()
	index := len(f.log)
	if !f.state.opts.NoLog {
		f.log = append(f.log, op)
	}
	plan := f.plan
	f.mu.Unlock()
	var fault Fault
	if plan != nil {
		fault = plan(op)
	}
	r := &running{fs: f, process: p, op: op, fault: fault, effect: effect}
	got := r.run(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if index < len(f.log) && f.log[index].N == op.N {
		f.log[index].Effect, f.log[index].Err = r.took, got.err
	}
	return got
}

// running is an operation on its way.
type running struct {
	fs      *FS
	process *process
	op      Op
	fault   Fault
	effect  func(*state) error
	took    bool  // it reached the NameNode, which did what it was asked for
	said    error // what the NameNode answered
}

func (r *running) run(ctx context.Context) answer {
	if r.dies(crashBefore) {
		return answer{err: ErrDead}
	}
	if !r.fault.After {
		if got, over := r.strike(ctx); over {
			return got
		}
	}
	r.act()
	if r.dies(crashAfter) {
		return answer{err: ErrDead}
	}
	if r.fault.After {
		if got, over := r.strike(ctx); over {
			return got
		}
	}
	return answer{err: r.said}
}

// act has the NameNode do it.
func (r *running) act() {
	f := r.fs
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.op.Call != stepCall && r.op.nameNode != f.state.active {
		category := "READ"
		if r.op.Mutating {
			category = "WRITE"
		}
		r.said = refuse(standby, execute.ErrUnavailable, "Operation category %s is not supported in state standby. Visit https://s.apache.org/sbnn-error", category)
		return
	}
	r.said = r.effect(f.state)
	r.took = r.said == nil
}

// dies lets the process die here, if it is to.
func (r *running) dies(when crashWhen) bool {
	f := r.fs
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.process.dead {
		return true
	}
	if f.crash.n != r.op.N || f.crash.when != when {
		return false
	}
	r.process.dead = true
	f.crash = crash{}
	f.process = new(process)
	return true
}

// strike carries out the fault. It tells whether the operation is over with that.
func (r *running) strike(ctx context.Context) (answer, bool) {
	f := r.fs
	if r.fault.Do != nil {
		r.fault.Do(f)
	}
	switch r.fault.Kind {
	case None:
	case Lost:
		return answer{err: errConnection, lost: true}, true
	case Refused:
		e := *r.fault.Error
		return answer{err: &e}, true
	case False:
		return answer{err: errFalse, lost: r.op.Call == "rename2"}, true
	case Pretend:
		return answer{}, true
	case Frozen:
		return answer{err: f.freeze(ctx), lost: true}, true
	case Late:
		f.mu.Lock()
		defer f.mu.Unlock()
		if r.op.Mutating {
			f.state.late = append(f.state.late, late{f.state.now + r.fault.For.Milliseconds(), r.op, r.effect})
		}
		return answer{err: errConnection, lost: true}, true
	case Slow:
		if end, ok := ctx.Deadline(); ok && time.Until(end) <= r.fault.For {
			return answer{err: f.freeze(ctx), lost: true}, true
		}
		f.Advance(r.fault.For)
	case Jump:
		f.Advance(r.fault.For)
	case NameTaken, ParentGone, Swapped:
		f.mu.Lock()
		defer f.mu.Unlock()
		f.state.meddle(r.fault.Kind, r.op)
	}
	return answer{}, false
}

// freeze waits for the end of a context. The time until a deadline passes on the clock
// of the cluster alone.
func (f *FS) freeze(ctx context.Context) error {
	if end, ok := ctx.Deadline(); ok {
		f.Advance(time.Until(end))
		return context.DeadlineExceeded
	}
	if ctx.Done() == nil {
		panic("fakehdfs: a NameNode freezes, and the context of the call never ends")
	}
	<-ctx.Done()
	return ctx.Err()
}

var (
	// ErrDead is what all calls of a dead process give: nobody is there to see it.
	ErrDead = errors.New("fakehdfs: the process is dead")

	errConnection = errors.New("connection reset by peer")
	errFalse      = errors.New("NameNode answered false")
)
