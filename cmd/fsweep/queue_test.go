package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// run hands n batches to workers as the reader of an image does: numbers are
// given out in order, each worker waits in put until its batch is written.
func runQueue(ctx context.Context, q *queue, workers, n int, fail func(seq int) error) error {
	var mu sync.Mutex
	var first error
	next, stopped := 0, false
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			w := &rowWriter{}
			for {
				mu.Lock()
				seq := next
				if stopped || seq == n || ctx.Err() != nil {
					mu.Unlock()
					return
				}
				next++
				mu.Unlock()
				w.buf, w.n = fmt.Appendf(w.buf[:0], "%d\n", seq), 1
				if _, err := q.put(seq, w, fail(seq)); err != nil {
					mu.Lock()
					if first == nil {
						first = err
					}
					stopped = true
					mu.Unlock()
					return
				}
			}
		})
	}
	wg.Wait()
	return first
}

func TestQueueOrder(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	q := newQueue(t.Context(), &got)
	defer q.close()
	if err := runQueue(t.Context(), q, 7, 1000, func(int) error { return nil }); err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for i := range 1000 {
		fmt.Fprintln(&want, i)
	}
	if got.String() != want.String() || q.done != 1000 {
		t.Error("batches are out of order")
	}
}

// TestQueueFails requires that a failure anywhere ends all waiting.
func TestQueueFails(t *testing.T) {
	t.Parallel()
	failure := errors.New("broken")
	for _, at := range []int{0, 1, 50, 99} {
		var got bytes.Buffer
		q := newQueue(t.Context(), &got)
		err := runQueue(t.Context(), q, 5, 100, func(seq int) error {
			if seq == at {
				return failure
			}
			return nil
		})
		q.close()
		if !errors.Is(err, failure) || !errors.Is(q.err(), failure) {
			t.Errorf("at %d: got %v", at, err)
		}
	}
}

// fullWriter takes n writes and fails from then on.
type fullWriter struct{ n int }

func (w *fullWriter) Write(p []byte) (int, error) {
	if w.n--; w.n < 0 {
		return 0, errFull
	}
	return len(p), nil
}

var errFull = errors.New("full")

func TestQueueWriteFails(t *testing.T) {
	t.Parallel()
	for n := range 20 {
		q := newQueue(t.Context(), &fullWriter{n})
		if err := runQueue(t.Context(), q, 4, 100, func(int) error { return nil }); !errors.Is(err, errFull) {
			t.Errorf("after %d writes: got %v", n, err)
		}
		q.close()
	}
}

// hungWriter waits until it is released.
type hungWriter struct{ release chan struct{} }

func (w hungWriter) Write(p []byte) (int, error) {
	<-w.release
	return len(p), nil
}

func TestQueueCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	w := hungWriter{make(chan struct{})}
	q := newQueue(ctx, w)
	defer q.close()
	done := make(chan error)
	go func() { done <- runQueue(ctx, q, 3, 100, func(int) error { return nil }) }()
	cancel()
	close(w.release)
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
