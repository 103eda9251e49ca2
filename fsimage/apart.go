package fsimage

// Apart keeps what one goroutine writes away from the cache lines of others. A
// slice with an element for each worker has them side by side otherwise, and each
// write of one worker makes the others wait for memory.
type Apart[T any] struct {
	_ [cacheLines]byte
	V T
	_ [cacheLines]byte
}

// cacheLines is two lines of 64 bytes, because processors fetch them in pairs.
const cacheLines = 128
