// Package imagedir keeps a directory with images that were fetched: fsimage_N, and beside
// each the .md5 file that Hadoop writes and what is known of it otherwise
// ([sidecar.Fetched]). An image has its name only when all three are complete, and none is
// ever replaced. What a process left that was killed is removed by the next one.
//
// Only what this package wrote is removed: an image of that name whose sidecar file says
// that it is of this transaction.
//
// A [Dir] is for one goroutine, and one process at a time has it.
package imagedir
