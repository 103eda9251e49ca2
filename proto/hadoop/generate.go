// Package hadoop holds the protobuf messages of Hadoop RPC that fsweep speaks with a
// NameNode, generated from the .proto files beside it. It has no code of its own; what is sent
// and when is the business of fsweep/execute/hdfs.
package hadoop

//go:generate go run -C ../../scripts/tools ./generate ../../proto/hadoop fsweep_rpc.proto fsweep_namenode.proto fsweep_survey.proto
