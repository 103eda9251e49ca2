package fsimage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
)

// batches hands the rest of the stream to workers goroutines. fn is called with
// the number of the worker, by one goroutine a worker. The error is that of the
// earliest batch, whatever the timing.
func (s *stream) batches(workers int, fn func(worker int, b *Batch) error) error {
	p := &pool{s: s, im: s.im, fn: fn, over: make(chan struct{})}
	if s.im.sum.Codec != "" {
		return p.runAhead(workers)
	}
	return p.run(workers, p.read)
}

// Replay hands batches that were kept with [Batch.Clone] out once more, sorted
// by their number; see [Image.INodes].
func (im *Image) Replay(ctx context.Context, kept []*Batch, workers int, fn func(worker int, b *Batch) error) error {
	kept = slices.SortedFunc(slices.Values(kept), func(a, b *Batch) int { return cmp.Compare(a.Seq, b.Seq) })
	p := &pool{im: im, fn: fn, over: make(chan struct{})}
	return p.run(workers, func(buf []byte) (*Batch, []byte) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if err := ctx.Err(); err != nil {
			p.failed(0, err)
		}
		if p.end || len(kept) == 0 {
			return nil, buf
		}
		b := kept[0]
		kept[0], kept = nil, kept[1:]
		return b, buf
	})
}

// Clone copies a batch, which is valid for as long as the Image then.
func (b *Batch) Clone() *Batch {
	c := *b
	c.data = append(make([]byte, 0, len(b.data)+slack), b.data...)
	return &c
}

func (p *pool) run(workers int, pull pull) error {
	p.others(workers, pull)
	p.work(0, pull, false)
	return p.result()
}

// others starts the goroutines of all workers but the first.
func (p *pool) others(workers int, pull pull) {
	// With a goroutine for every core, the last one waits for a checksum.
	waits := workers > 1 && workers >= runtime.GOMAXPROCS(0)
	for w := 1; w < workers; w++ {
		p.wg.Go(func() { p.work(w, pull, waits && w == workers-1) })
	}
}

func (p *pool) result() error {
	p.wg.Wait()
	if p.bug != nil {
		panic(p.bug)
	}
	return p.err
}

// pool is the goroutines that decode one section.
type pool struct {
	im *Image
	s  *stream // where batches come from, if they are not there already
	fn func(worker int, b *Batch) error
	wg sync.WaitGroup

	once sync.Once
	over chan struct{} // closed when one goroutine has ended

	mu  sync.Mutex // protects what follows, and the stream unless it is read ahead
	end bool       // nothing more is to be read
	seq int        // of the batch that err is about
	err error
	bug any
}

// pull gives the next batch, nil at the end, and the buffer that it lies in, for
// one that is no longer needed.
type pull func(buf []byte) (*Batch, []byte)

func (p *pool) work(w int, next pull, waits bool) {
	p.guard(func() {
		buf := make([]byte, p.im.opt.buffer)
		for {
			if waits {
				p.im.hash.wait(p.over)
			}
			var b *Batch
			if b, buf = next(buf); b == nil {
				return
			}
			if err := p.fn(w, b); err != nil {
				p.fail(b.Seq, err)
				return
			}
		}
	})
}

// guard runs a goroutine's function. A panic is a bug; it ends the other
// goroutines and goes on in the caller's, where it can be recovered.
func (p *pool) guard(fn func()) {
	defer p.once.Do(func() { close(p.over) })
	defer func() {
		if v := recover(); v != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.bug, p.end = fmt.Sprintf("%v\n%s", v, debug.Stack()), true
		}
	}()
	fn()
}

func (p *pool) fail(seq int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed(seq, err)
}

func (p *pool) failed(seq int, err error) {
	if p.err == nil || seq < p.seq {
		p.seq, p.err = seq, err
	}
	p.end = true
}

// read is the pull of plain bytes, which cost little: each goroutine reads its
// own.
func (p *pool) read(buf []byte) (*Batch, []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end {
		return nil, buf
	}
	b, buf, err := p.s.fill(buf)
	if errors.Is(err, io.EOF) {
		p.end = true
	} else if err != nil {
		p.failed(p.s.seq, err)
	}
	return b, buf
}

// ahead is the number of buffers that are full or being filled beside those that
// are being decoded.
const ahead = 2

// filled is a batch that was decompressed and the buffer that it lies in.
type filled struct {
	b   *Batch
	buf []byte
}

// runAhead is run for compressed bytes. Nothing takes as long as decompressing, so
// the first worker does that without a pause and decodes only if all buffers are
// full: no more goroutines than workers, and none waits for a core that another one
// has.
func (p *pool) runAhead(workers int) error {
	buffers := ahead + workers
	ready, free := make(chan filled, buffers), make(chan []byte, buffers) // neither is ever full
	for range ahead {
		free <- make([]byte, p.im.opt.buffer)
	}
	p.others(workers, func(buf []byte) (*Batch, []byte) {
		free <- buf
		f, ok := <-ready
		if !ok || p.stopped(f.b.Seq) {
			return nil, nil
		}
		return f.b, f.buf
	})
	p.guard(func() {
		p.decompress(ready, free)
		for f := range ready {
			if !p.decode(f) {
				return
			}
		}
	})
	return p.result()
}

// decompress fills buffers until the end of the stream, or until another goroutine
// has ended, and closes ready then.
func (p *pool) decompress(ready chan filled, free chan []byte) {
	defer close(ready)
	for {
		var buf []byte
		select {
		case buf = <-free:
		case <-p.over:
			return
		default:
			select {
			case f := <-ready:
				if !p.decode(f) {
					return
				}
				free <- f.buf
				continue
			case buf = <-free:
			case <-p.over:
				return
			}
		}
		b, buf, err := p.s.fill(buf)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				p.fail(p.s.seq, err)
			}
			return
		}
		ready <- filled{b, buf}
	}
}

// decode hands a batch to the first worker; false if nothing more is to be done.
func (p *pool) decode(f filled) bool {
	if p.stopped(f.b.Seq) {
		return false
	}
	if err := p.fn(0, f.b); err != nil {
		p.fail(f.b.Seq, err)
		return false
	}
	return true
}

// stopped tells whether nobody is interested in a batch: an earlier one failed.
func (p *pool) stopped(seq int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bug != nil || p.err != nil && p.seq < seq
}
