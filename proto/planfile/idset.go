package planfile

// idSet is a set of 64-bit numbers, 11 to 22 bytes a number and no allocation for
// each; a map takes three times as much. Zero is no member.
type idSet struct {
	slots []uint64
	n     int
}

// add reports whether id is new.
func (s *idSet) add(id uint64) bool {
	if 4*(s.n+1) > 3*len(s.slots) {
		s.grow()
	}
	i := s.find(id)
	if s.slots[i] == id {
		return false
	}
	s.slots[i] = id
	s.n++
	return true
}

func (s *idSet) has(id uint64) bool {
	return s.n > 0 && s.slots[s.find(id)] == id
}

// find gives the slot that holds id, or the free one where it belongs.
func (s *idSet) find(id uint64) uint64 {
	mask := uint64(len(s.slots) - 1)
	h := id * 0x9e3779b97f4a7c15
	i := (h ^ h>>32) & mask
	for s.slots[i] != 0 && s.slots[i] != id {
		i = (i + 1) & mask
	}
	return i
}

func (s *idSet) grow() {
	old := s.slots
	s.slots = make([]uint64, max(64, 2*len(old)))
	for _, id := range old {
		if id != 0 {
			s.slots[s.find(id)] = id
		}
	}
}

// reset empties the set. A large table is given up: clearing it for every small
// item that follows would take longer than making a small one.
func (s *idSet) reset() {
	switch {
	case s.n == 0:
		return
	case len(s.slots) > 1<<10:
		s.slots = nil
	default:
		clear(s.slots)
	}
	s.n = 0
}
