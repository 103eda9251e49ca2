//go:build race

package planfile

func init() { raceDetector = true }
