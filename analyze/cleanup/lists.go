package cleanup

import (
	"fmt"
	"slices"
	"strings"
)

// pathSet finds paths above and below others.
type pathSet struct {
	sorted []string
	has    map[Path]bool
}

func newPathSet(lists ...[]Path) *pathSet {
	s := &pathSet{has: map[Path]bool{}}
	for _, list := range lists {
		for _, p := range list {
			if p != "" && !s.has[p] {
				s.has[p] = true
				s.sorted = append(s.sorted, string(p))
			}
		}
	}
	slices.Sort(s.sorted)
	return s
}

// above gives a path of the set that holds p.
func (s *pathSet) above(p Path) (Path, bool) {
	for i := len(p); i > 0; i = strings.LastIndexByte(string(p[:i]), '/') {
		if s.has[p[:i]] {
			return p[:i], true
		}
	}
	return "", false
}

// below gives the first path of the set that lies below p.
func (s *pathSet) below(p Path) (Path, bool) {
	if len(s.sorted) == 0 {
		return "", false
	}
	// Not all paths that begin with p stand together: /a, /a-b, /a/c.
	i, _ := slices.BinarySearchFunc(s.sorted, string(p), func(x, p string) int {
		if !strings.HasPrefix(x, p) {
			return strings.Compare(x, p)
		}
		return strings.Compare(x[len(p):], "/")
	})
	if i < len(s.sorted) && strings.HasPrefix(s.sorted[i], string(p)) && strings.HasPrefix(s.sorted[i][len(p):], "/") {
		return Path(s.sorted[i]), true
	}
	return "", false
}

// touches gives a path of the set that is p, above or below it.
func (s *pathSet) touches(p Path) (Path, bool) {
	if q, ok := s.above(p); ok {
		return q, true
	}
	return s.below(p)
}

// liveIndex is what all live sources say.
type liveIndex struct {
	ids, digits map[string]bool // digits: the first six, which savepoints have in their names
	clusters    map[string]bool
	runs        bool // names a run: without one it says of none that it is dead
	configMaps  bool // of high availability: without one it says so of no cluster
}

// plainID is an id as it is compared: however somebody wrote it, it is the same.
func plainID(id string) string { return strings.ReplaceAll(strings.ToLower(id), "-", "") }

// constantID tells whether a plain id is one of those that jobs share: a list that has
// no other does not tell runs apart.
func constantID(id string) bool { return strings.HasSuffix(id, "0000000000000000") }

func (l *liveIndex) add(id string) {
	id = plainID(id)
	l.ids[id] = true
	l.runs = l.runs || !constantID(id)
	if len(id) >= 6 {
		l.digits[id[:6]] = true
	}
}

// lists checks the live sources and brings all lists into a form to look things up.
func (b *decider) lists() error {
	var paths []Path
	if len(b.in.Live) > 0 {
		b.live = newLiveIndex()
	}
	for _, source := range b.in.Live {
		if err := source.Shrunk(b.in.PreviousLive[source.Name]); err != nil {
			return fmt.Errorf("%w: %w", ErrDecide, err)
		}
		for _, id := range source.IDs {
			b.live.add(id)
		}
		for _, c := range source.Clusters {
			b.live.clusters[c] = true
		}
		b.live.configMaps = b.live.configMaps || source.Format == Kubernetes && source.HAConfigMaps > 0
		paths = append(paths, source.Paths...)
	}
	if err := b.allSources(); err != nil {
		return err
	}
	b.seen = newLiveIndex()
	for _, id := range b.in.SeenLive {
		b.seen.add(id)
	}
	b.pins = newPathSet(b.in.Pins, paths)
	b.protected = newPathSet(b.p.Protect, b.p.HoldPaths, []Path{b.p.LockDir, b.p.Removal.Quarantine})
	var roots []Path
	for i := range b.p.Roots {
		roots = append(roots, b.p.Roots[i].Path)
	}
	b.roots = newPathSet(roots)
	return nil
}

func newLiveIndex() *liveIndex {
	return &liveIndex{ids: map[string]bool{}, digits: map[string]bool{}, clusters: map[string]bool{}}
}

// allSources wants all sources of the policy: what is missing may live.
func (b *decider) allSources() error {
	given := map[string]bool{}
	for _, source := range b.in.Live {
		given[source.Name] = true
	}
	for _, want := range b.p.Live {
		if !given[string(want.File)] {
			return fmt.Errorf("%w: the live source %q is missing", ErrDecide, want.File)
		}
	}
	return nil
}
