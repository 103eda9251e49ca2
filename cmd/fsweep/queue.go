package main

import (
	"context"
	"io"
	"math"
	"sync"
)

// queue lets workers write the batches that they have formatted in the order of
// the image. It never waits for a batch that cannot come: the reader hands
// batches out in order, so the one whose turn it is always belongs to a worker
// that is busy with it, and a worker that fails ends everyone's waiting.
type queue struct {
	w    io.Writer
	stop func() bool

	mu     sync.Mutex
	turn   *sync.Cond
	next   int   // whose turn it is
	done   int64 // inodes in batches before next
	failed error
	at     int // batch that failed
}

func newQueue(ctx context.Context, w io.Writer) *queue {
	q := &queue{w: w}
	q.turn = sync.NewCond(&q.mu)
	q.stop = context.AfterFunc(ctx, func() { q.fail(math.MaxInt, ctx.Err()) })
	return q
}

func (q *queue) close() { q.stop() }

// fail ends all waiting. Of several failures the first in the image counts,
// whichever came first: those before it have all been handed out, and every one
// of them says what is wrong with it.
func (q *queue) fail(seq int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.failed == nil || seq < q.at {
		q.failed, q.at = err, seq
	}
	q.turn.Broadcast()
}

func (q *queue) err() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.failed
}

// put writes batch seq when its turn has come. formatErr, if not nil, is why
// there is nothing to write.
func (q *queue) put(seq int, w *rowWriter, formatErr error) (done int64, err error) {
	if formatErr != nil {
		q.fail(seq, formatErr)
		return 0, formatErr
	}
	q.mu.Lock()
	for seq != q.next && q.failed == nil {
		q.turn.Wait()
	}
	err = q.failed
	q.mu.Unlock()
	if err != nil {
		return 0, err
	}
	// Nobody else can be here: it is this batch's turn until next changes.
	if len(w.buf) > 0 {
		if _, err := q.w.Write(w.buf); err != nil {
			q.fail(seq, err)
			return 0, err
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next++
	q.done += w.n
	q.turn.Broadcast()
	return q.done, nil
}
