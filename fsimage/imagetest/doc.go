// Package imagetest writes HDFS NameNode images, valid or deliberately broken,
// for the tests and benchmarks of the packages that read them.
//
// It is the independent side of those tests: it imports neither fsimage nor
// analyze, so a misunderstanding of the format or of the NameNode's accounting
// cannot cancel itself out. There are three levels:
//
//   - [Image] composes a file of sections and delimited messages and can break
//     every part of it.
//   - [Tree] is a small namespace of [Node] values; [Tree.Image] turns it into the
//     sections a NameNode writes, in its order. [ParseTree] makes one of text.
//   - [Write] streams a realistic image of any size and computes, from its own
//     model, what a NameNode would answer about it ([Truth]).
//
// [BareDecode] is the least work a reader can do with an image: what the speed
// of the real readers is measured against.
//
// Values of this package are not safe for concurrent use. The same input always
// gives the same bytes.
package imagetest
