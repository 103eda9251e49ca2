// Package cleanup decides what a clean-up may plan. It reads the lists that a policy
// names: live jobs, pinned paths, jobs of savepoints; and [Decide] says of every unit
// whether it stays, and by which rules. The policy itself, which is what a person
// allows, is read by package policy.
//
// The package opens no file, asks no cluster and does not know the time: callers
// hand in names, bytes and what was discovered in an image. Values are never changed
// after they were returned, so many goroutines may read them.
package cleanup
