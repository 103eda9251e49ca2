// Package act moves what a plan wants moved and what the checks let go, one inode
// after the other, and can tell and undo all it did. It decides nothing itself: what
// may move is the answer of a [Checker].
//
// # Order
//
// [Run] looks at everything, takes the lock, and then for each item: checks it again,
// looks whether the lock is still held, makes its place in the trash, reads id,
// parent and path a last time, notes down what it is going to ask for, asks, sees
// that the inode arrived, and notes that down. [Resume] goes on where a process ended,
// whatever ended it: it first finds out what became of the change that was asked
// for last. [Undo] moves back; [Rehearse] does both with an empty directory of its
// own; [Unlock] takes the lock away from a process that is gone; [Where] only looks.
//
// # What holds at any moment
//
//   - Nothing is asked for that is not on the disk in the journal.
//   - A line is written only about what was seen. What is not known is unknown, and
//     nothing more is changed before it is settled.
//   - A rename names the inode, and never overwrites. It was looked up by id, by its
//     parent and by its path just before.
//   - Once the journal cannot be written, nothing is changed any more, and the lock
//     remains: no one can account for it but a person.
//   - Only directories in a trash, in the quarantine and in the lock directory are made, never
//     a home, the .Trash of an encryption zone, the lock directory or the quarantine themselves.
//
// # Time
//
// All waiting goes through a [Clock]. When the context ends, the item that is at work is
// finished and nothing else begun.
//
// Nothing here may be used by several goroutines at once.
package act
