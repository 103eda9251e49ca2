//go:build !race

package flink

const raceFactor = 1
