package cleanup

import (
	"time"

	"fsweep/proto/live"
)

// Lists that a policy names are read by [live], as the executor does it, too. These are its
// names, under which decisions are written down here.
type (
	// Input is a list as the caller opened it.
	Input = live.Input
	// ListError says where in a list something is wrong.
	ListError = live.ListError
	// LiveSet is what a source says exists.
	LiveSet = live.Set
	// LiveOptions say how a live source is read.
	LiveOptions = live.Options
	// LiveCount is how much a live source names.
	LiveCount = live.Count
)

// The classes of failure of the lists that a policy names: those of [live].
var (
	ErrEmpty  = live.ErrEmpty
	ErrStale  = live.ErrStale
	ErrShrunk = live.ErrShrunk
	ErrList   = live.ErrList
)

// ReadLive reads a live source: [live.Read].
func ReadLive(in Input, source LiveSource, o LiveOptions) (*LiveSet, error) {
	return live.Read(in, source, o)
}

// ReadPins reads a list of paths to keep: [live.ReadPins].
func ReadPins(in Input, file PinFile, ns Nameservice, now time.Time) ([]Path, error) {
	return live.ReadPins(in, file, ns, now)
}
