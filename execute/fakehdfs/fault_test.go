package fakehdfs_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"fsweep/execute"
	"fsweep/execute/fakehdfs"
)

// bed is a prepared cluster with one move.
type bed struct {
	t    *testing.T
	ctx  context.Context
	fs   *fakehdfs.FS
	c    *fakehdfs.Client
	move execute.Move
	call execute.Call
}

func newBed(t *testing.T, o fakehdfs.Options) *bed {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	b := &bed{t: t, ctx: ctx, fs: fakehdfs.New(o)}
	b.fs.Put("/d/f", "alice", []byte("abc"))
	b.fs.Mkdir("/d", "alice", 0o755)
	b.fs.Mkdir("/to", "alice", 0o755)
	b.fs.Chmod("/", 0o777)
	b.c = b.fs.Client("alice")
	f, d := b.at("/d/f"), b.at("/d")
	b.move = execute.Move{ID: f.ID, ParentID: d.ID, From: "/d/f", To: "/to/f"}
	var err error
	if b.call, err = b.c.NewCall(ctx); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bed) at(path string) fakehdfs.Entry {
	b.t.Helper()
	e, ok := b.fs.Lookup(path)
	if !ok {
		b.t.Fatalf("nothing at %s", path)
	}
	return e
}

// where gives the path of the inode that is to be moved.
func (b *bed) where() string {
	e, _ := b.fs.ByID(b.move.ID)
	return e.Path
}

// hit plans a fault for the next message with that name.
func (b *bed) hit(call string, fault fakehdfs.Fault) {
	done := false
	b.fs.Plan(func(op fakehdfs.Op) fakehdfs.Fault {
		if done || op.Call != call {
			return fakehdfs.Fault{}
		}
		done = true
		return fault
	})
}

func TestFaultsOfRename(t *testing.T) {
	t.Parallel()
	const from, to = "/d/f", "/to/f"
	for _, tc := range []struct {
		name  string
		call  string
		fault fakehdfs.Fault
		err   error  // nil: success
		where string // the inode is afterwards
		again error  // what Resend of the same call gives then
		ends  string // where it is in the end
	}{
		{"request lost", "rename2", fakehdfs.Fault{Kind: fakehdfs.Lost}, execute.ErrUnknown, from, nil, to},
		{"answer lost", "rename2", fakehdfs.Fault{Kind: fakehdfs.Lost, After: true}, execute.ErrUnknown, to, nil, to},
		{"frozen", "rename2", fakehdfs.Fault{Kind: fakehdfs.Frozen}, execute.ErrUnknown, from, nil, to},
		{"frozen, and done", "rename2", fakehdfs.Fault{Kind: fakehdfs.Frozen, After: true}, execute.ErrUnknown, to, nil, to},
		{"slow", "rename2", fakehdfs.Fault{Kind: fakehdfs.Slow, For: time.Second, After: true}, nil, to, nil, to},
		{"slower than the deadline", "rename2", fakehdfs.Fault{Kind: fakehdfs.Slow, For: time.Hour, After: true}, execute.ErrUnknown, to, nil, to},
		{"safe mode", "rename2", fakehdfs.Fault{Kind: fakehdfs.Refused, Error: fakehdfs.SafeMode()}, execute.ErrSafeMode, from, nil, to},
		{"permission", "rename2", fakehdfs.Fault{Kind: fakehdfs.Refused, Error: fakehdfs.Permission()}, execute.ErrPermission, from, nil, to},
		{"standby, tried again", "rename2", fakehdfs.Fault{Kind: fakehdfs.Refused, Error: fakehdfs.Standby()}, nil, to, nil, to},
		{"standby after the effect, looked at again", "rename2", fakehdfs.Fault{Kind: fakehdfs.Refused, Error: fakehdfs.Standby(), After: true}, execute.ErrUnknown, to, nil, to},
		{"standby, and moved away meanwhile", "rename2", fakehdfs.Fault{Kind: fakehdfs.Refused, Error: fakehdfs.Standby(), Do: func(f *fakehdfs.FS) { f.Rename("/d/f", "/to/g") }}, execute.ErrChanged, "/to/g", nil, to},
		{"retriable, tried again", "rename2", fakehdfs.Fault{Kind: fakehdfs.Refused, Error: fakehdfs.Retriable()}, nil, to, nil, to},
		{"pretended", "rename2", fakehdfs.Fault{Kind: fakehdfs.Pretend}, nil, from, nil, to},
		{"false", "rename2", fakehdfs.Fault{Kind: fakehdfs.False}, execute.ErrUnknown, from, nil, to},
		{"name taken", "rename2", fakehdfs.Fault{Kind: fakehdfs.NameTaken}, execute.ErrExists, from, execute.ErrExists, from},
		{"parent gone", "rename2", fakehdfs.Fault{Kind: fakehdfs.ParentGone}, execute.ErrNoParent, from, execute.ErrNoParent, from},
		{"swapped: the inode is moved from where it was parked", "rename2", fakehdfs.Fault{Kind: fakehdfs.Swapped}, nil, to, nil, to},
		{"moved away between the look and the rename", "rename2", fakehdfs.Fault{Do: func(f *fakehdfs.FS) { f.Rename("/d/f", "/d/g") }}, nil, to, nil, to},
		{"moved away before the look at the parent", "getFileLinkInfo", fakehdfs.Fault{After: true, Do: func(f *fakehdfs.FS) { f.Rename("/d/f", "/to/g") }}, execute.ErrChanged, "/to/g", nil, to},
		{"look lost", "getFileLinkInfo", fakehdfs.Fault{Kind: fakehdfs.Lost}, execute.ErrUnavailable, from, nil, to},
		{"look frozen", "getFileLinkInfo", fakehdfs.Fault{Kind: fakehdfs.Frozen}, context.DeadlineExceeded, from, nil, to},
		{"look false", "getFileLinkInfo", fakehdfs.Fault{Kind: fakehdfs.False}, execute.ErrNotFound, from, nil, to},
		{"failover before", "rename2", fakehdfs.Fault{Do: (*fakehdfs.FS).Failover}, nil, to, nil, to},
		{"answer lost, then failover", "rename2", fakehdfs.Fault{Kind: fakehdfs.Lost, After: true, Do: (*fakehdfs.FS).Failover}, execute.ErrUnknown, to, nil, to},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, fakehdfs.Options{HA: true})
			b.hit(tc.call, tc.fault)
			if err := b.c.Rename(b.ctx, b.move, b.call); !errors.Is(err, tc.err) {
				t.Errorf("error %v, want %v", err, tc.err)
			} else if errors.Is(err, execute.ErrUnknown) != errors.Is(tc.err, execute.ErrUnknown) {
				t.Errorf("error %v, want %v", err, tc.err)
			}
			if got := b.where(); got != tc.where {
				t.Errorf("the inode is at %s, want %s", got, tc.where)
			}
			if err := b.fs.Client("alice").Resend(b.ctx, b.move, b.call); !errors.Is(err, tc.again) {
				t.Errorf("sent again: %v, want %v", err, tc.again)
			}
			if got := b.where(); got != tc.ends {
				t.Errorf("in the end the inode is at %s, want %s", got, tc.ends)
			}
		})
	}
}

func TestFaultsOfMkdirs(t *testing.T) {
	t.Parallel()
	lost := fakehdfs.Fault{Kind: fakehdfs.Lost, After: true}
	b := newBed(t, fakehdfs.Options{})
	b.hit("mkdirs", lost)
	if err := b.c.Mkdirs(b.ctx, "/to/a", 0o700); err != nil {
		t.Errorf("one answer lost: %v", err)
	}
	b.fs.Plan(func(op fakehdfs.Op) fakehdfs.Fault { return lost })
	if err := b.c.Mkdirs(b.ctx, "/to/b", 0o700); !errors.Is(err, execute.ErrUnknown) {
		t.Errorf("all answers lost: %v", err)
	}
	b.at("/to/b")
	tries := 0
	b.fs.Plan(func(fakehdfs.Op) fakehdfs.Fault {
		if tries++; tries == 1 {
			return lost
		}
		return fakehdfs.Fault{Kind: fakehdfs.Refused, Error: fakehdfs.SafeMode()}
	})
	if err := b.c.Mkdirs(b.ctx, "/to/b2", 0o700); !errors.Is(err, execute.ErrUnknown) || !errors.Is(err, execute.ErrSafeMode) {
		t.Errorf("answer lost, then refused: %v", err)
	}
	b.hit("mkdirs", fakehdfs.Fault{Kind: fakehdfs.False})
	if err := b.c.Mkdirs(b.ctx, "/to/c", 0o700); err == nil || errors.Is(err, execute.ErrUnknown) {
		t.Errorf("false: %v", err)
	}
	b.hit("mkdirs", fakehdfs.Fault{Kind: fakehdfs.NameTaken})
	if err := b.c.Mkdirs(b.ctx, "/to/d", 0o700); err != nil {
		t.Errorf("taken by a directory: %v", err)
	}
	if got := b.at("/to/d").Owner; got != "root" {
		t.Errorf("owner %s", got)
	}
}

func TestNobodyActive(t *testing.T) {
	t.Parallel()
	b := newBed(t, fakehdfs.Options{HA: true})
	b.fs.AllStandby()
	before := b.fs.Now()
	if err := b.c.Rename(b.ctx, b.move, b.call); !errors.Is(err, execute.ErrUnavailable) || errors.Is(err, execute.ErrUnknown) {
		t.Errorf("%v", err)
	}
	if b.fs.Now().Sub(before) < time.Second {
		t.Error("no time has passed on the clock")
	}
	b.fs.Failover()
	if err := b.c.Resend(b.ctx, b.move, b.call); err != nil || b.where() != "/to/f" {
		t.Errorf("%v, %s", err, b.where())
	}
}

func TestRetryCacheForgets(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		after time.Duration
		want  error
	}{{9 * time.Minute, nil}, {11 * time.Minute, execute.ErrExists}} {
		b := newBed(t, fakehdfs.Options{})
		if err := b.c.Rename(b.ctx, b.move, b.call); err != nil {
			t.Fatal(err)
		}
		b.fs.Advance(tc.after)
		if err := b.c.Resend(b.ctx, b.move, b.call); !errors.Is(err, tc.want) {
			t.Errorf("after %v: %v, want %v", tc.after, err, tc.want)
		}
	}
}

func TestCrash(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		b := newBed(t, fakehdfs.Options{})
		first := b.fs.Ops()
		if after {
			b.fs.CrashAfter(first + 3)
		} else {
			b.fs.CrashBefore(first + 3)
		}
		other := b.fs.Client("bob") // of the same process
		if err := b.c.Rename(b.ctx, b.move, b.call); !errors.Is(err, fakehdfs.ErrDead) || errors.Is(err, execute.ErrUnknown) {
			t.Errorf("%v", err)
		}
		if moved := b.where() == "/to/f"; moved != after {
			t.Errorf("after=%t: the inode is at %s", after, b.where())
		}
		n := b.fs.Ops()
		for _, dead := range []*fakehdfs.Client{b.c, other} {
			_, err := dead.Stat(b.ctx, execute.At("/"))
			if !errors.Is(err, fakehdfs.ErrDead) || !errors.Is(dead.Step(b.ctx, "journal"), fakehdfs.ErrDead) {
				t.Errorf("a dead process: %v", err)
			}
		}
		if b.fs.Ops() != n {
			t.Error("operations of the dead are counted")
		}
		if err := b.fs.Client("alice").Resend(b.ctx, b.move, b.call); err != nil || b.where() != "/to/f" {
			t.Errorf("a new process: %v, %s", err, b.where())
		}
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	b := newBed(t, fakehdfs.Options{HA: true})
	if err := b.c.Mkdirs(b.ctx, "/to/a", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := b.c.Rename(b.ctx, b.move, b.call); err != nil {
		t.Fatal(err)
	}
	var calls []string
	for i, op := range b.fs.Log() {
		calls = append(calls, op.Port+"/"+op.Call)
		if op.N != i+1 || op.User != "alice" || op.Client != 1 || !op.Effect || op.Err != nil || op.NameNode != "nn1.example:8020" || op.At.IsZero() {
			t.Errorf("%+v", op)
		}
	}
	want := "NewCall/msync Mkdirs/mkdirs Rename/getFileLinkInfo Rename/getFileLinkInfo Rename/rename2"
	if got := strings.Join(calls, " "); got != want {
		t.Errorf("calls %s, want %s", got, want)
	}
	mutating := b.fs.Mutating()
	if len(mutating) != 2 || mutating[1].Move != b.move || mutating[1].CallID != b.call || mutating[1].ID != b.move.ID {
		t.Errorf("%+v", mutating)
	}
	b.fs.ForgetLog()
	if len(b.fs.Log()) != 0 || b.fs.Ops() != 5 {
		t.Errorf("%d operations", b.fs.Ops())
	}
}

// TestLooksChangeNothing holds every look, with every fault, to that.
func TestLooksChangeNothing(t *testing.T) {
	t.Parallel()
	looks := func(b *bed) {
		for _, ref := range []execute.Ref{execute.At("/d"), execute.At("/d/f"), execute.ByID(b.move.ID), execute.ParentOf(b.move.ID)} {
			_, _ = b.c.Stat(b.ctx, ref)
			_, _ = b.c.List(b.ctx, ref, nil)
			_, _ = b.c.Summary(b.ctx, ref, 100)
			_, _ = b.c.XAttrs(b.ctx, ref)
			_, _ = b.c.Closed(b.ctx, ref)
		}
		_, _ = b.c.Active(b.ctx)
		_, _ = b.c.SafeMode(b.ctx)
		_, _ = b.c.Defaults(b.ctx)
		_, _ = b.c.TrashRoot(b.ctx, "/d/f")
		_, _ = b.c.EncryptionZone(b.ctx, "/d/f")
		_, _ = b.c.NewCall(b.ctx)
		_ = b.c.Read(b.ctx, execute.FileID{ID: b.move.ID, Length: 3, MTimeMs: b.at("/d/f").MTimeMs}, func(r io.Reader) error {
			_, err := io.Copy(io.Discard, r)
			return err
		})
	}
	prepared := newBed(t, fakehdfs.Options{HA: true})
	prepared.fs.SetXAttr("/d/f", "user.x", []byte{1})
	want := prepared.fs.Dump()
	run := func(fault fakehdfs.Fault, n int) int {
		fs := prepared.fs.Clone()
		b := &bed{t: t, ctx: prepared.ctx, fs: fs, c: fs.Client("alice"), move: prepared.move}
		fs.At(n, fault)
		looks(b)
		if got := fs.Dump(); got != want {
			t.Errorf("fault %+v at %d changed\n%sto\n%s", fault, n, want, got)
		}
		if len(fs.Mutating()) != 0 {
			t.Errorf("mutating: %+v", fs.Mutating())
		}
		return fs.Ops()
	}
	n := run(fakehdfs.Fault{}, 0)
	meddling := []fakehdfs.FaultKind{fakehdfs.NameTaken, fakehdfs.ParentGone, fakehdfs.Swapped}
	for _, f := range fakehdfs.Faults() {
		for i := 1; i <= n && !slices.Contains(meddling, f.Kind); i++ {
			run(f.Fault, i)
		}
	}
}

func TestReadIsCutNotShortened(t *testing.T) {
	t.Parallel()
	b := newBed(t, fakehdfs.Options{})
	f := execute.FileID{ID: b.move.ID, Length: 3, MTimeMs: b.at("/d/f").MTimeMs}
	b.hit("open", fakehdfs.Fault{Kind: fakehdfs.Lost, After: true})
	var got []byte
	var reading error
	err := b.c.Read(b.ctx, f, func(r io.Reader) error {
		got, reading = io.ReadAll(r)
		return nil
	})
	if string(got) != "ab" || reading == nil || !errors.Is(err, execute.ErrUnavailable) {
		t.Errorf("%q, %v, %v", got, reading, err)
	}
	b.fs.Unreadable("/d/f", "striped")
	err = b.c.Read(b.ctx, f, func(io.Reader) error { t.Error("used"); return nil })
	if !errors.Is(err, execute.ErrUnreadable) {
		t.Error(err)
	}
}

func TestFreezeNeedsAnEnd(t *testing.T) {
	t.Parallel()
	b := newBed(t, fakehdfs.Options{})
	b.hit("getFileLinkInfo", fakehdfs.Fault{Kind: fakehdfs.Frozen, Do: func(*fakehdfs.FS) {}})
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := b.c.Stat(ctx, execute.At("/")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a call without end did not panic")
		}
	}()
	b.hit("getFileLinkInfo", fakehdfs.Fault{Kind: fakehdfs.Frozen})
	_, _ = b.c.Stat(context.Background(), execute.At("/"))
}

// TestLate: a request arrives long after its client gave up, once, and not at a NameNode that is
// ACTIVE no more. One that was sent again meanwhile is remembered.
func TestLate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		between   func(b *bed)
		after     time.Duration
		where     string
		retryless bool
	}{
		"early":          {nil, 4 * time.Second, "/d/f", false},
		"arrived":        {nil, 6 * time.Second, "/to/f", false},
		"failover":       {func(b *bed) { b.fs.Failover() }, 6 * time.Second, "/d/f", false},
		"sent again":     {func(b *bed) { b.again(); b.fs.Rename("/to/f", "/d/f") }, 6 * time.Second, "/d/f", false},
		"not remembered": {func(b *bed) { b.again(); b.fs.Rename("/to/f", "/d/f") }, 6 * time.Second, "/to/f", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, fakehdfs.Options{HA: true, NoRetries: c.retryless})
			b.hit("rename2", fakehdfs.Fault{Kind: fakehdfs.Late, For: 5 * time.Second})
			if err := b.c.Rename(b.ctx, b.move, b.call); !errors.Is(err, execute.ErrUnknown) || b.where() != "/d/f" {
				t.Fatalf("%v, at %s", err, b.where())
			}
			if c.between != nil {
				c.between(b)
			}
			for range 2 {
				b.fs.Advance(c.after / 2)
				if _, err := b.c.Stat(b.ctx, execute.At("/")); err != nil {
					t.Fatal(err)
				}
			}
			if b.where() != c.where {
				t.Errorf("at %s", b.where())
			}
		})
	}
}

func (b *bed) again() {
	b.t.Helper()
	if err := b.c.Resend(b.ctx, b.move, b.call); err != nil {
		b.t.Fatal(err)
	}
}
