package sidecar

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// LiveStateSuffix is what the name of the file has behind that of its policy.
const LiveStateSuffix = ".live-state.json"

const (
	// MaxLiveStateBytes is the size of some four million ids.
	MaxLiveStateBytes = 256 << 20
	// Remembered is how long an id or a source stays in the file that no live list named
	// again. Policies that share a file may ask for less, each for itself.
	Remembered = 400 * 24 * time.Hour

	liveStateFormat = 1
)

// LiveState is what live lists named at any time before. Times are milliseconds
// since 1970 (UTC).
type LiveState struct {
	Format      int64                 `json:"format"`
	Nameservice string                `json:"nameservice"`
	Sources     map[string]LiveCounts `json:"sources"` // by file, as the policy names it
	Seen        map[string]int64      `json:"seen"`    // ids of jobs; the last time that a list named them
}

// LiveCounts is how much a source named the last time.
type LiveCounts struct {
	IDs      int64 `json:"ids"`
	Clusters int64 `json:"clusters"`
	ReadMs   int64 `json:"read_ms"`
}

// NewLiveState gives what is known before the first list.
func NewLiveState(nameservice string) *LiveState {
	return &LiveState{Format: liveStateFormat, Nameservice: nameservice, Sources: map[string]LiveCounts{}, Seen: map[string]int64{}}
}

// ParseLiveState reads what [LiveState.Encode] wrote for that nameservice, and
// nothing else: a byte that is not as it would be written today means that somebody
// or something changed the file, and that what is missing in it may live. Errors
// wrap [ErrInvalid].
func ParseLiveState(data []byte, nameservice string) (*LiveState, error) {
	if len(data) > MaxLiveStateBytes {
		return nil, invalidf("more than %d bytes", MaxLiveStateBytes)
	}
	var s LiveState
	if err := decode(data, &s); err != nil {
		return nil, err
	}
	switch {
	case s.Format != liveStateFormat:
		return nil, invalidf("format %d; this program reads format %d", s.Format, liveStateFormat)
	case s.Nameservice != nameservice:
		return nil, invalidf("it is of nameservice %q, and the policy is for %q", s.Nameservice, nameservice)
	case s.Sources == nil || s.Seen == nil:
		return nil, invalidf("a part is missing")
	}
	for file, c := range s.Sources {
		if file == "" || c.IDs < 0 || c.Clusters < 0 || !isTime(c.ReadMs) {
			return nil, invalidf("the counts of the source %q", file)
		}
	}
	for id, ms := range s.Seen {
		if !isID(id) || !isTime(ms) {
			return nil, invalidf("the entry of %q", id)
		}
	}
	if again, err := s.Encode(); err != nil || !bytes.Equal(again, data) {
		return nil, invalidf("it is not as fsweep writes it")
	}
	return &s, nil
}

func isTime(ms int64) bool { return ms > 0 && ms <= maxTimeMs }

func isID(s string) bool {
	return (len(s) == 32 || len(s) == 36) && strings.Trim(s, "0123456789abcdefABCDEF-") == ""
}

// Encode gives the bytes of the file, the same for the same contents.
func (s *LiveState) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return nil, err
	}
	if data = append(data, '\n'); len(data) > MaxLiveStateBytes {
		return nil, invalidf("more than %d bytes: %d ids", MaxLiveStateBytes, len(s.Seen))
	}
	return data, nil
}

// Forget drops what no list named for so long that it is not [Remembered].
func (s *LiveState) Forget(nowMs int64) {
	limit := nowMs - Remembered.Milliseconds()
	maps.DeleteFunc(s.Seen, func(_ string, ms int64) bool { return ms < limit })
	maps.DeleteFunc(s.Sources, func(_ string, c LiveCounts) bool { return c.ReadMs < limit })
}

// Note adds what a source names. What a later reading noted stays as it is.
func (s *LiveState) Note(file string, ids []string, clusters int, nowMs int64) {
	if s.Sources[file].ReadMs <= nowMs {
		s.Sources[file] = LiveCounts{int64(len(ids)), int64(clusters), nowMs}
	}
	for _, id := range ids {
		s.Seen[id] = max(s.Seen[id], nowMs)
	}
}

// Merge adds what another state has: the later of two times, and its counts.
func (s *LiveState) Merge(o *LiveState) {
	for file, c := range o.Sources {
		if s.Sources[file].ReadMs < c.ReadMs {
			s.Sources[file] = c
		}
	}
	for id, ms := range o.Seen {
		s.Seen[id] = max(s.Seen[id], ms)
	}
}

// SeenSince gives the ids, sorted, that a list named at that time or later, without
// those that live now.
func (s *LiveState) SeenSince(ms int64, live map[string]bool) []string {
	var out []string
	for id, last := range s.Seen {
		if last >= ms && !live[id] {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}
