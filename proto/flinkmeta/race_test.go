//go:build race

package flinkmeta

// raceFactor: the race detector makes decoding ten times slower, and no test
// that decodes often shares anything between goroutines; one in so many will do.
var raceFactor = 20
