package journal

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fsweep/proto/planfile"
)

// genName makes names of any bytes that can stand in a path.
func genName(t *rapid.T) string {
	b := rapid.SliceOfN(rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte("ab\"\\\n\x00\xe2\x80\xa8 "))), 1, 12).Draw(t, "name")
	s := strings.ReplaceAll(string(b), "/", "_")
	if s == "." || s == ".." {
		return "dots"
	}
	return s
}

func genText(t *rapid.T, label string) string { return rapid.StringN(1, 20, -1).Draw(t, label) }

func genFacts(t *rapid.T) (facts []planfile.Fact) {
	for range rapid.IntRange(0, 2).Draw(t, "facts") {
		facts = append(facts, planfile.Fact{Name: genText(t, "fact"), Text: rapid.String().Draw(t, "text"), Number: rapid.Int64().Draw(t, "number")})
	}
	return facts
}

// model is a naive executor: it makes lines that keep the rules, and knows what they
// should add up to.
type model struct {
	t       *rapid.T
	lines   []Line
	client  byte
	nextID  uint64
	calls   int64
	process int

	state  map[uint64]Outcome
	when   map[uint64]int     // of skipped and failed: the process
	moves  map[uint64]*Intent // of done ones
	order  []*Moved           // as they happened, never taken out
	open   *Intent
	old    bool // the open intent is an earlier process's, or unknown
	noted  bool // as unknown
	before Outcome
}

func genJournal(t *rapid.T) *model {
	g := &model{t: t, client: 1, nextID: 1000, state: map[uint64]Outcome{}, when: map[uint64]int{}, moves: map[uint64]*Intent{}}
	h := header()
	h.Plan.File, h.User, h.Host = planfile.Name(genName(t)), planfile.Name(genName(t)), genText(t, "host")
	h.Tool, h.Version, h.Nameservice, h.ClientID = genText(t, "tool"), genText(t, "version"), genText(t, "nameservice"), ClientID{1}
	h.Anchors[0].Path = planfile.Path("/" + genName(t))
	g.add(h)
	for range rapid.IntRange(0, 25).Draw(t, "steps") {
		g.step()
	}
	return g
}

func (g *model) add(l Line) {
	l.Stamped().AtMs = rapid.Int64Range(1, maxTimeMs).Draw(g.t, "at")
	g.lines = append(g.lines, l)
}

func (g *model) seq() int64 { return int64(len(g.lines)) }

func (g *model) step() {
	if g.open != nil {
		g.close()
		return
	}
	done := g.done()
	switch pick := rapid.IntRange(0, 9).Draw(g.t, "step"); {
	case pick == 0:
		g.resume()
	case pick == 1:
		g.end()
	case pick == 2:
		i := g.item()
		i.Purpose, i.Kind, i.InodeID, i.ParentID, i.Target, i.TrashRoot, i.Inodes, i.Length, i.Space = PurposeMkdirs, "", 0, 0, "", "", 0, 0, 0
		i.Permission, i.Call = 0o700, nil
		g.intent(i)
	case pick == 3:
		i := g.item()
		g.outcome(i.InodeID, OutcomeSkipped)
		g.add(&Skipped{Kind: i.Kind, Path: i.Path, InodeID: i.InodeID, Rule: genText(g.t, "rule"), Facts: genFacts(g.t)})
	case pick == 4 && len(done) > 0:
		id := rapid.SampledFrom(done).Draw(g.t, "undo")
		i := *g.moves[id]
		i.Purpose, i.Path, i.Target, i.TrashRoot, i.Undoes = PurposeUndo, i.Target, i.Path, "", i.Seq
		i.Call = g.call()
		g.intent(&i)
	default:
		g.intent(g.item())
	}
}

// done gives the items that are where they were moved to, in a fixed order.
func (g *model) done() (ids []uint64) {
	for id, o := range g.state {
		if o == OutcomeDone {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (g *model) call() *Call {
	g.calls++
	return &Call{ClientID{g.client}, g.calls, NameNode{ID: "nn1", Address: genText(g.t, "address")}}
}

// item gives a move of a new item, or of one that an earlier process left.
func (g *model) item() *Intent {
	g.nextID++
	id := g.nextID
	if again := rapid.Uint64Range(1000, g.nextID).Draw(g.t, "again"); (g.state[again] == OutcomeSkipped || g.state[again] == OutcomeFailed) && g.when[again] < g.process {
		id = again
	}
	return &Intent{
		Purpose: PurposeMove, Kind: rapid.SampledFrom([]planfile.Kind{"unit", "checkpoint", "file", "child"}).Draw(g.t, "kind"),
		Path: planfile.Path("/r/" + genName(g.t)), InodeID: id, ParentID: rapid.Uint64Range(1, 900).Draw(g.t, "parent"),
		Target: planfile.Path("/.T/C/" + genName(g.t)), TrashRoot: rapid.SampledFrom([]planfile.Path{"/.T", ""}).Draw(g.t, "trash"),
		Inodes: rapid.Int64Range(1, 1<<40).Draw(g.t, "inodes"), Length: rapid.Int64Range(0, math.MaxInt64).Draw(g.t, "length"), Space: 7,
		Context: planfile.Name(genName(g.t)), Call: g.call(),
	}
}

func (g *model) intent(i *Intent) {
	i.Stamp = Stamp{}
	g.add(i)
	i.Seq = g.seq()
	g.open, g.old, g.noted, g.before = i, false, false, g.state[i.InodeID]
}

func (g *model) outcome(id uint64, o Outcome) { g.state[id], g.when[id] = o, g.process }

// close adds a line about the open intent.
func (g *model) close() {
	i := g.open
	item := i.Purpose == PurposeMove || i.Purpose == PurposeUndo
	way := rapid.IntRange(0, 7).Draw(g.t, "close")
	if g.old && way < 3 {
		way += 4
	}
	switch way {
	case 0:
		path, chain := g.where()
		g.add(&Done{Intent: i.Seq, Path: path, Chain: chain})
		g.happened(path, chain)
	case 1:
		g.add(&Failed{Intent: i.Seq, Kind: i.Kind, Path: i.Path, InodeID: i.InodeID, Class: genText(g.t, "class"), Message: planfile.Name(genName(g.t))})
		g.over(OutcomeFailed)
	case 2:
		if item {
			g.add(&Skipped{Intent: i.Seq, Kind: i.Kind, Path: i.Path, InodeID: i.InodeID, Rule: "r"})
			g.over(OutcomeSkipped)
		}
	case 3:
		g.add(&Unknown{Intent: i.Seq, Class: genText(g.t, "class")})
		g.old, g.noted = true, true
	case 4:
		g.resume()
	case 5:
		path, chain := g.where()
		g.add(&Settled{Intent: i.Seq, How: Arrived, Path: path, Chain: chain, Evidence: genFacts(g.t)})
		g.happened(path, chain)
	case 6:
		g.add(&Settled{Intent: i.Seq, How: NotHappened})
		g.open = nil
	case 7:
		if item {
			g.add(&Settled{Intent: i.Seq, How: Gone})
			g.outcome(i.InodeID, OutcomeUnknown)
			g.open = nil
		}
	}
}

func (g *model) where() (planfile.Path, []uint64) {
	if g.open.Purpose == PurposeMkdirs {
		return "", nil
	}
	return planfile.Path("/.T/now/" + genName(g.t)), rapid.SliceOfN(rapid.Uint64Range(1, 900), 1, 4).Draw(g.t, "chain")
}

func (g *model) happened(path planfile.Path, chain []uint64) {
	switch i := g.open; i.Purpose {
	case PurposeMove:
		g.outcome(i.InodeID, OutcomeDone)
		g.moves[i.InodeID] = i
		g.order = append(g.order, &Moved{Intent: i, Path: path, Chain: chain, AtMs: g.lines[len(g.lines)-1].Stamped().AtMs})
	case PurposeUndo:
		g.outcome(i.InodeID, OutcomeUndone)
	}
	g.open = nil
}

// over ends a move that did not happen; what was to be moved back stays done.
func (g *model) over(o Outcome) {
	if g.open.Purpose == PurposeMove {
		g.outcome(g.open.InodeID, o)
	}
	g.open = nil
}

func (g *model) resume() {
	g.client++
	g.process++
	g.calls = 0
	g.add(&Resumed{Version: "v", NameNode: nn2, User: planfile.Name(genName(g.t)), Host: "h", PID: 5, ClientID: ClientID{g.client}, CutBytes: rapid.Int64Min(0).Draw(g.t, "cut")})
	g.old = true
}

func (g *model) end() {
	t := g.totals()
	t.Planned = t.Done + t.Undone + t.Skipped + t.Failed + t.Unknown + rapid.Int64Range(0, 5).Draw(g.t, "left")
	g.add(&End{ExitCode: 5, Totals: t})
	g.resume()
}

func (g *model) totals() (t Totals) {
	for id, o := range g.state {
		switch o {
		case OutcomeDone:
			t.Done++
			t.Inodes += g.moves[id].Inodes
			t.Length += g.moves[id].Length
			t.Space += g.moves[id].Space
		case OutcomeUndone:
			t.Undone++
		case OutcomeSkipped:
			t.Skipped++
		case OutcomeFailed:
			t.Failed++
		case OutcomeUnknown:
			t.Unknown++
		}
	}
	return t
}

// TestRoundTrip: what is written is read, whatever the names; the state is that of the
// naive model; wherever it is cut off, an encoder goes on.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := genJournal(t)
		b, err := tryEncode(g.lines)
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(b) || bytes.Count(b, []byte{'\n'}) != len(g.lines) {
			t.Fatal("not UTF-8, or other newlines than those of the lines")
		}
		r, err := Open(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		got, err := collect(r)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(g.lines, got); diff != "" {
			t.Fatalf("-written +read:\n%s", diff)
		}
		g.compare(t, r)
		n := rapid.IntRange(len(encodeT(t, g.lines[:1])), len(b)).Draw(t, "cut")
		g.goOn(t, b[:n])
	})
}

func encodeT(t *rapid.T, lines []Line) []byte {
	b, err := tryEncode(lines)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (g *model) compare(t *rapid.T, r *Reader) {
	want := g.totals()
	if g.open != nil && g.noted && g.open.InodeID != 0 { // until it is settled
		switch g.before {
		case OutcomeDone:
			m := g.moves[g.open.InodeID]
			want.Done, want.Inodes, want.Length, want.Space = want.Done-1, want.Inodes-m.Inodes, want.Length-m.Length, want.Space-m.Space
		case OutcomeSkipped:
			want.Skipped--
		case OutcomeFailed:
			want.Failed--
		}
		want.Unknown++
	}
	if got := r.State().Totals(); got != want {
		t.Fatalf("totals %+v, want %+v", got, want)
	}
	for id := uint64(1000); id < g.nextID+2; id++ {
		want := g.state[id]
		if g.open != nil && g.open.InodeID == id {
			want = OutcomeUnknown
		}
		if got := r.State().Outcome(id); got != want {
			t.Fatalf("inode %d is %s, want %s", id, got, want)
		}
	}
	pending, noted := r.State().Pending()
	if diff := cmp.Diff(g.open, pending); diff != "" || pending != nil && noted != g.noted {
		t.Fatalf("pending: %s", diff)
	}
	var moved []*Moved
	for m, err := range r.Moved() {
		if err != nil {
			t.Fatal(err)
		}
		moved = append(moved, m)
	}
	var expected []*Moved
	for _, m := range slices.Backward(g.order) {
		pendingUndo := g.open != nil && g.noted && g.open.InodeID == m.Intent.InodeID
		if g.state[m.Intent.InodeID] == OutcomeDone && !pendingUndo {
			expected = append(expected, m)
		}
	}
	if diff := cmp.Diff(expected, moved); diff != "" {
		t.Fatalf("moved: %s", diff)
	}
}

// goOn lets an encoder go on behind what a crash left.
func (g *model) goOn(t *rapid.T, left []byte) {
	r, err := Open(bytes.NewReader(left))
	if err != nil {
		t.Fatal(err)
	}
	if r.Len() != bytes.Count(left, []byte{'\n'}) || r.CutTo()+r.Torn() != int64(len(left)) || r.Torn() != int64(len(left)-bytes.LastIndexByte(left, '\n')-1) {
		t.Fatalf("%d lines, cut to %d, torn %d of %d", r.Len(), r.CutTo(), r.Torn(), len(left))
	}
	whole := bytes.Clone(left[:r.CutTo()])
	e := r.Encoder()
	more := []Line{&Resumed{Stamp: Stamp{AtMs: 1}, Version: "v", NameNode: nn1, User: "u", Host: "h", PID: 1, ClientID: ClientID{15: 200}, CutBytes: r.Torn()}}
	if i, _ := r.State().Pending(); i != nil {
		more = append(more, &Settled{Stamp: Stamp{AtMs: 1}, Intent: i.Seq, How: NotHappened})
	}
	more = append(more, &End{Stamp: Stamp{AtMs: 1}, ExitCode: 5, Totals: Totals{Planned: 1000}})
	for _, l := range more {
		b, err := e.Encode(l)
		if err != nil {
			t.Fatal(err)
		}
		whole = append(whole, b...)
	}
	again, err := Open(bytes.NewReader(whole))
	if err != nil || again.Last() != e.Last() || again.Ended() == nil || again.Torn() != 0 {
		t.Fatal(err)
	}
}
