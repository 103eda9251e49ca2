// Package fsimage reads the file in which an HDFS NameNode saves its
// namespace. It knows the format and nothing about meaning: which section lies
// where, how its bytes are compressed, and how records are decoded. Call
// [OpenFile] or [Open], then the method of the section you want.
//
// The package opens no network connection, starts no process and writes
// nothing. Every length that comes from the file is checked against what is
// left of it before memory is reserved, so a damaged or hostile image ends in
// a [*FormatError] and not in a panic or an exhausted machine.
//
// INODE and INODE_DIR, which hold nearly all bytes of an image, are decoded by
// hand; all other sections by generated code. A fuzz target requires both kinds
// of decoder to agree on the same bytes, in value and in error (an enum value
// that the schema does not know is absent, as in Java).
//
// Byte slices handed to a callback ([INode.Name] and the like) are valid until
// the callback returns. An [Image] may be used by many goroutines at once if
// its io.ReaderAt may.
package fsimage
