package journal

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"fsweep/proto/planfile"
)

// begin is a journal with an item done (3), one skipped (4), one failed (6), one settled
// as gone (8) and one moved by mistake (10); the next line is 11.
func begin() []Line {
	first := move(root+"/a", 100, call(client1, 1))
	denied := move(root+"/c", 102, call(client1, 2))
	stray := settled(9, OtherInode)
	stray.InodeID = 999
	return []Line{
		header(),
		first, done(2, 17001),
		skipped(root+"/b", 101),
		denied, failed(5, denied),
		move(root+"/d", 103, call(client1, 3)), settled(7, Gone),
		move(root+"/e", 104, call(client1, 4)), stray,
	}
}

// with gives begin and more lines.
func with(more ...Line) []Line { return append(begin(), more...) }

// m is a move, behind begin.
func m(id uint64, change func(*Intent)) *Intent {
	i := move(root+"/x", id, call(client1, 10))
	if change != nil {
		change(i)
	}
	return i
}

// m2 is a move of the second process.
func m2(id uint64) *Intent { return m(id, func(i *Intent) { i.Call = call(client2, 1) }) }

// u moves the first item back.
func u(change func(*Intent)) *Intent {
	i := back(move(root+"/a", 100, nil), 2, call(client1, 11))
	if change != nil {
		change(i)
	}
	return i
}

func changed[T any](v *T, change func(*T)) *T {
	change(v)
	return v
}

type ruleCase struct {
	name  string
	lines []Line
	want  string // "": right
}

func runCases(t *testing.T, cases []ruleCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			holds(t, tc.lines, tc.want)
		})
	}
}

func TestHeaderRules(t *testing.T) {
	t.Parallel()
	h := func(change func(*Header)) []Line { return []Line{changed(header(), change)} }
	runCases(t, []ruleCase{
		{"as it is", with(), ""},
		{"no header", begin()[1:], "does not start with"},
		{"two headers", with(header()), "the header is the first line"},
		{"command", h(func(h *Header) { h.Command = "delete" }), `command "delete" is unknown`},
		{"no tool", h(func(h *Header) { h.Tool = "" }), "no tool"},
		{"no version", h(func(h *Header) { h.Version = "" }), "no version"},
		{"no nameservice", h(func(h *Header) { h.Nameservice = "" }), "no nameservice"},
		{"no NameNode", h(func(h *Header) { h.NameNode.Address = "" }), "no address"},
		{"cluster without ids", h(func(h *Header) { h.Cluster = &Cluster{} }), "cluster without a namespace id"},
		{"no user", h(func(h *Header) { h.User = "" }), "no user"},
		{"no host", h(func(h *Header) { h.Host = "" }), "no host"},
		{"pid", h(func(h *Header) { h.PID = 0 }), "pid 0"},
		{"no client id", h(func(h *Header) { h.ClientID = ClientID{} }), "no client id"},
		{"no anchors", h(func(h *Header) { h.Anchors = nil }), "no anchors"},
		{"anchor without id", h(func(h *Header) { h.Anchors[1].InodeID = 0 }), "has no inode id"},
		{"anchor that is no path", h(func(h *Header) { h.Anchors[1].Path = "/a/../b" }), `has the component ".."`},
		{"run without a plan", h(func(h *Header) { h.Plan = nil }), "a plan goes with"},
		{"rehearsal with a plan", h(func(h *Header) { h.Command = CommandRehearse }), "a plan goes with"},
		{"rehearsal", h(func(h *Header) { h.Command, h.Plan = CommandRehearse, nil }), ""},
		{"plan without digest", h(func(h *Header) { h.Plan.Digest = planfile.Digest{} }), "without a digest"},
		{"plan in a directory", h(func(h *Header) { h.Plan.File = "a/b" }), "no file name"},
		{"run undoes", h(func(h *Header) { h.UndoOf = &UndoOf{"j", Hash{1}} }), "goes with undo"},
		{"undo of no hash", h(func(h *Header) { h.Command, h.UndoOf = CommandUndo, &UndoOf{"j", Hash{}} }), "without a hash"},
		{"undo of no name", h(func(h *Header) { h.Command, h.UndoOf = CommandUndo, &UndoOf{"", Hash{1}} }), "no file name"},
		{"time 0", h(func(h *Header) { h.AtMs = 0 }), "at_ms 0"},
		{"year 10000", h(func(h *Header) { h.AtMs = maxTimeMs + 1 }), "at_ms"},

		{"client id again", with(resumed(client1)), "was used by an earlier process"},
		{"cut_bytes", with(changed(resumed(client2), func(r *Resumed) { r.CutBytes = -1 })), "cut_bytes -1"},
		{"resumed without a host", with(changed(resumed(client2), func(r *Resumed) { r.Host = "" })), "no host"},
	})
}

func TestIntentRules(t *testing.T) {
	t.Parallel()
	lock := func(change func(*Intent)) *Intent {
		return changed(&Intent{Stamp: Stamp{AtMs: 1}, Purpose: PurposeLock, Path: "/l/new", InodeID: 5, ParentID: 6, Target: "/l/LOCK", Call: call(client1, 12)}, change)
	}
	runCases(t, []ruleCase{
		{"move", with(m(200, nil)), ""},
		{"two intents", with(m(200, nil), m(201, func(i *Intent) { i.Call.CallID = 11 })), "intent 11 is still open"},
		{"call id twice", with(m(200, func(i *Intent) { i.Call.CallID = 1 })), "call_id 1 was used before"},
		{"call id of the earlier process", with(resumed(client2), m2(200)), ""},
		{"call id too large", with(m(200, func(i *Intent) { i.Call.CallID = 1 << 31 })), "call_id 2147483648"},
		{"negative call id", with(m(200, func(i *Intent) { i.Call.CallID = -4 })), "call_id -4"},
		{"another client id", with(m(200, func(i *Intent) { i.Call.ClientID = client2 })), "is not that of this process"},
		{"the earlier client", with(resumed(client2), m(200, nil)), "is not that of this process"},
		{"no call", with(m(200, func(i *Intent) { i.Call = nil })), "without its call"},
		{"call to nobody", with(m(200, func(i *Intent) { i.Call.NameNode.Address = "" })), "to no NameNode"},
		{"no id", with(m(0, nil)), "inode 0"},
		{"no parent", with(m(200, func(i *Intent) { i.ParentID = 0 })), "directory 0"},
		{"its own parent", with(m(200, func(i *Intent) { i.ParentID = 200 })), "inode 200 in directory 200"},
		{"no path", with(m(200, func(i *Intent) { i.Path = "" })), `path "" is not absolute`},
		{"by id", with(m(200, func(i *Intent) { i.Path = "/.reserved/.inodes/200" })), "is reserved"},
		{"no target", with(m(200, func(i *Intent) { i.Target = "" })), "target"},
		{"target with dots", with(m(200, func(i *Intent) { i.Target = trash + "/../../x" })), `has the component ".."`},
		{"onto itself", with(m(200, func(i *Intent) { i.Target, i.TrashRoot = i.Path, "" })), "cannot become"},
		{"into itself", with(m(200, func(i *Intent) { i.Target, i.TrashRoot = i.Path+"/y", "" })), "cannot become"},
		{"outside the trash", with(m(200, func(i *Intent) { i.Target = "/user/fsweep/.Trash2/x" })), "is not in the trash"},
		{"the trash itself", with(m(200, func(i *Intent) { i.Target = trash })), "is not in the trash"},
		{"quarantine", with(m(200, func(i *Intent) { i.Target, i.TrashRoot = "/q/x", "" })), ""},
		{"kind", with(m(200, func(i *Intent) { i.Kind = "" })), `kind "" is unknown`},
		{"inodes", with(m(200, func(i *Intent) { i.Inodes = 0 })), "an item of 0 inodes"},
		{"length", with(m(200, func(i *Intent) { i.Length = -1 })), "-1 bytes"},
		{"permission", with(m(200, func(i *Intent) { i.Permission = 0o700 })), "goes with mkdirs"},
		{"a move undoes", with(m(200, func(i *Intent) { i.Undoes = 2 })), "undoes 2"},
		{"purpose", with(m(200, func(i *Intent) { i.Purpose = "delete" })), `purpose "delete" is none of run`},

		{"mkdirs", with(mkdirs("/a"), done(11)), ""},
		{"mkdirs refused", with(mkdirs("/a"), failed(11, mkdirs("/a"))), ""},
		{"mkdirs of an inode", with(changed(mkdirs("/a"), func(i *Intent) { i.InodeID = 5 })), "nothing else"},
		{"mkdirs with a call", with(changed(mkdirs("/a"), func(i *Intent) { i.Call = call(client1, 9) })), "nothing else"},
		{"mkdirs of no permission", with(changed(mkdirs("/a"), func(i *Intent) { i.Permission = 0 })), "permission 0"},
		{"mkdirs, setuid", with(changed(mkdirs("/a"), func(i *Intent) { i.Permission = 0o4755 })), "permission 2541"},
		{"mkdirs, a chain", with(mkdirs("/a"), done(11, 1, 2)), "no chain but what it made"},
		{"mkdirs, gone", with(mkdirs("/a"), settled(11, Gone)), "goes with a rename"},

		{"lock", with(lock(func(*Intent) {}), done(11, 6)), ""},
		{"lock of a kind", with(lock(func(i *Intent) { i.Kind = planfile.KindUnit })), "a lock is no item"},
		{"lock of a size", with(lock(func(i *Intent) { i.Inodes = 1 })), "a lock is no item"},
		{"lock in the trash", with(lock(func(i *Intent) { i.TrashRoot = "/l" })), "goes with a move"},
		{"lock skipped", with(lock(func(*Intent) {}), &Skipped{Stamp: Stamp{AtMs: 1}, Intent: 11, Path: "/l/new", InodeID: 5, Rule: "x"}), "only items are skipped"},
	})
}

func TestItemRules(t *testing.T) {
	t.Parallel()
	undoing := func(plan bool, i *Intent) []Line {
		h := header()
		h.Command = CommandUndo
		if !plan {
			h.UndoOf = &UndoOf{"j.jsonl", Hash{1}}
		}
		return []Line{h, i}
	}
	runCases(t, []ruleCase{
		{"done already", with(m(100, nil)), "inode 100 is done already"},
		{"skipped already", with(m(101, nil)), "said already that inode 101 is skipped"},
		{"failed already", with(m(102, nil)), "said already that inode 102 is failed"},
		{"gone already", with(m(103, nil)), "inode 103 is unknown already"},
		{"skipped, a later process", with(resumed(client2), m2(101)), ""},
		{"failed, a later process", with(resumed(client2), m2(102)), ""},
		{"done, a later process", with(resumed(client2), m2(100)), "inode 100 is done already"},
		{"gone, a later process", with(resumed(client2), m2(103)), "inode 103 is unknown already"},
		{"skipped twice", with(skipped(root+"/b", 101)), "said already"},
		{"skipped after done", with(skipped(root+"/a", 100)), "inode 100 is done already"},
		{"skipped twice, a later process", with(resumed(client2), skipped(root+"/b", 101)), ""},

		{"undo", with(u(nil), done(11, 16400)), ""},
		{"undo, elsewhere", with(u(func(i *Intent) { i.Target = root + "/b" })), "is not where inode 100 came from"},
		{"undo of another intent", with(u(func(i *Intent) { i.Undoes = 5 })), "intent 5 did not move inode 100"},
		{"undo of none", with(u(func(i *Intent) { i.Undoes = 0 })), "intent 0 did not move inode 100"},
		{"undo of what was skipped", with(u(func(i *Intent) { i.InodeID = 101 })), "did not move inode 101"},
		{"undo of what is unknown here", with(u(func(i *Intent) { i.InodeID = 5000 })), "did not move inode 5000"},
		{"undo, another size", with(u(func(i *Intent) { i.Inodes = 4 })), "was another size"},
		{"undo to the trash", with(u(func(i *Intent) { i.TrashRoot = "/flink-checkpoints" })), "goes with a move"},
		{"undo twice", with(u(nil), done(11, 16400), u(func(i *Intent) { i.Call.CallID = 20 })), "or it was moved back"},
		{"undo again after it failed", with(u(nil), failed(11, u(nil)), u(func(i *Intent) { i.Call.CallID = 20 })), ""},
		{"moved again after undo", with(u(nil), done(11, 16400), m(100, nil)), "inode 100 is undone already"},
		{"stray", with(u(func(i *Intent) { i.InodeID, i.Undoes, i.Target = 999, 9, root+"/e" }), done(11, 16400)), ""},
		{"stray, elsewhere", with(u(func(i *Intent) { i.InodeID, i.Undoes = 999, 9 })), "is not where inode 999 came from"},
		{"stray of another", with(u(func(i *Intent) { i.InodeID, i.Undoes, i.Target = 999, 7, root+"/e" })), "did not move inode 999"},

		{"purpose of the command", undoing(true, m(200, nil)), `purpose "move" is none of undo`},
		{"undo of a journal", undoing(false, u(nil)), ""},
		{"undo of a journal, no number", undoing(false, u(func(i *Intent) { i.Undoes = 0 })), "a number goes with a journal"},
		{"undo of a plan", undoing(true, u(func(i *Intent) { i.Undoes = 0 })), ""},
		{"undo of a plan, a number", undoing(true, u(nil)), "a number goes with a journal"},
	})
}

func TestOutcomeRules(t *testing.T) {
	t.Parallel()
	s := func(change func(*Settled)) *Settled {
		return changed(changed(settled(11, OtherInode), func(s *Settled) { s.InodeID = 998 }), change)
	}
	bare := &Skipped{Stamp: Stamp{AtMs: 1}, Kind: planfile.KindUnit, Path: "/a/b", InodeID: 5, Rule: "r"}
	runCases(t, []ruleCase{
		{"done of nothing", with(done(2, 17001)), "no intent is open"},
		{"done of another", with(m(200, nil), done(2, 17001)), "intent 11 is open, not 2"},
		{"done of itself", with(m(200, nil), done(12, 17001)), "intent 11 is open, not 12"},
		{"no chain", with(m(200, nil), done(11)), "no chain of directories"},
		{"chain with 0", with(m(200, nil), done(11, 17001, 0)), "has inode 0 or 200"},
		{"chain with itself", with(m(200, nil), done(11, 17001, 200)), "has inode 0 or 200"},
		{"done after unknown", with(m(200, nil), unknown(11), done(11, 17001)), "can only be settled"},
		{"failed after unknown", with(m(200, nil), unknown(11), failed(11, m(200, nil))), "can only be settled"},
		{"done by the next process", with(m(200, nil), resumed(client2), done(11, 17001)), "can only be settled"},
		{"settled by the next process", with(m(200, nil), resumed(client2), settled(11, Arrived)), ""},
		{"unknown again, by the next process", with(m(200, nil), unknown(11), resumed(client2), unknown(11), settled(11, NotHappened)), ""},
		{"settled at once", with(m(200, nil), settled(11, Arrived)), ""},
		{"tried again after not-happened", with(m(200, nil), unknown(11), settled(11, NotHappened), m(200, func(i *Intent) { i.Call.CallID = 20 })), ""},
		{"unknown of nothing", with(unknown(2)), "no intent is open"},
		{"settled twice", with(m(200, nil), settled(11, Arrived), settled(11, Arrived)), "no intent is open"},
		{"no class", with(m(200, nil), &Unknown{Stamp: Stamp{AtMs: 1}, Intent: 11}), "no class"},
		{"how", with(m(200, nil), settled(11, "perhaps")), `how "perhaps" is unknown`},
		{"arrived as another", with(m(200, nil), s(func(s *Settled) { s.How = Arrived })), "goes with other-inode"},
		{"another without id", with(m(200, nil), s(func(s *Settled) { s.InodeID = 0 })), "goes with other-inode"},
		{"another is the same", with(m(200, nil), s(func(s *Settled) { s.InodeID = 200 })), "goes with other-inode"},
		{"another in itself", with(m(200, nil), s(func(s *Settled) { s.Chain = []uint64{998} })), "has inode 998"},
		{"settled without a chain", with(m(200, nil), s(func(s *Settled) { s.Chain = nil })), "no chain of directories"},
		{"not-happened, but found", with(m(200, nil), s(func(s *Settled) { s.How, s.InodeID = NotHappened, 0 })), "not-happened, but found"},

		{"skipped while open", with(m(200, nil), skipped(root+"/y", 300)), "intent 11 is open, not 0"},
		{"skipped behind its intent", with(m(200, nil), changed(skipped(root+"/x", 200), func(s *Skipped) { s.Intent = 11 })), ""},
		{"skipped, another path", with(m(200, nil), changed(skipped(root+"/y", 200), func(s *Skipped) { s.Intent = 11 })), "not about what intent 11"},
		{"failed, of another item", with(m(200, nil), failed(11, m(201, nil))), "not about what intent 11"},
		{"failed, of no intent", with(failed(9, m(201, nil))), "no intent is open"},
		{"skipped without a rule", with(changed(clone(bare), func(s *Skipped) { s.Rule = "" })), "no rule"},
		{"skipped without an id", with(changed(clone(bare), func(s *Skipped) { s.InodeID = 0 })), "no inode id"},
		{"skipped without a kind", with(changed(clone(bare), func(s *Skipped) { s.Kind = "" })), `kind "" is unknown`},
		{"long message", with(&Failed{Stamp: Stamp{AtMs: 1}, Path: "/a/b", Class: "c", Message: planfile.Name(strings.Repeat("x", maxMessage+1))}), "a message of 8193 bytes"},
	})
}

func clone[T any](v *T) *T {
	c := *v
	return &c
}

func TestEndRules(t *testing.T) {
	t.Parallel()
	e := func(code int64, change func(*Totals)) *End {
		v := end(code, 5)
		v.Totals = Totals{Planned: 5, Done: 1, Skipped: 1, Failed: 2, Unknown: 1, Inodes: 3, Length: 1000, Space: 3000}
		if change != nil {
			change(&v.Totals)
		}
		return v
	}
	more := func(t *Totals) { t.Planned, t.Unknown = 6, 2 }
	runCases(t, []ruleCase{
		{"end", with(e(5, nil)), ""},
		{"undone", with(u(nil), done(11, 16400), e(5, func(t *Totals) { t.Done, t.Undone, t.Inodes, t.Length, t.Space = 0, 1, 0, 0, 0 })), ""},
		{"end while open", with(m(200, nil), e(5, nil)), "intent 11 is open, and no unknown line"},
		{"end while unknown", with(m(200, nil), unknown(11), e(5, more)), ""},
		{"end while unknown, exit code 0", with(m(200, nil), unknown(11), e(0, more)), "exit_code 0 with"},
		{"exit code", with(e(256, nil)), "exit_code 256"},
		{"exit code 0", with(e(0, nil)), "exit_code 0 with"},
		{"too few planned", with(e(5, func(t *Totals) { t.Planned = 4 })), "4 items planned, but 5"},
		{"totals", with(e(5, func(t *Totals) { t.Done = 2 })), "not those of these lines"},
		{"bytes", with(e(5, func(t *Totals) { t.Space++ })), "not those of these lines"},
		{"behind an end", with(e(5, nil), skipped(root+"/y", 300)), "there can only be a resumed line"},
		{"end behind an end", with(e(5, nil), e(5, nil)), "there can only be a resumed line"},
		{"resumed behind an end", with(e(5, nil), resumed(client2), skipped(root+"/y", 300)), ""},
	})
}

// holds demands that encoder and reader refuse the last line, or neither.
func holds(t *testing.T, lines []Line, want string) {
	t.Helper()
	b := lawless(t, lines)
	_, read := Open(bytes.NewReader(b))
	refused(t, "reader", read, len(lines), want)
	if want == "does not start with" || strings.Contains(want, "not those of these lines") || strings.HasPrefix(want, "a message of") {
		return // what the encoder writes itself
	}
	_, err := tryEncode(lines)
	refused(t, "encoder", err, len(lines), want)
}

func refused(t *testing.T, who string, err error, line int, want string) {
	t.Helper()
	var at *LineError
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: %v", who, err)
	case want == "":
	case !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrNotJournal) || !errors.As(err, &at) || !strings.Contains(err.Error(), want):
		t.Errorf("%s: error %v, want one with %q", who, err, want)
	case at.Line != line && want != "does not start with":
		t.Errorf("%s: error %v, want one of line %d", who, err, line)
	}
}

// TestErrorsStick: after a line that was refused there is none.
func TestErrorsStick(t *testing.T) {
	t.Parallel()
	e := NewEncoder()
	if _, err := e.Encode(header()); err != nil {
		t.Fatal(err)
	}
	_, first := e.Encode(done(1, 2))
	if _, err := e.Encode(skipped(root+"/a", 1)); first == nil || !errors.Is(err, first) {
		t.Errorf("%v, then %v", first, err)
	}
}

// TestManyProcesses: the number of processes is bounded.
func TestManyProcesses(t *testing.T) {
	t.Parallel()
	lines := []Line{header()}
	for i := range maxProcesses + 1 {
		lines = append(lines, resumed(ClientID{15: 9, 0: byte(i), 1: byte(i >> 8)}))
	}
	holds(t, lines[:len(lines)-1], "")
	holds(t, lines, "resumed more than 10000 times")
}

// TestMessagesAreCut: a NameNode cannot make a line too long, and no character is cut
// in two.
func TestMessagesAreCut(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"x", "é", "€", "𝄞", "\xff"} {
		for shift := range 5 {
			long := strings.Repeat("a", shift) + strings.Repeat(text, 3*maxMessage)
			f := &Failed{Stamp: Stamp{AtMs: 1}, Path: "/a", Class: "c", Message: planfile.Name(long)}
			b := encode(t, []Line{header(), f})
			if got := string(f.Message); !strings.HasPrefix(long, got) || len(got) > maxMessage || len(got) <= maxMessage-len(text) {
				t.Errorf("%q after %d: cut to %d bytes", text, shift, len(got))
			}
			if bytes.Contains(b, []byte("message_b64")) != (text == "\xff") {
				t.Errorf("%q after %d: not UTF-8", text, shift)
			}
		}
	}
}
