// Package cleanup holds the policy of a clean-up: what a person allows fsweep to
// plan, read strictly and checked before anything is decided, and the lists that
// the policy names: live jobs, pinned paths, jobs of savepoints.
//
// The package opens no file and asks no cluster: callers hand in names and bytes.
// A policy is refused as a whole if anything in it is unknown, doubled, without a
// unit or dangerous; every message says where. Values are never changed after they
// were returned, so many goroutines may read them.
package cleanup
