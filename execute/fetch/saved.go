package fetch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"fsweep/execute"
)

// witness is a NameNode whose newest image was this one, at that time.
type witness struct {
	execute.ImageServer
	since time.Time
}

// witnesses gives who had this image when all were asked, or gave it right now.
func witnesses(got *Fetched, servers []execute.ImageServer, asked, now time.Time) []witness {
	var all []witness
	for _, s := range servers {
		switch {
		case s.JMX != nil || s.Err != nil:
		case s.TxID == got.TxID:
			all = append(all, witness{s, asked})
		case s.NameNode == got.From.NameNode: // there was a checkpoint meanwhile
			all = append(all, witness{s, now})
		}
	}
	return all
}

// saved finds out when the image was saved, and notes it in got. It is an error if a
// checkpoint made in between hides it: then there is a newer image.
func (f *fetcher) saved(ctx context.Context, got *Fetched, all []witness) error {
	if len(all) == 0 {
		got.Unknown = errors.New("no NameNode tells which image is its newest")
		if got.From.JMX != nil {
			got.Unknown = got.From.JMX
		}
		return nil
	}
	answers := make([]answer, len(all))
	var wg sync.WaitGroup
	for i, w := range all {
		wg.Go(func() { answers[i] = f.ask(ctx, w, got.TxID) })
	}
	wg.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	replaced := false
	for i, a := range answers {
		switch {
		case a.replaced:
			replaced = true
		case a.err != nil:
			got.Unknown = a.err
		case got.SavedMs == 0 || a.savedMs < got.SavedMs:
			got.SavedMs, got.SavedBy = a.savedMs, all[i].ImageServer
		}
	}
	switch {
	case got.SavedMs != 0:
		got.Unknown = nil
	case replaced:
		return &execute.ImageError{
			NameNode: got.From.NameNode, URL: got.From.URL, Fault: execute.ImageGone,
			Text: fmt.Sprintf("a checkpoint replaced %s before it was known when that was saved", got.Name),
		}
	}
	return nil
}

// answer is what a witness says.
type answer struct {
	savedMs  int64
	replaced bool // its newest image is another one by now
	err      error
}

// ask waits until what a NameNode remembers is of this image.
func (f *fetcher) ask(ctx context.Context, w witness, txid int64) answer {
	if err := f.Clock.Sleep(ctx, w.since.Add(execute.SavedDelay).Sub(f.Clock.Now())); err != nil {
		return answer{err: err}
	}
	newest, savedMs, err := f.from.Saved(ctx, &w.ImageServer)
	switch fault, _ := errors.AsType[*execute.ImageError](err); {
	case fault != nil && fault.Fault == execute.ImageGone:
		return answer{replaced: true}
	case err != nil:
		return answer{err: err}
	}
	return answer{savedMs: savedMs, replaced: newest != txid}
}
