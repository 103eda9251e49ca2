package live

import (
	"time"

	"fsweep/proto/policy"
)

// ReadPins reads a list of paths to keep: one a line, absolute or as URI of the
// nameservice; comments are lines that start with #. Paths are compared byte by byte,
// so a line need not be UTF-8; blanks around it are no part of it. Wildcards are
// refused, and so is a # behind a blank: it is more often a comment than a name, and
// what lies in a directory with such a name is pinned by a path above it.
//
// An error is a [*ListError]: the list is empty, older than the policy allows, or
// has a line that is no path of this cluster.
func ReadPins(in Input, file policy.PinFile, ns policy.Nameservice, now time.Time) ([]policy.Path, error) {
	if err := in.fresh(now, file.MaxAge); err != nil {
		return nil, err
	}
	var pins []policy.Path
	seen := map[policy.Path]bool{}
	err := in.Each(func(line []byte) error {
		path, err := policy.CleanPath(string(line), ns, true)
		if err != nil {
			return listErrorf("%w", err)
		}
		if p := policy.Path(path); !seen[p] {
			seen[p] = true
			pins = append(pins, p)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return pins, nil
}
