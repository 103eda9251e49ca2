package main

import "runtime/metrics"

// What a plan may use before the collector has to keep memory low, in bytes: so much
// for each inode, but not less. What is measured has more: stacks, and what was given
// back.
const (
	roomPerInode = 35
	leastRoom    = 32 << 20
)

// leastGarbage is for trees that have no room to spare, as they are nearly all directories.
// What is in use then has hardly any pointers, so that collecting costs little.
const leastGarbage = 8 // per cent of what is in use

// planGarbage says how much garbage may lie while a plan is made of a tree that was loaded.
func planGarbage(inodes int64) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if room := max(roomPerInode*uint64(inodes), leastRoom); live[0].Value.Uint64() < room {
		paceGarbage(room)
	} else {
		limitGarbage(leastGarbage)
	}
}
