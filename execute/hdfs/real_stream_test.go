package hdfs_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"fsweep/execute"
	"fsweep/execute/hdfstest/rig"
)

// renamesDuringFailovers has several clients rename without a pause while NameNodes take
// turns and connections are lost. Each inode goes from name to name; at the end all
// of them are where the journal says, and the audit logs hold each step once.
func renamesDuringFailovers(t *testing.T, h *ha) {
	const clients, inodes, failovers = 4, 3, 8
	var workers []*worker
	for i := range clients {
		w := &worker{ha: h, random: rand.New(rand.NewPCG(uint64(i), uint64(time.Now().UnixNano())))}
		w.port = h.As(t, h.user)
		for j := range inodes {
			m := h.put(t, fmt.Sprintf("w%d-%d", i, j))
			w.at = append(w.at, place{m.ID, h.fromID, m.From})
		}
		w.dir = fmt.Sprintf("%s/w%d", h.to, i)
		h.Admin().Mkdir(t, w.dir, h.user, 0o700)
		w.dirID = h.id(t, execute.At(w.dir))
		workers = append(workers, w)
	}
	for i := range 2 {
		h.Proxy(i).Handle(losses())
	}
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for _, w := range workers {
		wg.Go(func() { w.run(ctx) })
	}
	for range failovers {
		time.Sleep(400 * time.Millisecond)
		if err := h.TryFailover(); err != nil {
			t.Errorf("failover: %v", err)
			break
		}
	}
	time.Sleep(400 * time.Millisecond)
	stop()
	wg.Wait()
	for i := range 2 {
		h.Proxy(i).Handle(nil)
	}
	steps, unknown, unavailable := 0, 0, 0
	for _, w := range workers {
		if w.err != nil {
			t.Error(w.err)
		}
		steps, unknown, unavailable = steps+len(w.steps), unknown+w.unknown, unavailable+w.unavailable
		h.journal = append(h.journal, w.steps...)
		for _, p := range w.at {
			if got := h.id(t, execute.At(p.path)); got != p.id {
				t.Errorf("%s is inode %d, want %d", p.path, got, p.id)
			}
		}
	}
	t.Logf("%d renames, %d of them unknown at first, %d calls found no ACTIVE NameNode", steps, unknown, unavailable)
	if steps < 10*failovers || unknown == 0 {
		t.Errorf("%d renames, %d of them unknown at first: not enough to show anything", steps, unknown)
	}
}

// losses loses one request in ten in one of several ways.
func losses() func(rig.Request) rig.Fault {
	random := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	return func(rig.Request) rig.Fault {
		switch random.IntN(40) {
		case 0:
			return rig.Fault{Action: rig.Drop}
		case 1:
			return rig.Fault{Action: rig.DropSent}
		case 2:
			return rig.Fault{Action: rig.DropAnswer}
		case 3:
			return rig.Fault{Action: rig.CutAnswer, Bytes: random.IntN(40)}
		default:
			return rig.Fault{}
		}
	}
}

// worker renames its own inodes, with a client of its own.
type worker struct {
	*ha
	port                 execute.Mover
	random               *rand.Rand
	dir                  string
	dirID                uint64
	at                   []place
	steps                []move
	unknown, unavailable int
	err                  error
}

// place is where an inode is now.
type place struct {
	id, parent uint64
	path       string
}

func (w *worker) run(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		p := &w.at[w.random.IntN(len(w.at))]
		m := execute.Move{ID: p.id, ParentID: p.parent, From: p.path, To: fmt.Sprintf("%s/%d", w.dir, n), Context: "stream"}
		if w.err = w.step(m); w.err != nil {
			return
		}
		w.steps = append(w.steps, move{m.ID, m.To})
		p.parent, p.path = w.dirID, m.To
	}
}

// step moves an inode once, whatever it takes. It is not stopped in the middle.
func (w *worker) step(m execute.Move) error {
	deadline := time.Now().Add(callTime)
	for time.Now().Before(deadline) {
		call, err := try(w.port.NewCall)
		if err == nil {
			_, err = try(func(ctx context.Context) (struct{}, error) { return struct{}{}, w.port.Rename(ctx, m, call) })
		}
		for errors.Is(err, execute.ErrUnknown) && time.Now().Before(deadline) {
			w.unknown++
			_, again := try(func(ctx context.Context) (struct{}, error) { return struct{}{}, w.port.Resend(ctx, m, call) })
			// It is still unknown when the repetition was not sent.
			if !errors.Is(again, execute.ErrUnavailable) {
				err = again
			}
		}
		if err == nil {
			return nil
		}
		if !errors.Is(err, execute.ErrUnavailable) || errors.Is(err, execute.ErrUnknown) {
			return fmt.Errorf("inode %d to %s: %w", m.ID, m.To, err)
		}
		w.unavailable++ // and so nothing was changed
	}
	return fmt.Errorf("inode %d to %s: not within %v", m.ID, m.To, callTime)
}

func try[T any](do func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callTime/4)
	defer cancel()
	return do(ctx)
}
