// Package cleanup turns a plan, and the explanation of a path, into what people and
// scripts read: text and JSON. It decides nothing, computes no numbers but sums of
// what it is given, and opens no files.
//
// Its values name rules and facts as a plan file does ([planfile.Fact]), so both
// programs show them alike: the one that has the whole decision, and the one that
// has the plan alone. What each rule means in words stands in rules.go.
//
// Names in HDFS are bytes. Text shows them as [pathtext.Append] does. JSON has those
// that are UTF-8 as they are; any other is shown in that form, with its exact bytes
// beside it under a key that ends in _b64. Times are milliseconds since 1970 in
// values and JSON, and UTC in text.
//
// Functions keep nothing of what they are given. Values are not changed, so they may
// be shown by many goroutines at once if their iterators allow it.
package cleanup
