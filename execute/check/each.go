package check

import (
	"context"
	"iter"
	"sync"
)

// each runs fn for all values of a sequence, at most n at once. The sequence runs on
// the calling goroutine, and only so far ahead that nobody waits. The first error ends
// all.
func each[T any](ctx context.Context, n int, seq iter.Seq2[T, error], fn func(context.Context, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan T)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for v := range work {
				if ctx.Err() != nil {
					continue
				}
				if err := fn(ctx, v); err != nil {
					cancel(err)
				}
			}
		})
	}
	for v, err := range seq {
		if err != nil {
			cancel(err)
		}
		if ctx.Err() != nil {
			break
		}
		select {
		case work <- v:
		case <-ctx.Done():
		}
	}
	close(work)
	wg.Wait()
	return context.Cause(ctx)
}

func all[T any](values []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range values {
			if !yield(v, nil) {
				return
			}
		}
	}
}
