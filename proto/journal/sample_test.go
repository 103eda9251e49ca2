package journal

import (
	"bytes"
	"crypto/sha256"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsweep/proto/planfile"
)

const began = 1_800_000_000_000

var (
	nn1 = NameNode{"prod", "nn1", "nn1.example.com:8020"}
	nn2 = NameNode{"prod", "nn2", "nn2.example.com:8020"}

	client1 = ClientID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	client2 = ClientID{2}
	client3 = ClientID{15: 3}
)

const (
	root   = planfile.Path("/flink-checkpoints")
	trash  = planfile.Path("/user/fsweep/.Trash")
	nasty  = planfile.Path("/flink-checkpoints/a\xff\n\x01\u2028\"\\é")
	lockTo = planfile.Path("/ops/fsweep/LOCK")
)

func header() *Header {
	return &Header{
		Format: Format, Stamp: Stamp{AtMs: began}, Command: CommandRun, Tool: "fsweep-exec", Version: "1.0",
		Plan:        &Plan{"plan \xff.jsonl", planfile.Digest(sha256.Sum256([]byte("a plan")))},
		Nameservice: "prod", NameNode: nn1, Cluster: &Cluster{1234567890, "CID-8f6c"}, Anchors: []Anchor{{root, 16400}, {"/ops/fsweep", 16390}},
		User: "fsweep", Host: "edge1", PID: 4711, ClientID: client1,
	}
}

func call(client ClientID, id int64) *Call { return &Call{client, id, nn1} }

// move is that of one item with an id below root.
func move(p planfile.Path, id uint64, c *Call) *Intent {
	return &Intent{
		Stamp: Stamp{AtMs: began + 5}, Purpose: PurposeMove, Kind: planfile.KindUnit, Path: p, InodeID: id, ParentID: 16400,
		Target: trash + "/Current" + p, TrashRoot: trash, Inodes: 3, Length: 1000, Space: 3000, Context: planfile.Name("fsweep run:1 " + string(p)), Call: c,
	}
}

func done(intent int64, chain ...uint64) *Done {
	return &Done{Stamp: Stamp{AtMs: began + 6}, Intent: intent, Chain: chain}
}

func mkdirs(p planfile.Path) *Intent {
	return &Intent{Stamp: Stamp{AtMs: began + 1}, Purpose: PurposeMkdirs, Path: p, Permission: 0o700}
}

func back(of *Intent, undoes int64, c *Call) *Intent {
	v := *of
	v.Purpose, v.Path, v.Target, v.TrashRoot, v.ParentID, v.Undoes, v.Call = PurposeUndo, of.Target, of.Path, "", 17001, undoes, c
	return &v
}

func resumed(client ClientID) *Resumed {
	return &Resumed{Stamp: Stamp{AtMs: began - 1}, Version: "1.1", NameNode: nn2, User: "fsweep", Host: "edge2", PID: 1, ClientID: client}
}

func skipped(p planfile.Path, id uint64) *Skipped {
	return &Skipped{
		Stamp: Stamp{AtMs: began + 2}, Kind: planfile.KindUnit, Path: p, InodeID: id, Rule: "mtime_changed",
		Facts: []planfile.Fact{{Name: "mtime_ms", Number: -5}, {Name: "was", Text: "a\\xff"}, {Name: "zero"}},
	}
}

func failed(intent int64, i *Intent) *Failed {
	return &Failed{
		Stamp: Stamp{AtMs: began + 7}, Intent: intent, Kind: i.Kind, Path: i.Path, InodeID: i.InodeID,
		Class: "org.apache.hadoop.security.AccessControlException", Message: "Permission denied: \xff",
	}
}

func unknown(intent int64) *Unknown {
	return &Unknown{Stamp: Stamp{AtMs: began + 8}, Intent: intent, Class: "timeout", Message: "no answer"}
}

func settled(intent int64, how How) *Settled {
	s := &Settled{Stamp: Stamp{AtMs: began + 9}, Intent: intent, How: how, Evidence: []planfile.Fact{{Name: "resent", Number: 1}}}
	if how == Arrived || how == OtherInode {
		s.Chain = []uint64{17005, 17000}
	}
	return s
}

func end(code, planned int64) *End {
	return &End{Stamp: Stamp{AtMs: began + 10}, ExitCode: code, Totals: Totals{Planned: planned}}
}

// runJournal has every kind of line in every form.
func runJournal() []Line {
	lock := &Intent{
		Stamp: Stamp{AtMs: began + 1}, Purpose: PurposeLock, Path: "/ops/fsweep/new-1", InodeID: 17100, ParentID: 16390, Target: lockTo, Call: call(client1, 0),
	}
	unlock := &Intent{
		Stamp: Stamp{AtMs: began + 1}, Purpose: PurposeUnlock, Path: lockTo, InodeID: 17100, ParentID: 16390, Target: "/ops/fsweep/done/1", Call: call(client3, 2_147_483_647),
	}
	first := move(root+"/job/run1", 16402, call(client1, 7))
	other := settled(21, OtherInode)
	other.InodeID, other.Path = 99, trash+"/Current/flink-checkpoints/run4"
	found := settled(11, Arrived)
	found.Path = trash + "/261130010000/" + nasty[1:]
	cutOff := resumed(client2)
	cutOff.CutBytes = 17
	stray := back(move(root+"/run4", 99, nil), 21, call(client3, 2))
	stray.Inodes, stray.Length, stray.Space = 1, 0, 0
	quarantined := move(nasty, 18_446_744_073_709_551_615, call(client1, 8))
	quarantined.Target, quarantined.TrashRoot = "/quarantine/x", ""
	denied := move(root+"/run3", 30, call(client2, 7))
	return []Line{
		header(),
		mkdirs("/ops/fsweep/new-1/fsweep"), // 2
		done(2),                            // 3
		lock,                               // 4
		done(4, 16390),                     // 5
		skipped(root+"/job/run0", 20),      // 6
		mkdirs(trash + "/Current/flink-checkpoints/job"), // 7
		done(7, 17001),                           // 8
		first,                                    // 9
		done(9, 17001, 17000, 16999),             // 10
		quarantined,                              // 11
		unknown(11),                              // 12
		end(5, 6),                                // 13
		cutOff,                                   // 14
		found,                                    // 15
		denied,                                   // 16
		failed(16, denied),                       // 17
		move(root+"/run4", 40, call(client2, 8)), // 18
		resumed(client3),                         // 19
		settled(18, NotHappened),                 // 20
		move(root+"/run4", 40, call(client3, 1)), // 21
		other,                                    // 22
		stray,                                    // 23
		done(23, 16400),                          // 24
		back(first, 9, call(client3, 3)),         // 25
		&Done{Stamp: Stamp{AtMs: 1}, Intent: 25, Path: first.Path, Chain: []uint64{16401, 16400}}, // 26
		&Failed{Stamp: Stamp{AtMs: 1}, Path: "/ops/fsweep/done", Class: "quota"},                  // 27
		unlock,        // 28
		done(28, 5),   // 29
		end(5, 1<<40), // 30
	}
}

// undoJournal undoes the one above.
func undoJournal() []Line {
	h := header()
	h.Command, h.UndoOf = CommandUndo, &UndoOf{"20270115T080000Z-run.jsonl", Hash{31: 1}}
	gone := back(move(nasty, 5, nil), 11, call(client1, 1))
	gone.Kind = planfile.KindFile
	one := back(move(root+"/run9", 6, nil), 2, call(client1, 2))
	moved := skipped(root+"/run8", 8)
	moved.Kind, moved.Facts = planfile.KindChild, nil
	return []Line{h, gone, settled(2, Gone), one, done(4, 16400), moved, end(5, 3)}
}

// encode gives the bytes of a journal.
func encode(t testing.TB, lines []Line) []byte {
	t.Helper()
	b, err := tryEncode(lines)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func tryEncode(lines []Line) ([]byte, error) {
	var out bytes.Buffer
	e := NewEncoder()
	for _, l := range lines {
		b, err := e.Encode(l)
		if err != nil {
			return out.Bytes(), err
		}
		out.Write(b)
	}
	return out.Bytes(), nil
}

// lawless writes lines as they are, in one chain, and checks nothing.
func lawless(t testing.TB, lines []Line) []byte {
	t.Helper()
	var out []byte
	var c coder
	var prev Hash
	for i, l := range lines {
		l.Stamped().Seq, l.Stamped().Prev = int64(i+1), prev
		c.Write(l.kind())
		code(&c, l, nil)
		if err := c.End(); err != nil {
			t.Fatal(err)
		}
		out, prev = append(out, c.Line()...), sha256.Sum256(c.Line())
	}
	return out
}

func collect(r *Reader) (out []Line, err error) {
	for l, err := range r.Lines() {
		if err != nil {
			return out, err
		}
		out = append(out, l)
	}
	return out, nil
}

// mustBe demands that b reads as lines, with a torn piece of some bytes behind it.
func mustBe(t testing.TB, b []byte, lines []Line, torn int) *Reader {
	t.Helper()
	r, err := Open(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	got, err := collect(r)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(lines, got) { // cmp is slow, and tests come here ten thousand times
		t.Fatalf("-written +read:\n%s", cmp.Diff(lines, got))
	}
	if r.Torn() != int64(torn) || r.CutTo() != int64(len(b)-torn) || r.Len() != len(lines) {
		t.Fatalf("%d lines, cut to %d, torn %d", r.Len(), r.CutTo(), r.Torn())
	}
	return r
}
