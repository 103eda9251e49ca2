package act

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"fsweep/execute"
	"fsweep/execute/fakehdfs"
	"fsweep/proto/journal"
	"fsweep/proto/planfile"
)

const user = "alice"

// world is a cluster, a plan for it, and the disk of the host that holds the journal.
type world struct {
	fs       *fakehdfs.FS
	plan     Plan
	items    []planfile.Item
	keep     map[uint64]string // rules of items that the checks keep
	referred []uint64          // found at the end to be referred to
	disk     *disk
	undoDisk *disk
	aside    []string      // paths of what is no item, and may come and go
	shelf    []*disk       // journals of earlier processes, which nobody goes on with
	past     []fakehdfs.Op // renames that had an effect before the cluster was cloned
	origin   *world        // before what is undone
	byPlan   bool          // it is undone without a journal
	fault    func(fakehdfs.Op) fakehdfs.Fault
	// forgetful: there is no retry cache, so what arrives late can happen a second time.
	forgetful bool
	random    int
	timeout   time.Duration

	listed   map[uint64]bool // items that the plan does not want moved
	age      time.Duration   // of the answers of Again
	held     planfile.Path
	checking func() // what happens during Check
	changed  bool   // what is checked once more is not as it was
	soon     func() // what happens during the next sleep
	early    bool   // what is referred to is found at once
	back     bool   // the checks see what was moved and is back
	user     string // who acts, if not the usual one
}

// disk holds one journal.
type disk struct {
	data    []byte
	durable int
	after   bool // a write that fails reached the disk whole
}

var longName = strings.Repeat("n", 250)

// newWorld has an item for every branch of the move.
func newWorld(t testing.TB, o fakehdfs.Options) *world {
	t.Helper()
	fs := fakehdfs.New(o)
	fs.Mkdir("/locks", user, 0o777)
	fs.Mkdir("/user/alice", user, 0o755)
	fs.Mkdir("/zone", user, 0o755)
	fs.EncryptionZone("/zone")
	fs.Mkdir("/zone/.Trash", user, 0o777)
	w := &world{fs: fs, keep: map[uint64]string{}, disk: &disk{}, undoDisk: &disk{}}
	for _, name := range []string{
		"/data/a/plain", "/data/a/taken", "/data/b/below-a-file", "/data/b/kept", "/data/c/" + longName, "/data/c/two words\n*", "/zone/d/sealed",
	} {
		fs.Put(name+"/chk-1/_metadata", user, []byte("x"))
		fs.Put(name+"/shared/s", user, []byte("yy"))
		fs.Mkdir(name+"/chk-1", user, 0o755)
		fs.Mkdir(name+"/shared", user, 0o755)
		for p := name; p != "/"; p = path.Dir(p) {
			if p != "/zone" {
				fs.Mkdir(p, user, 0o755)
			}
		}
	}
	fs.Put("/data/c/foreign/inner/x", "bob", nil)
	fs.Mkdir("/data/c/foreign", user, 0o755)
	fs.Mkdir("/data/c/foreign/inner", "bob", 0o700)
	fs.Put("/data/e/stays", user, []byte("never moved"))
	const trash = "/user/alice/.Trash/Current"
	fs.Put(trash+"/data/a/taken/x", user, nil)
	fs.Put(trash+"/data/b", user, nil)
	fs.Put(trash+"/data/c/"+longName, user, nil)
	for p := trash + "/data/c"; p != "/user/alice"; p = path.Dir(p) {
		fs.Mkdir(p, user, 0o700)
	}
	fs.Mkdir(trash+"/data/a", user, 0o700)
	fs.Mkdir(trash+"/data/a/taken", user, 0o700)
	for _, name := range []string{
		"/data/a/plain", "/data/a/taken", "/data/b/below-a-file", "/data/b/kept", "/data/c/" + longName, "/data/c/two words\n*", "/data/c/foreign", "/zone/d/sealed",
	} {
		w.add(name)
	}
	w.keep[w.id("/data/b/kept")] = "referenced"
	lock, _ := fs.Lookup("/locks")
	data, _ := fs.Lookup("/data")
	w.plan = Plan{File: "plan.jsonl", Digest: sha256.Sum256([]byte("plan")), Items: int64(len(w.items)), Header: planfile.Header{
		Nameservice: "ns1", Removal: planfile.RemovalTrash,
		LockDir: planfile.Place{Path: "/locks", InodeID: lock.ID}, Anchors: []planfile.Place{{Path: "/data", InodeID: data.ID}},
		Pace: planfile.Pace{BetweenItemsMs: 100, BetweenRootsMs: 60_000, RPCTimeoutMs: 10_000, StopOn: "anomaly"},
	}}
	return w
}

func (w *world) id(p string) uint64 {
	e, ok := w.fs.Lookup(p)
	if !ok {
		panic("no " + p)
	}
	return e.ID
}

func (w *world) add(p string) {
	i := planfile.Item{
		Kind: planfile.KindUnit, Path: planfile.Path(p), InodeID: w.id(p), ParentID: w.id(path.Dir(p)),
		Root: planfile.Path("/" + strings.Split(p, "/")[1]), Entries: 5, Totals: planfile.Totals{Files: 2, Directories: 3, Length: 3, Space: 9},
	}
	w.items = append(w.items, i)
}

// clone is a world of its own in the same state.
func (w *world) clone() *world {
	c := *w
	c.fs = w.fs.Clone()
	d, u := *w.disk, *w.undoDisk
	d.data, u.data = slices.Clone(d.data), slices.Clone(u.data)
	c.disk, c.undoDisk = &d, &u
	c.shelf, c.past = slices.Clone(w.shelf), w.effects()
	return &c
}

// other gives a disk for a journal that is looked at in the end alone.
func (w *world) other() *disk {
	d := &disk{}
	w.shelf = append(w.shelf, d)
	return d
}

// fresh makes room for a new journal.
func (w *world) fresh(d *disk) {
	if len(d.data) > 0 {
		w.shelf = append(w.shelf, &disk{data: d.data, durable: d.durable})
	}
	d.data, d.durable = nil, 0
}

// params makes a new process.
func (w *world) params(d *disk) *Params {
	name := cmp.Or(w.user, user)
	c := w.fs.Client(name)
	p := &Params{
		Look: c, Move: c, Clock: clock{w.fs, c, w}, Process: Process{Tool: "fsweep-exec", Version: "1", User: name, Host: "host", PID: 4711},
		Plan: w.plan, Check: &checker{w: w, c: c},
		Random: func() string { w.random++; return fmt.Sprintf("r%d", w.random) },
	}
	if w.timeout > 0 {
		p.Plan.Header.Pace.RPCTimeoutMs = w.timeout.Milliseconds()
	}
	p.Create = func(h *journal.Header) (Journal, error) {
		j := &memory{disk: d, enc: journal.NewEncoder(), step: c.Step, timeout: w.timeout}
		w.fresh(d)
		return j, j.Append(h)
	}
	return p
}

// reopen opens the journal for a new process; nil if it was not begun.
func (w *world) reopen(d *disk, p *Params) (*memory, error) {
	r, err := journal.Open(&file{disk: d})
	if errors.Is(err, journal.ErrNotBegun) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &memory{disk: d, enc: r.Encoder(), read: r, step: p.Look.(*fakehdfs.Client).Step, timeout: w.timeout}, nil
}

// run runs, or resumes if there is a journal.
func (w *world) run(ctx context.Context) (*Result, error) {
	p := w.params(w.disk)
	j, err := w.reopen(w.disk, p)
	if err != nil {
		return nil, err
	}
	if j == nil {
		return Run(ctx, p)
	}
	return Resume(ctx, p, j)
}

func (w *world) undo(ctx context.Context, at planfile.Path) (*Result, error) {
	if w.byPlan {
		return Undo(ctx, w.params(w.undoDisk), &UndoOf{Items: w.planned(), Path: at})
	}
	r, err := journal.Open(bytes.NewReader(slices.Clone(w.disk.data)))
	if err != nil {
		return nil, err
	}
	return Undo(ctx, w.params(w.undoDisk), &UndoOf{Journal: r, File: "j.jsonl", Path: at})
}

// planned gives the items as a plan does.
func (w *world) planned() iter.Seq2[*planfile.Item, error] {
	return func(yield func(*planfile.Item, error) bool) {
		for i := range w.items {
			if !yield(&w.items[i], nil) {
				return
			}
		}
	}
}

// clock is the cluster's; sleeping moves it.
type clock struct {
	fs *fakehdfs.FS
	c  *fakehdfs.Client
	w  *world
}

func (c clock) Now() time.Time { return c.fs.Now() }

func (c clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.fs.Advance(d)
	if do := c.w.soon; do != nil {
		c.w.soon = nil
		do()
	}
	return nil
}

// file reads a disk as it is at the moment.
type file struct {
	disk *disk
	off  int64
}

func (f *file) Seek(off int64, _ int) (int64, error) { f.off = off; return off, nil }

func (f *file) Read(p []byte) (int, error) {
	if f.off >= int64(len(f.disk.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.disk.data[f.off:])
	f.off += int64(n)
	return n, nil
}

// memory is a journal on a disk.
type memory struct {
	disk *disk
	enc  *journal.Encoder
	read *journal.Reader
	step func(context.Context, string) error
	err  error

	timeout time.Duration // of a step
}

func (m *memory) Append(l journal.Line) error {
	if m.err != nil {
		return m.err
	}
	if r, ok := l.(*journal.Resumed); ok {
		r.CutBytes = m.read.Torn()
		m.disk.data = m.disk.data[:m.read.CutTo()]
	}
	b, err := m.enc.Encode(l)
	if err != nil {
		panic(err) // no line may break a rule
	}
	if m.err = m.do("write"); m.err != nil {
		if !m.disk.after {
			b = b[:len(b)/2]
		}
		m.disk.data = append(m.disk.data, b...)
		return m.err
	}
	m.disk.data = append(m.disk.data, b...)
	if _, lazy := l.(*journal.Skipped); !lazy {
		m.err = m.Sync()
	}
	return m.err
}

func (m *memory) do(name string) error {
	if m.timeout == 0 {
		m.timeout = 10 * time.Second
	}
	ctx, cancel := context.WithTimeout(context.Background(), m.timeout)
	defer cancel()
	return m.step(ctx, name)
}

func (m *memory) Sync() error {
	if m.err == nil {
		if m.err = m.do("fsync"); m.err == nil {
			m.disk.durable = len(m.disk.data)
		}
	}
	return m.err
}

func (m *memory) State() journal.State     { return m.enc.State() }
func (m *memory) Last() journal.Hash       { return m.enc.Last() }
func (m *memory) Journal() *journal.Reader { return m.read }

// checker looks at ids, parents and paths, and knows the rest from the test.
type checker struct {
	w      *world
	c      *fakehdfs.Client
	before error
	check  error
	failed error
	again  func(*planfile.Item)
	blind  bool // Again looks at nothing
	moved  []uint64
	stays  []uint64
	moves  map[uint64]bool // of earlier processes, by the journal
}

func (c *checker) Preflight(context.Context) error { return c.before }
func (c *checker) Check(context.Context) error {
	if c.w.checking != nil {
		c.w.checking()
	}
	return c.check
}
func (c *checker) Failed() error { return c.failed }

func (c *checker) Items() iter.Seq2[*planfile.Item, Verdict] {
	return func(yield func(*planfile.Item, Verdict) bool) {
		for i := range c.w.items {
			item := c.w.items[i]
			rule := c.w.keep[item.InodeID]
			if e, ok := c.w.fs.Lookup(string(item.Path)); ok && c.w.back && c.moves[item.InodeID] && e.ID == item.InodeID {
				if !yield(&item, Verdict{Rule: "restored", Restored: true}) {
					return
				}
				continue
			}
			if !yield(&item, Verdict{Move: rule == "", Rule: rule, Listed: c.w.listed[item.InodeID]}) {
				return
			}
		}
	}
}

func (c *checker) Again(ctx context.Context, i *planfile.Item) (Verdict, error) {
	if c.again != nil {
		c.again(i)
	}
	if c.w.timeout > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, c.w.timeout)
		defer cancel()
	}
	at := c.w.fs.Now()
	at = at.Add(-c.w.age)
	if c.blind {
		return Verdict{Move: true, At: at}, nil
	}
	s, err := c.c.Stat(ctx, execute.At(string(i.Path)))
	if errors.Is(err, execute.ErrNotFound) || err == nil && s.ID != i.InodeID || c.w.changed {
		return Verdict{Rule: "changed", Drift: true}, nil
	}
	return Verdict{Move: err == nil, At: at}, err
}

func (c *checker) Held(context.Context) (planfile.Path, error) {
	return c.w.held, nil
}

func (c *checker) Moved(i *planfile.Item) { c.moved = append(c.moved, i.InodeID) }

func (c *checker) Stays(i *planfile.Item) { c.stays = append(c.stays, i.InodeID) }

func (c *checker) Guards(_ context.Context, all bool) ([]*planfile.Item, error) {
	var out []*planfile.Item
	for i := range c.w.items {
		id := c.w.items[i].InodeID
		if (all || c.w.early) && slices.Contains(c.w.referred, id) && slices.Contains(c.moved, id) {
			out = append(out, &c.w.items[i])
		}
	}
	return out, nil
}
