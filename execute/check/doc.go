// Package check compares a plan with the live cluster and says of each item whether it
// may move. It only looks: it has no [execute.Mover], so it cannot change anything.
//
// A [Session] is made of an opened plan. Its methods are called in this order:
//
//   - [Session.Preflight] looks for everything that forbids all of the plan: another
//     cluster, an expired plan, a hold, live lists that cannot be trusted, no trash.
//   - [Session.Check] looks at roots, jobs and items, then reads the guards, until
//     nothing changes: an item that stays is a guard itself.
//   - [Session.Items] gives the items with their verdicts, in the order in which they move.
//   - [Session.Again] looks once more at one item, directly before its move, and
//     [Session.Moved] is told of the move.
//     [Session.Stays] of what was not moved in the end: it is a guard then.
//   - [Session.Guards] looks for guards that are new or changed since, and gives moved
//     items that turn out to be referred to.
//
// A verdict can only become stricter: what once stays, stays.
//
// An error of a method is never a verdict: it says that the cluster, the plan file or
// the context failed, and then nothing may move. What an item does wrong, or what the
// user may not see of it, is a verdict.
//
// A Session is not safe for use by several goroutines; it asks with a few of its own.
package check
