package fakehdfs_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fsweep/execute"
	"fsweep/execute/fakehdfs"
)

// note is what a program has noted down before it sent a rename.
type note struct {
	move execute.Move
	call execute.Call
}

// tidy is a small program: it moves /data/old below /trash, and notes it down before.
func tidy(ctx context.Context, c *fakehdfs.Client, journal *[]note) error {
	old, err := c.Stat(ctx, execute.At("/data/old"))
	if err != nil {
		return err
	}
	parent, err := c.Stat(ctx, execute.ParentOf(old.ID))
	if err != nil {
		return err
	}
	if err := c.Mkdirs(ctx, "/trash/data", 0o700); err != nil {
		return err
	}
	call, err := c.NewCall(ctx)
	if err != nil {
		return err
	}
	move := execute.Move{ID: old.ID, ParentID: parent.ID, From: "/data/old", To: "/trash/data/old"}
	if err := c.Step(ctx, "journal"); err != nil {
		return err // the line did not reach the disk
	}
	*journal = append(*journal, note{move, call})
	return c.Rename(ctx, move, call)
}

// resume settles what was noted down, or starts again.
func resume(ctx context.Context, c *fakehdfs.Client, journal *[]note) error {
	if len(*journal) == 0 {
		return tidy(ctx, c, journal)
	}
	last := (*journal)[len(*journal)-1]
	return c.Resend(ctx, last.move, last.call)
}

// A test prepares a cluster once, counts the operations of a run, and then lets a clone
// crash, or be hit by each fault, at each of them.
func Example() {
	prepared := fakehdfs.New(fakehdfs.Options{HA: true})
	prepared.Put("/data/old/part", "alice", []byte("x"))
	prepared.Mkdir("/data", "alice", 0o755)
	prepared.Mkdir("/trash", "alice", 0o700)

	fs := prepared.Clone()
	if err := tidy(context.Background(), fs.Client("alice"), new([]note)); err != nil {
		fmt.Println(err)
	}
	n := fs.Ops()
	for _, op := range fs.Mutating() {
		fmt.Printf("%d of %d: %s %s\n", op.N, n, op.Call, op.Path)
	}
	want, _ := fs.Lookup("/trash/data/old")

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	wrong := 0
	for i := 1; i <= n; i++ {
		for _, crash := range []func(*fakehdfs.FS, int){(*fakehdfs.FS).CrashBefore, (*fakehdfs.FS).CrashAfter} {
			fs := prepared.Clone()
			crash(fs, i)
			var journal []note
			if err := tidy(ctx, fs.Client("alice"), &journal); !errors.Is(err, fakehdfs.ErrDead) {
				wrong++
			}
			if err := resume(ctx, fs.Client("alice"), &journal); err != nil { // a new process
				wrong++
			}
			if got, _ := fs.Lookup("/trash/data/old"); got.ID != want.ID {
				wrong++
			}
		}
	}
	fmt.Println("wrong:", wrong)
	// Output:
	// 4 of 9: mkdirs /trash/data
	// 9 of 9: rename2 /.reserved/.inodes/16387
	// wrong: 0
}
