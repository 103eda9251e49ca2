package main

import (
	"errors"

	"fsweep/execute/check"
	"fsweep/proto/planfile"
)

// readList reads the live lists and lists of pins of a plan again.
func readList(planfile.Header) func(planfile.Input, bool) (*check.Named, error) {
	return func(planfile.Input, bool) (*check.Named, error) {
		return nil, errors.New("not readable in this version")
	}
}
