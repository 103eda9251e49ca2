// Package policy is the format of a clean-up policy: what a person allows, read
// strictly, with all that is dangerous in it, or makes no sense, refused. It knows no
// image, plan or cluster; the planner and the executor both read it. docs/policy.md
// describes it.
//
// The package opens no file and does not know the time. A policy is refused as a
// whole if anything in it is unknown, doubled, without a unit or dangerous; every
// message says where. Values are never changed after they were returned, so many
// goroutines may read them.
package policy
