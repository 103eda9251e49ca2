package journal

import (
	"crypto/sha256"
	"hash"
	"hash/maphash"
	"slices"
	"strings"

	"fsweep/proto/planfile"
)

const (
	// maxTimeMs is the end of the year 9999.
	maxTimeMs = 253_402_300_799_999
	// maxProcesses bounds the memory of client ids.
	maxProcesses = 10_000
	// maxMessage bounds what a NameNode can put into a journal, in bytes.
	maxMessage = 8 << 10
	maxCallID  = 1<<31 - 1
	// maxPermission is the sticky bit with all others.
	maxPermission = 0o1777
)

// checker keeps the rules, for encoder and reader alike. Lines come in the order of
// the file; all errors wrap ErrInvalid. After an error it is of no use.
type checker struct {
	next Stamp // number and hash of the line that comes next
	off  int64 // and where it begins, in bytes
	sum  hash.Hash
	seed maphash.Seed

	h       *Header
	ended   *End     // if that is the last line
	resumed *Resumed // the last one
	process int32    // how many resumed there were
	client  ClientID // of the present process
	clients map[ClientID]struct{}
	calls   map[int64]struct{} // of the present process
	open    *openIntent
	items   items
	strays  map[uint64]stray
}

// openIntent is the one intent of which it is not known yet what became.
type openIntent struct {
	Intent
	off     int64
	process int32
	unknown bool // an unknown line was there
	item    int32
	before  mark // of the item
	stray   bool // moves a stray back
}

// stray is an inode that was moved by mistake.
type stray struct {
	seq  int64 // of the intent
	home uint64
}

func newChecker() *checker {
	return &checker{
		next: Stamp{Seq: 1}, sum: sha256.New(), seed: maphash.MakeSeed(), clients: map[ClientID]struct{}{},
		calls: map[int64]struct{}{}, items: items{index: map[uint64]int32{}}, strays: map[uint64]stray{},
	}
}

// line checks one line.
func (k *checker) line(l Line) error {
	s := l.Stamped()
	kind := l.kind()
	switch {
	case (kind == typeHeader) != (k.h == nil):
		return invalidf("the header is the first line and no other")
	case s.AtMs <= 0 || s.AtMs > maxTimeMs:
		return invalidf("at_ms %d", s.AtMs)
	case k.ended != nil && kind != typeResumed:
		return invalidf("behind an end there can only be a resumed line, not %s", kind)
	}
	return l.check(k)
}

// commit goes on to the next line; b is the present one, without its newline.
func (k *checker) commit(b []byte) {
	k.sum.Reset()
	k.sum.Write(b)
	k.sum.Write([]byte{'\n'})
	k.sum.Sum(k.next.Prev[:0])
	k.next.Seq++
	k.off += int64(len(b)) + 1
}

func oneOf[T ~string](name string, value T, words ...T) error {
	if !slices.Contains(words, value) {
		return invalidf("%s %q is unknown", name, value)
	}
	return nil
}

func present(values ...[2]string) error {
	for _, v := range values {
		if v[1] == "" {
			return invalidf("no %s", v[0])
		}
	}
	return nil
}

func fileName(key string, n planfile.Name) error {
	if n == "" || strings.Contains(string(n), "/") {
		return invalidf("%s: %q is no file name", key, n)
	}
	return nil
}

func (h *Header) check(k *checker) error {
	if h.Format != Format {
		return invalidf("format %d", h.Format)
	}
	if err := oneOf("command", h.Command, CommandRun, CommandUndo, CommandRehearse, CommandUnlock); err != nil {
		return err
	}
	if err := present(
		[2]string{"tool", h.Tool}, [2]string{"nameservice", h.Nameservice}, [2]string{"anchors", strings.Repeat("x", min(len(h.Anchors), 1))},
	); err != nil {
		return err
	}
	if h.Cluster != nil && h.Cluster.NamespaceID == 0 {
		return invalidf("cluster without a namespace id")
	}
	for _, a := range h.Anchors {
		if a.InodeID == 0 {
			return invalidf("anchor %q has no inode id", a.Path)
		}
		if err := invalid("anchor", a.Path.Clean()); err != nil {
			return err
		}
	}
	if err := h.checkPlan(); err != nil {
		return err
	}
	own := *h
	k.h = &own
	return k.newProcess(h.Version, &h.NameNode, h.User, h.Host, h.PID, h.ClientID)
}

func (h *Header) checkPlan() error {
	undo := h.Command == CommandUndo
	switch {
	case (undo || h.Command == CommandRun) != (h.Plan != nil):
		return invalidf("a plan goes with %s and %s", CommandRun, CommandUndo)
	case h.UndoOf != nil && !undo:
		return invalidf("undo_of goes with %s", CommandUndo)
	case h.UndoOf != nil && h.UndoOf.Last == Hash{}:
		return invalidf("undo_of without a hash")
	case h.Plan != nil && h.Plan.Digest == planfile.Digest{}:
		return invalidf("a plan without a digest")
	}
	if h.Plan != nil {
		if err := fileName("plan", h.Plan.File); err != nil {
			return err
		}
	}
	if h.UndoOf != nil {
		return fileName("undo_of", h.UndoOf.File)
	}
	return nil
}

// newProcess checks what is said of a process, and makes it the present one.
func (k *checker) newProcess(version string, n *NameNode, user planfile.Name, host string, pid int64, client ClientID) error {
	if err := present([2]string{"version", version}, [2]string{"address", n.Address}, [2]string{"user", string(user)}, [2]string{"host", host}); err != nil {
		return err
	}
	_, used := k.clients[client]
	switch {
	case pid <= 0:
		return invalidf("pid %d", pid)
	case client == ClientID{}:
		return invalidf("no client id")
	case used:
		return invalidf("client id %s was used by an earlier process", client)
	}
	k.clients[client] = struct{}{}
	k.client = client
	clear(k.calls)
	return nil
}

func (r *Resumed) check(k *checker) error {
	switch {
	case r.CutBytes < 0:
		return invalidf("cut_bytes %d", r.CutBytes)
	case k.process == maxProcesses:
		return invalidf("resumed more than %d times", maxProcesses)
	}
	k.process++
	k.ended, k.resumed = nil, r
	return k.newProcess(r.Version, &r.NameNode, r.User, r.Host, r.PID, r.ClientID)
}

func (e *End) check(k *checker) error {
	want := k.items.totals(e.Totals.Planned)
	sum := want.Done + want.Undone + want.Skipped + want.Failed + want.Unknown
	switch {
	case k.open != nil && !k.open.unknown:
		return invalidf("intent %d is open, and no unknown line says so", k.open.Seq)
	case e.ExitCode < 0 || e.ExitCode > 255:
		return invalidf("exit_code %d", e.ExitCode)
	case e.Totals != want:
		return invalidf("the totals are not those of these lines: they are %+v, of the lines %+v", e.Totals, want)
	case want.Planned < sum:
		return invalidf("%d items planned, but %d in these lines", want.Planned, sum)
	case e.ExitCode == 0 && (k.open != nil || want.Failed+want.Unknown > 0):
		return invalidf("exit_code 0 with failed or unknown items")
	}
	k.ended = e
	return nil
}
