// Package flink knows what Flink writes, and never decides what is removed.
//
// [Look] looks at declared roots in an image: their jobs, runs, savepoints
// and clusters as values, with the facts that a decision needs; what does not
// fit the declared layout; and the guards, which are all files of the image that
// can refer to state. It gives them one after the other, [Discover] all at once.
// [Suggest] looks for what could be declared. All read section INODE once and keep
// directories, never files.
//
// [Read] gives the contents of one `_metadata` or `completedCheckpoint*` file as
// a value, with a sum for every directory that is referred to, and which of them
// belong to another run than the file itself. It opens nothing: bytes come from
// an [io.Reader], and whether a file that is referred to exists is for others to
// see. What is handed to a callback is valid until the callback returns; what is
// returned is the caller's.
//
// All functions may run on many goroutines at once, Read each with its own
// reader.
package flink
