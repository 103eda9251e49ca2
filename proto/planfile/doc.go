// Package planfile is the plan: what `fsweep plan` decides and `fsweep-exec`
// carries out. It holds the types, the codec, the digest that a person approves,
// the fingerprint of a subtree, and every rule that a file must keep to be a plan.
// It decides nothing itself and opens nothing: bytes go to an [io.Writer] and come
// from an [io.ReadSeeker].
//
// A plan is JSON Lines in one canonical form, described in docs/format/plan.md and
// in plan.schema.json ([Schema]):
//
//	header   what the plan was made from, and the conditions of its execution ([Header])
//	known    what stands in the roots: jobs, runs, other entries ([Known])
//	guard    files that must be asked what they refer to ([Guard])
//	item     what may be moved ([Item]), each followed by its
//	dir      directories inside ([Directory])
//	quota    directories whose quota the plan changes ([Quota])
//	footer   counts and totals ([Footer])
//
// # Writing
//
// [NewWriter] takes the header; then lines follow in the order above, each sorted
// by path. [Writer.Close] writes the footer and gives the digest. What breaks a
// rule is refused when it is written, and the writer then takes nothing more: a
// file without its footer is not a plan.
//
// # Reading
//
// [Open] reads all of the file once: it computes the digest and checks every rule
// to the last line, so nothing that it hands out later can turn out to belong to a
// broken plan. The iterators read the same descriptor again, in blocks of 64 KiB,
// and compare the SHA-256 of each block with that of the first reading *before*
// anything in it is decoded. A file that was changed after Open therefore gives an
// [ErrDigest] in place of the first line that lies in a changed block: whoever acts
// on what an iterator yields acts on the bytes that the digest stands for.
//
// What remains for the caller: compare the digest with the approved one before
// asking for items, and stop at the first error of an iterator.
//
// # Memory
//
// Lines are streamed. Writer and Open keep at most 24 bytes for each item (its inode
// id; while the set grows half as much again), 64 for each guard that lies in a root,
// 200 for one in an item and 48 for each directory of the current item; an opened
// Reader keeps 32 bytes for each block of 64 KiB. Everything returned is the caller's
// and stays valid.
//
// # Goroutines
//
// A Writer, a Reader and a Sum belong to one goroutine at a time. Iterators of one
// Reader may be nested.
package planfile
