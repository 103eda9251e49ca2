package check

import (
	"slices"
	"strings"

	"fsweep/proto/planfile"
)

// liveIndex is what live lists and pins name.
type liveIndex struct {
	ids, digits, clusters map[string]bool
	pins                  []string        // sorted
	pinned                map[string]bool // the same
}

// plainID is an id as it is compared: however somebody wrote it, it is the same.
func plainID(id string) string { return strings.ReplaceAll(strings.ToLower(id), "-", "") }

// readLists reads all lists of the header, and compares what they name with what they
// named when the plan was made. What they name counts even if there is a problem.
func (s *Session) readLists() []Problem {
	var problems []Problem
	s.live = &liveIndex{ids: map[string]bool{}, digits: map[string]bool{}, clusters: map[string]bool{}, pinned: map[string]bool{}}
	read := func(in planfile.Input, pins bool) {
		if s.o.Lists == nil {
			problems = append(problems, Problem{Code: ListNotUsable, Facts: []planfile.Fact{shown("file", in.File), text("error", "nobody gave it")}})
			return
		}
		named, err := s.o.Lists(in, pins)
		if err != nil {
			problems = append(problems, Problem{Code: ListNotUsable, Facts: []planfile.Fact{shown("file", in.File), text("error", err.Error())}})
			return
		}
		s.live.add(named)
		problems = append(problems, shrunk(in, named, pins)...)
	}
	for _, in := range s.header.Live {
		read(in, false)
	}
	for _, in := range s.header.Pins {
		read(in, true)
	}
	slices.Sort(s.live.pins)
	return problems
}

// shrunk refuses a live list that lost a tenth: then more likely somebody asked the wrong
// question than that so much ended. Pins may be taken back by whoever set them.
func shrunk(in planfile.Input, n *Named, pins bool) (problems []Problem) {
	lost := func(what string, before int64, now int) {
		if before > 0 && int64(now)*10 <= before*9 {
			problems = append(problems, Problem{Code: ListShrunk, Facts: append([]planfile.Fact{shown("file", in.File)}, differs(what, before, int64(now))...)})
		}
	}
	if pins {
		return nil
	}
	lost("ids", in.IDs, len(n.IDs))
	lost("clusters", in.Clusters, len(n.Clusters))
	if in.Clusters > 0 && in.Format == "kubernetes" && n.HAConfigMaps == 0 {
		problems = append(problems, Problem{Code: ListShrunk, Facts: []planfile.Fact{shown("file", in.File), number("ha_config_maps", 0)}})
	}
	if len(n.IDs)+len(n.Clusters)+len(n.Paths) == 0 {
		problems = append(problems, Problem{Code: ListShrunk, Facts: []planfile.Fact{shown("file", in.File), text("now", "empty")}})
	}
	return problems
}

func (l *liveIndex) add(n *Named) {
	for _, id := range n.IDs {
		id = plainID(id)
		l.ids[id] = true
		if len(id) >= 6 {
			l.digits[id[:6]] = true
		}
	}
	for _, c := range n.Clusters {
		l.clusters[c] = true
	}
	for _, p := range n.Paths {
		if !l.pinned[p] {
			l.pinned[p] = true
			l.pins = append(l.pins, p)
		}
	}
}

// names tells whether a live list names the run, savepoint or cluster of an item.
func (l *liveIndex) names(layout planfile.Layout, job, run string) bool {
	switch layout {
	case planfile.LayoutJobRun, planfile.LayoutRun:
		return l.ids[plainID(run)]
	case planfile.LayoutHAStorage:
		return l.clusters[run]
	case planfile.LayoutSavepoints:
		// Where nothing groups them, only a savepoint of a run that is dead may go.
		digits, _, _ := strings.Cut(strings.TrimPrefix(run, "savepoint-"), "-")
		return job == "" && l.digits[digits]
	case planfile.LayoutChildren:
	}
	return false
}

// pin gives a pin at, above or below a path.
func (l *liveIndex) pin(p string) (string, bool) {
	for end := len(p); end > 0; end = strings.LastIndexByte(p[:end], '/') {
		if l.pinned[p[:end]] {
			return p[:end], true
		}
	}
	i, _ := slices.BinarySearch(l.pins, p+"/")
	if i < len(l.pins) && strings.HasPrefix(l.pins[i], p+"/") {
		return l.pins[i], true
	}
	return "", false
}
