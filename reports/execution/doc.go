// Package execution shows what fsweep-exec found and did: as text for people, one line
// for each item while it happens, and as one JSON object. It asks nothing and computes
// nothing but sums.
//
// A [Report] is told what happens, in the order in which it happens. Text is written
// through at every line: it can be watched. JSON is complete when [Report.End]
// returned; execution.schema.json describes it.
//
// Names in HDFS are bytes. Text shows them escaped, one line for each thing. JSON has
// those that are UTF-8 as they are; any other is shown escaped, with its exact bytes
// beside it under a key that ends in _b64.
//
// Memory follows the number of rules, roots and quota directories, not that of items. A
// Report is for one goroutine.
package execution
