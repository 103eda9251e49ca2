package cli

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// patience is how long a command runs before it shows a bar.
const patience = 300 * time.Millisecond

// Progress draws a bar on a terminal. Its methods may be called by many
// goroutines, and on nil, which draws nothing.
type Progress struct {
	env   *Env
	start time.Time

	mu      sync.Mutex
	stopped bool
	all     *mpb.Progress // nil before the first bar
	bar     *mpb.Bar
	stage   string
	done    int64 // bytes
	inodes  atomic.Int64
}

// Progress gives a bar on stderr, or nil when stderr is not a terminal.
func (e *Env) Progress() *Progress {
	if !isTerminal(e.Stderr) {
		return nil
	}
	return &Progress{env: e, start: time.Now()}
}

// NoInodes is, in place of their number, for what does not count them.
const NoInodes = -1

// Update says how much of a stage is done: inodes, and bytes of so many.
func (p *Progress) Update(stage string, inodes, done, total int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped || total <= 0 || time.Since(p.start) < patience {
		return
	}
	if p.all == nil {
		p.all = mpb.New(mpb.WithOutput(p.env.Stderr), mpb.WithWidth(24), mpb.WithRefreshRate(200*time.Millisecond))
	}
	if p.bar == nil || stage != p.stage {
		p.drop()
		p.stage, p.done = stage, 0
		p.inodes.Store(NoInodes)
		p.bar = p.all.AddBar(total, mpb.BarRemoveOnComplete(), mpb.PrependDecorators(decor.Name(stage+" ")),
			mpb.AppendDecorators(
				decor.CountersKibiByte("% .1f of % .1f"),
				decor.Any(func(decor.Statistics) string { return ", " + counted(p.inodes.Load()) }),
				decor.AverageETA(decor.ET_STYLE_GO), decor.Name(" left"),
			))
	}
	// Workers report out of order.
	p.inodes.Store(max(p.inodes.Load(), inodes))
	if done > p.done {
		p.done = done
		p.bar.SetCurrent(min(done, total))
	}
}

// counted shows a number of inodes.
func counted(inodes int64) string {
	if inodes == NoInodes {
		return ""
	}
	return humanize.Comma(inodes) + " inodes, "
}

// Stop removes the bar for good; output may follow.
func (p *Progress) Stop() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	p.stopped = true
	p.drop()
	if p.all != nil {
		p.all.Shutdown()
	}
}

func (p *Progress) drop() {
	if p.bar != nil {
		p.bar.Abort(true)
		p.bar.Wait()
		p.bar = nil
	}
}
