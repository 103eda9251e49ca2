package plan

import (
	"bufio"
	"container/heap"
	"encoding/binary"
	"io"
)

// merge reads the records of a spool in their order. A nil merge has none.
type merge struct {
	s    *spool
	runs runHeap
	head swept
	read bool // head is the record of the first run
}

// sortedRun is a run while it is merged; record is its next one.
type sortedRun struct {
	record []byte
	// Of a run in the file.
	r    *bufio.Reader
	left int64
	// Of a worker's memory.
	w  *spoolWorker
	at []uint32
}

// runHeap has the run with the first record first.
type runHeap []*sortedRun

func (h runHeap) Len() int           { return len(h) }
func (h runHeap) Less(i, j int) bool { return compareRecords(h[i].record, h[j].record) < 0 }
func (h runHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)        { *h = append(*h, x.(*sortedRun)) }
func (h *runHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// merge begins to read.
func (s *spool) merge() (*merge, error) {
	m := &merge{s: s}
	var all []*sortedRun
	size := min(max(mergeMemory/max(len(s.runs), 1), 4<<10), 256<<10)
	for _, e := range s.runs {
		all = append(all, &sortedRun{r: bufio.NewReaderSize(io.NewSectionReader(s.file, e.off, e.length), size), left: e.length})
	}
	for i := range s.workers {
		if w := &s.workers[i].V; len(w.at) > 0 {
			all = append(all, &sortedRun{w: w, at: w.at})
		}
	}
	for _, r := range all {
		more, err := r.advance()
		if err != nil {
			return nil, s.error(err)
		}
		if more {
			m.runs = append(m.runs, r)
		}
	}
	heap.Init(&m.runs)
	return m, nil
}

// advance goes to the next record of a run.
func (r *sortedRun) advance() (bool, error) {
	if r.w != nil {
		if len(r.at) == 0 {
			return false, nil
		}
		r.record, r.at = r.w.record(r.at[0]), r.at[1:]
		return true, nil
	}
	if r.left == 0 {
		return false, nil
	}
	var length [4]byte
	if _, err := io.ReadFull(r.r, length[:]); err != nil {
		return false, err
	}
	n := int64(binary.BigEndian.Uint32(length[:]))
	if r.left -= 4 + n; r.left < 0 || n < 8 {
		return false, errSpool
	}
	if int64(cap(r.record)) < n {
		r.record = make([]byte, n)
	}
	r.record = r.record[:n]
	if _, err := io.ReadFull(r.r, r.record); err != nil {
		return false, err
	}
	if 8+int64(binary.BigEndian.Uint32(r.record[4:])) > n {
		return false, errSpool
	}
	return true, nil
}

// peek gives the next record; false: there is none. It is valid until next.
func (m *merge) peek() (*swept, bool, error) {
	if m == nil || len(m.runs) == 0 {
		return nil, false, nil
	}
	if !m.read {
		if err := m.s.decode(m.runs[0].record, &m.head); err != nil {
			return nil, false, m.s.error(err)
		}
		m.read = true
	}
	return &m.head, true, nil
}

// next goes beyond the record that peek gave.
func (m *merge) next() error {
	more, err := m.runs[0].advance()
	if err != nil {
		return m.s.error(err)
	}
	if m.read = false; more {
		heap.Fix(&m.runs, 0)
	} else {
		heap.Pop(&m.runs)
	}
	return nil
}
