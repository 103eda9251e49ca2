// Package flinkmeta reads what Flink checkpoints and savepoints refer to: the
// binary `_metadata` files of versions 2 to 7, the serialized
// CompletedCheckpoint objects (`completedCheckpoint*`) in a high availability
// directory, and, where decoding is not possible or shall be checked, the plain
// bytes of any file.
//
//   - [Decode] decodes a `_metadata` file and hands out every file, relative
//     file, segment and directory in it. It never keeps state bytes, never
//     reserves memory because a length in the file says so, and refuses what it
//     does not know in full: a reference that is overlooked is data loss later.
//   - [Pointers] gives the paths in a `completedCheckpoint*` file, and an error
//     after them if the file is not whole.
//   - [Search] finds given paths and names in any bytes. It shares no code with
//     the two above, so that it can check them.
//
// The format is described in docs/format/flink-metadata.md.
//
// The package imports nothing but the standard library; it opens no file and no
// connection: what it reads comes from an [io.Reader], in one pass, whatever
// its size. Errors about content are a [*FormatError] around one of
// [ErrNotMetadata], [ErrTruncated], [ErrCorrupt] and [ErrUnsupported]; an error
// of the reader is wrapped and is none of these; an error of a callback is
// returned as it is.
//
// All functions may be called from many goroutines at once, each with its own
// reader. Byte slices and references handed to a callback are valid until the
// callback returns.
package flinkmeta
