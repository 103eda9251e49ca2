// Package live reads what a policy names besides itself: lists of what exists on a
// platform, in any state (lines, resources of Kubernetes, answers of Flink's REST
// interface), and lists of paths to keep. The planner reads them, and the executor
// reads them again before anything moves.
//
// It opens nothing: the caller gives a reader and the time of the file. Nothing of a list
// is returned with an error, as then nobody knows what lives. Memory follows what a
// list names, not its size.
//
// Values are the caller's. Functions can be called by many goroutines.
package live
