// Package fsimage holds the protobuf messages of an HDFS fsimage, generated
// from fsimage.proto. It has no code of its own; reading and meaning are the
// business of fsweep/fsimage and fsweep/analyze/namespace.
package fsimage

//go:generate go run -C ../../scripts/tools ./generate ../../proto/fsimage fsimage.proto
