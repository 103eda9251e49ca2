package check

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"fsweep/execute"
	"fsweep/proto/flinkmeta"
	"fsweep/proto/planfile"
)

// Options say how a plan is checked. Zero values of numbers are filled in by [New].
type Options struct {
	Now      func() time.Time // the clock; nil: time.Now
	Approved *planfile.Digest // what a person approved; nil: nobody was asked, as in a dry run
	Deep     bool             // list every subtree, and compare its fingerprint
	Budget   int64            // inodes that content summaries may count in all; 10,000,000. Negative: none
	Workers  int              // questions and reads at once; 4
	// Lists reads a live list, or a list of pins, of the header as it is now. It is
	// called from [Session.Preflight], or else from [Session.Check].
	Lists func(in planfile.Input, pins bool) (*Named, error)
	// Moved, if there is one, tells of items that an earlier process moved: they are looked at
	// as those that [Session.Moved] was told of, unless they are back at their places.
	Moved func(id uint64) bool
	// Survey, if there is one, tells which cluster answers, and whether this user may use the lock
	// directory.
	Survey execute.Surveyor
}

// Named is what a live list or a list of pins names.
type Named struct {
	IDs      []string // of jobs
	Clusters []string // of high availability, from labelled ConfigMaps
	Paths    []string // absolute and clean
	// HAConfigMaps is how many labelled ConfigMaps the list has; without one it says of no
	// cluster that it is dead.
	HAConfigMaps int
}

// Verdict says what may become of an item.
type Verdict struct {
	Move  bool
	Rule  Rule            // why it stays; empty if it may move
	Facts []planfile.Fact // what was found
	Guard planfile.Path   // of ReferredTo and the rules about guards: the one that decides
	// AtMs is of the verdicts of [Session.Again] that let move: when the oldest answer was
	// given on which it rests, but for those about guards; ms since 1970.
	AtMs int64
}

const (
	freshFor    = 30 * time.Second // how long an answer is good enough for Again: half of what may lie before a move
	guardsFor   = 15 * time.Minute // how long what a guard says is good enough
	usualBudget = 10_000_000
	usualAtOnce = 4
)

// record is what is remembered of an item; there can be 200,000.
type record struct {
	ref      planfile.Ref
	path     string
	job, run string // parts of path
	id       uint64
	group    uint64 // the run that moves in parts, or id
	newest   int64  // ms: the newest mtime of its directories and guards
	checked  int64  // ms: when it was looked at last
	verdict  *Verdict
	root     int32
	owner    int32 // in the owners of the session
	isDir    bool
	metadata bool // holds a `_metadata`
	moved    bool
	late     bool // handed out by Guards
}

// Session is the check of one plan.
type Session struct {
	plan   *planfile.Reader
	digest planfile.Digest
	header planfile.Header
	looks  execute.Inspector
	reads  execute.Reader
	o      Options

	items  []record // by path, as in the plan
	byID   *index   // of items
	owners []string // of items
	order  []int32
	live   *liveIndex // nil: not read yet

	began    bool // Check was called
	outcome  error
	settled  int64 // ms: no guard that counts was seen before
	unheldAt int64 // ms: when no hold path existed

	mu     sync.Mutex // of what goroutines change
	budget int64
	fresh  []int32 // items that stay since the last round
	owed   int     // items that were moved and have to come back, and were not handed out yet
	// newPlace: a place was found since the last round
	newPlace bool
	marked   map[string]mark
	listed   map[string]int64 // when a job was listed for one item, ms
	err      error

	roots  []rootState
	known  []uint64           // inode ids that the plan knows beside items, sorted
	odd    map[string]uint64  // of what the plan knows, the inode ids of paths that are no text
	places []*place           // where guards come to be: first those of the plan, by path
	inPlan int                // how many the plan has
	placed *index             // of places, by inode id
	dirs   map[string]bool    // paths of other places, and of other directories with guards
	guards map[uint64]reading // guards that were read
	waived map[uint64]bool    // those that need not be readable
	split  map[uint64]int     // parts of runs that may move, by run

	strict *flinkmeta.Search // paths of all items
	broken []guard           // guards that can be read but not decoded
	lost   []missing         // relative references to files that are not there
}

// New makes a Session of a plan that [planfile.Open] checked; the plan must stay open.
func New(plan *planfile.Reader, digest planfile.Digest, looks execute.Inspector, reads execute.Reader, o Options) (*Session, error) {
	if plan == nil || looks == nil || reads == nil {
		return nil, fmt.Errorf("a check needs a plan, an inspector and a reader")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Workers <= 0 {
		o.Workers = usualAtOnce
	}
	if o.Budget == 0 {
		o.Budget = usualBudget
	}
	s := &Session{
		plan: plan, digest: digest, header: plan.Header(), looks: looks, reads: reads, o: o,
		budget: o.Budget, marked: map[string]mark{}, listed: map[string]int64{},
		odd: map[string]uint64{}, dirs: map[string]bool{},
		guards: map[uint64]reading{}, waived: map[uint64]bool{}, split: map[uint64]int{},
	}
	s.byID = newIndex(0, func(i int32) uint64 { return s.items[i].id })
	s.placed = newIndex(0, func(i int32) uint64 { return s.places[i].id })
	return s, nil
}

func (s *Session) nowMs() int64 { return s.o.Now().UnixMilli() }

// Err gives the error that ended [Session.Items] early.
func (s *Session) Err() error { return s.err }

// Items yields all items with their verdicts, in the order in which they move: root by
// root, the newest run of a job first, of a run that moves in parts the checkpoints
// first, then taskowned, then shared. The items are read from the plan; if that fails
// the sequence ends, and [Session.Err] says why.
func (s *Session) Items() iter.Seq2[*planfile.Item, Verdict] {
	return func(yield func(*planfile.Item, Verdict) bool) {
		for _, i := range s.order {
			item, err := s.plan.Item(s.items[i].ref)
			if err != nil {
				s.err = err
				return
			}
			if !yield(&item, s.verdict(i)) {
				return
			}
		}
	}
}

func (s *Session) verdict(i int32) Verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.items[i].verdict; v != nil {
		return *v
	}
	return Verdict{Move: true}
}

// Moved notes that an item was moved: from then on its guards do not count.
func (s *Session) Moved(item *planfile.Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, ok := s.byID.find(item.InodeID); ok {
		r := &s.items[i]
		if !r.moved && r.verdict != nil && !r.late {
			s.owed++
		}
		r.moved = true
	}
}

// Stays notes that an item was not moved, whatever the reason: it is a guard from then on.
func (s *Session) Stays(item *planfile.Item) {
	if i, ok := s.byID.find(item.InodeID); ok {
		s.keep(i, NotMoved, "")
	}
}

// keep makes an item stay. Of several reasons the one whose rule comes first is
// shown, of several guards the first by path, whichever was found first.
func (s *Session) keep(i int32, rule Rule, guard string, facts ...planfile.Fact) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := &Verdict{Rule: rule, Facts: facts, Guard: planfile.Path(guard)}
	s.keepOne(i, v)
	if r := &s.items[i]; r.group == r.id || rule.partly() {
		return
	}
	// A run that moves in parts stays as a whole.
	from, to := s.below(s.items[i].runPath())
	for j := from; j < to; j++ {
		if s.items[j].group == s.items[i].group {
			s.keepOne(j, v)
		}
	}
}

// keepOne is keep for one item, with the lock held.
func (s *Session) keepOne(i int32, v *Verdict) {
	r := &s.items[i]
	if r.moved && !v.Rule.undoes() {
		return
	}
	switch old := r.verdict; {
	case old == nil:
		r.verdict = v
		s.fresh = append(s.fresh, i)
		if r.moved {
			s.owed++
		}
		if n := s.split[r.group]; n > 0 {
			s.split[r.group] = n - 1
		}
	case cmp.Or(cmp.Compare(v.Rule.rank(), old.Rule.rank()), cmp.Compare(v.Guard, old.Guard)) < 0:
		r.verdict = v
	}
}

// runPath gives the path of the run that an item lies in or is.
func (r *record) runPath() string {
	return strings.TrimSuffix(strings.TrimSuffix(r.path, after(r.path, r.run)), "/")
}

// stays tells whether an item is known to stay.
func (s *Session) stays(i int32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.items[i].verdict != nil
}

// mayMove tells whether an item was not moved and nothing keeps it.
func (s *Session) mayMove(i int32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.items[i].verdict == nil && !s.items[i].moved
}

// arrange puts the items in the order in which they move.
func (s *Session) arrange() {
	newest := map[uint64]int64{}
	for i := range s.items {
		r := &s.items[i]
		newest[r.group] = max(newest[r.group], r.newest)
	}
	s.order = make([]int32, len(s.items))
	for i := range s.order {
		s.order[i] = int32(i)
	}
	slices.SortFunc(s.order, func(a, b int32) int {
		x, y := &s.items[a], &s.items[b]
		return cmp.Or(
			cmp.Compare(x.root, y.root), cmp.Compare(x.job, y.job),
			cmp.Compare(newest[y.group], newest[x.group]), cmp.Compare(x.group, y.group),
			cmp.Compare(x.part(), y.part()), cmp.Compare(x.path, y.path),
		)
	})
}

// part ranks the parts of a run: what shows its state goes first, and what others
// may share goes last.
func (r *record) part() int {
	rel := r.path
	if i := len(r.run); i > 0 {
		rel = after(rel, r.run)
	}
	switch first, _ := cutSlash(rel); first {
	case "shared":
		return 2
	case "taskowned":
		return 1
	}
	return 0
}
