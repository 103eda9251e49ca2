//go:build !race

package flinkmeta

var raceFactor = 1
