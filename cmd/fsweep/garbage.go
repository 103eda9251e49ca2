package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

const (
	usualGarbage = 15 // per cent of what is in use
	// littleGarbage is for images of which snapshots touch little: what they touch
	// is all that makes garbage to speak of.
	littleGarbage = 50
	// mostGarbage bounds what [paceGarbage] allows.
	mostGarbage = 400
)

// limitGarbage makes the collector run earlier than usual: nearly all memory is
// a few large pieces without pointers, which cost it nothing to look at, and
// peak memory is what an operator has to plan for. GOGC overrides it.
func limitGarbage(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// paceGarbage lets garbage lie up to a size of the heap, in bytes, which is what a
// command may use in any case. Above it, the usual limit holds. What a plan is made
// from is many small pieces that the collector has to look at, each time that it runs.
//
// The limit is a share of what is in use, so it has to shrink as that grows: each
// run of the collector sets it anew.
func paceGarbage(room uint64) {
	if os.Getenv("GOGC") != "" {
		return
	}
	if pacedRoom.Swap(room) == 0 {
		pace(0)
	}
}

var pacedRoom atomic.Uint64

// pace sets the limit, and wants to be called again when the collector has run.
func pace(int) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(allowedGarbage(live[0].Value.Uint64(), pacedRoom.Load()))
	runtime.AddCleanup(&struct{ _ [64]byte }{}, pace, 0)
}

// allowedGarbage gives the percentage by which what is in use may grow.
func allowedGarbage(live, room uint64) int {
	if live == 0 || live >= room {
		return usualGarbage
	}
	share := 100 * float64(room-live) / float64(live)
	return int(min(max(share, usualGarbage), mostGarbage))
}
