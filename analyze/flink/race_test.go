//go:build race

package flink

// raceFactor: the race detector makes building large trees ten times slower, and
// what goroutines share does not depend on how many jobs there are.
const raceFactor = 20
