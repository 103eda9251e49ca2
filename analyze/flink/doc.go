// Package flink tells what Flink's metadata files refer to: [Read] gives the
// contents of one `_metadata` or `completedCheckpoint*` file as a value, with a
// sum for every directory that is referred to, and which of them belong to
// another run than the file itself.
//
// It opens nothing: bytes come from an [io.Reader], and whether a file that is
// referred to exists is for others to see. What is handed to a callback is valid
// until the callback returns; what is returned is the caller's. Read may run on
// many goroutines at once, each with its own reader.
package flink
