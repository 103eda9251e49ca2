// Package cleanup decides what a clean-up may plan. It holds the policy, which is
// what a person allows, read strictly and checked before anything is decided; the
// lists that the policy names: live jobs, pinned paths, jobs of savepoints; and
// [Decide], which says of every unit whether it stays, and by which rules.
//
// The package opens no file, asks no cluster and does not know the time: callers
// hand in names, bytes and what was discovered in an image. A policy is refused as a
// whole if anything in it is unknown, doubled, without a unit or dangerous; every
// message says where. Values are never changed after they were returned, so many
// goroutines may read them.
package cleanup
