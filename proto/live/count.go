package live

import "fmt"

// Count is how much a live source names.
type Count struct{ IDs, Clusters int }

// Count gives how much a source names, to be compared with the next time.
func (l *Set) Count() Count { return Count{len(l.IDs), len(l.Clusters)} }

// Shrunk tells whether a source lost a tenth of what it named before, or is empty:
// then it is more likely that somebody asked the wrong question than that so much
// ended. The error wraps [ErrShrunk].
func (l *Set) Shrunk(before Count) error {
	now := l.Count()
	lost := func(before, now int) bool { return before > 0 && int64(now)*10 <= int64(before)*9 }
	switch {
	case now == (Count{}) && len(l.Paths) == 0:
		return fmt.Errorf("%w: the live source %q is empty", ErrShrunk, l.Name)
	case lost(before.IDs, now.IDs):
		return fmt.Errorf("%w: the live source %q names %d ids, and %d the last time", ErrShrunk, l.Name, now.IDs, before.IDs)
	case lost(before.Clusters, now.Clusters):
		return fmt.Errorf("%w: the live source %q names %d clusters, and %d the last time", ErrShrunk, l.Name, now.Clusters, before.Clusters)
	}
	return nil
}
