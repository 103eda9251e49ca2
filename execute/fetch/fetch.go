package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"fsweep/execute"
)

// Target receives one image. It is used by one goroutine.
type Target interface {
	io.Writer
	// Commit keeps what was written, which is complete and verified. It is not
	// interrupted.
	Commit(f *Fetched) error
	// Abort leaves no trace. After Commit it does nothing.
	Abort()
}

// ErrPresent is what [Options.Begin] gives where the very image is there already.
var ErrPresent = errors.New("the image is there already")

// Fetched is an image and what is known of it beside its contents.
type Fetched struct {
	Name   string
	TxID   int64
	Length int64 // bytes
	MD5    [16]byte
	From   execute.ImageServer // the NameNode that gave it
	// SavedMs is when it was saved, in milliseconds since 1970 by the clock of SavedBy;
	// 0: nobody tells, and Unknown says why.
	SavedMs int64
	SavedBy execute.ImageServer
	Unknown error
	// Present: it was there already, and nothing was fetched. Then nothing is known of
	// when it was saved, either: that was found out before.
	Present bool
}

// Options say how to fetch.
type Options struct {
	FromActive     bool  // also from the ACTIVE NameNode
	BytesPerSecond int64 // 0: as fast as it comes
	// Tries is how often all NameNodes are asked, 1 or more. Pauses between tries double.
	Tries int
	Pause time.Duration // the first one
	// Begin gives the place for an image, or ErrPresent. Its other errors end the fetch,
	// as those of the Target do.
	Begin func(f *Fetched) (Target, error)
	// Progress is called now and then, Note with a sentence when something takes long or
	// goes wrong on the way. Both may be nil.
	Progress func(name string, done, total int64)
	Note     func(sentence string)
	Clock    Clock
}

// Clock tells the time and waits.
type Clock interface {
	Now() time.Time
	// Sleep waits, at most until ctx is done, whose error it gives then.
	Sleep(ctx context.Context, d time.Duration) error
}

// maxPause between two tries.
const maxPause = time.Minute

// fetcher is one fetch.
type fetcher struct {
	from execute.ImageServers
	Options
}

// Newest fetches the newest image. Its errors are [*SparedError], [*NoServerError], those of
// Begin and of the Target, and that of ctx.
func Newest(ctx context.Context, from execute.ImageServers, o Options) (*Fetched, error) {
	f := &fetcher{from: from, Options: o}
	pause := f.Pause
	for try := 1; ; try++ {
		got, err := f.once(ctx)
		if err == nil || ctx.Err() != nil {
			return got, err
		}
		none, ok := errors.AsType[*NoServerError](err)
		if !ok || !none.again() || try >= f.Tries {
			return nil, err
		}
		f.note("%v; trying again in %s", err, pause)
		if err := f.Clock.Sleep(ctx, pause); err != nil {
			return nil, err
		}
		pause = min(2*pause, maxPause)
	}
}

// once asks all NameNodes, and then one after the other for its image.
func (f *fetcher) once(ctx context.Context) (*Fetched, error) {
	servers := f.from.ImageServers(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	asked := f.Clock.Now()
	order, err := choose(servers, f.FromActive)
	if err != nil {
		return nil, err
	}
	none := &NoServerError{Servers: servers, FromActive: f.FromActive}
	for _, server := range order {
		got, err := f.image(ctx, &server, servers, asked)
		if err == nil {
			return got, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		fault, ok := errors.AsType[*execute.ImageError](err)
		if !ok {
			return nil, err
		}
		none.Faults = append(none.Faults, fault)
	}
	return nil, none
}

// image fetches from one NameNode.
func (f *fetcher) image(ctx context.Context, server *execute.ImageServer, servers []execute.ImageServer, asked time.Time) (*Fetched, error) {
	image, err := f.from.Image(ctx, server)
	if err != nil {
		return nil, err
	}
	defer image.Body.Close()
	got := &Fetched{Name: image.Name, TxID: image.TxID, Length: image.Length, MD5: image.MD5, From: *server}
	target, err := f.Begin(got)
	if errors.Is(err, ErrPresent) {
		got.Present = true
		return got, nil
	}
	if err != nil {
		return nil, err
	}
	defer target.Abort()
	f.note("%s (%d bytes) from %s, %s, %s", got.Name, got.Length, server.Label(), server.Role, server.URL)

	// A checkpoint in the middle is known before the bytes are there: they are not
	// waited for then.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := f.saved(ctx, got, witnesses(got, servers, asked, f.Clock.Now())); err != nil {
			cancel(err)
		}
	}()
	err = f.copy(ctx, target, image, server)
	if err != nil {
		cancel(err)
	} else {
		f.waiting(done)
	}
	<-done
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	return got, target.Commit(got)
}

// waiting says why nothing happens, if it is so.
func (f *fetcher) waiting(done <-chan struct{}) {
	select {
	case <-done:
	default:
		f.note("the image is here; it takes up to %s until the NameNode tells when it was saved", execute.SavedDelay)
	}
}

func (f *fetcher) note(format string, args ...any) {
	if f.Note != nil {
		f.Note(fmt.Sprintf(format, args...))
	}
}
