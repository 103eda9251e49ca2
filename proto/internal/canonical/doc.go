// Package canonical is how our formats of JSON Lines are written and read: one
// canonical form of a line ([Coder]), a file that is read twice and is the same both
// times ([Blocks]), and its lines ([Lines]). What lines mean, their order and all
// rules about them belong to the formats, which docs/format describes.
//
// It opens nothing. Nothing in it may be used by several goroutines at once.
package canonical
