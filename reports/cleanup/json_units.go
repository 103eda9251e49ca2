package cleanup

import (
	"bytes"

	"fsweep/proto/planfile"
)

// jsonRoot has all of a root but its jobs.
type jsonRoot struct {
	jsonPath
	InodeID          uint64          `json:"inode_id,omitempty"`
	Layout           planfile.Layout `json:"layout"`
	Mode             planfile.Mode   `json:"mode"`
	Inodes           int64           `json:"inodes"`
	Stopped          []jsonReason    `json:"stopped"`
	ExcludedNotFound []string        `json:"excluded_not_found"`
	SelectedNotFound []string        `json:"selected_not_found"`
	Misfits          []jsonMisfit    `json:"misfits"`
	NumMisfits       int64           `json:"misfit_count"`
}

func rootValue(r *Root) jsonRoot {
	return jsonRoot{
		pathValue(r.Path), r.InodeID, r.Layout, r.Mode, r.Inodes, reasonsValue(stops(r)),
		emptyList(r.ExcludedNotFound), emptyList(r.SelectedNotFound), misfitsValue(r.Misfits), r.NumMisfits,
	}
}

func (s *stream) root(r *Root, sum *summary) {
	s.members(rootValue(r))
	s.array("jobs", func() {
		for j := range r.Jobs {
			sum.job(j)
			s.object(func() { s.job(r, j, sum) })
		}
	})
}

func emptyList[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

type jsonMisfit struct {
	jsonPath
	InodeID uint64 `json:"inode_id,omitempty"`
	Reason  string `json:"reason"`
	Detail  string `json:"detail,omitempty"`
}

func misfitsValue(list []Misfit) []jsonMisfit {
	out := make([]jsonMisfit, len(list))
	for i, m := range list {
		out[i] = jsonMisfit{pathValue(m.Path), m.InodeID, m.Reason, m.Detail}
	}
	return out
}

// jsonJob has all of a job but its units.
type jsonJob struct {
	Name       string       `json:"name,omitempty"`
	NameB64    string       `json:"name_b64,omitempty"`
	Path       string       `json:"path,omitempty"`
	PathB64    string       `json:"path_b64,omitempty"`
	InodeID    uint64       `json:"inode_id,omitempty"`
	Mapped     bool         `json:"mapped,omitempty"`
	Excluded   bool         `json:"excluded,omitempty"`
	Stopped    []jsonReason `json:"stopped"`
	Unknown    []jsonMisfit `json:"unknown_entries"`
	NumUnknown int64        `json:"unknown_entry_count"`
	Totals     *Totals      `json:"totals,omitempty"`
}

func jobValue(j *Job) jsonJob {
	v := jsonJob{InodeID: j.InodeID, Mapped: j.Mapped, Excluded: j.Excluded, Stopped: reasonsValue(j.Stopped), Unknown: misfitsValue(j.Unknown), NumUnknown: j.NumUnknown}
	v.Name, v.NameB64 = nameValue(j.Name)
	v.Path, v.PathB64 = nameValue(j.Path)
	if j.Totals.INodes() > 0 {
		v.Totals = &j.Totals
	}
	return v
}

func (s *stream) job(r *Root, j *Job, sum *summary) {
	s.members(jobValue(j))
	s.array("units", func() {
		for u := range j.Units {
			sum.unit(&r.Root, u)
			u.detail()
			s.unit(u)
		}
	})
}

type jsonUnit struct {
	Kind string `json:"kind"`
	jsonPath
	InodeID uint64       `json:"inode_id"`
	Verdict string       `json:"verdict"`
	Reasons []jsonReason `json:"reasons"`
	Times   jsonTimes    `json:"times"`
	Totals  Totals       `json:"totals"`
	Items   []jsonItem   `json:"items"`
	Sweeps  []jsonSweep  `json:"swept,omitempty"`
	Parts   []jsonPart   `json:"contents,omitempty"`
}

type jsonTimes struct {
	SubtreeMs   int64  `json:"subtree_mtime_ms"`
	SubtreeOf   string `json:"subtree_mtime_of,omitempty"`
	MetadataMs  *int64 `json:"metadata_mtime_ms,omitempty"`
	DataATimeMs int64  `json:"data_atime_ms,omitempty"`
}

type jsonPart struct {
	Name     string `json:"name"`
	InodeID  uint64 `json:"inode_id"`
	MTimeMs  int64  `json:"newest_mtime_ms"`
	Complete string `json:"complete,omitempty"`
	Totals   Totals `json:"totals"`
}

type jsonSweep struct {
	jsonPath
	InodeID  uint64         `json:"inode_id"`
	Rule     string         `json:"rule"`
	Planned  Files          `json:"planned"`
	Deferred Files          `json:"deferred"`
	Kept     Files          `json:"kept"`
	Freed    planfile.Freed `json:"freed"`
}

func unitValue(u *Unit) jsonUnit {
	v := jsonUnit{
		Kind: u.Kind, jsonPath: pathValue(u.Path), InodeID: u.InodeID, Verdict: u.Verdict, Reasons: reasonsValue(u.Reasons),
		Times:  jsonTimes{SubtreeMs: u.Times.SubtreeMs, SubtreeOf: u.Times.SubtreeOf, DataATimeMs: u.Times.DataATimeMs},
		Totals: u.Totals, Items: make([]jsonItem, len(u.Items)),
	}
	if u.Times.HasMetadata {
		v.Times.MetadataMs = &u.Times.MetadataMs
	}
	for i, item := range u.Items {
		v.Items[i] = itemValue(item)
	}
	v.Sweeps = sweepsValue(u.Sweeps)
	for i := range u.Parts {
		v.Parts = append(v.Parts, partValue(&u.Parts[i]))
	}
	return v
}

// unit writes a unit, of which there can be more items and parts than memory.
func (s *stream) unit(u *Unit) {
	if u.MoreItems == nil && u.MoreParts == nil {
		s.element(unitValue(u))
		return
	}
	s.next()
	s.large(u)
}

// large writes the value of a unit piece by piece.
func (s *stream) large(u *Unit) {
	parts, head := u.Parts, *u
	head.Items, head.Parts, head.Sweeps = nil, nil, nil
	s.encode(unitValue(&head))
	_, _ = s.w.Write(bytes.TrimSuffix(s.buf.Bytes(), []byte("]}\n"))) // items are its last member
	s.list(func(put func(any)) {
		for i := range u.each {
			put(itemValue(i))
		}
	})
	if sweeps := sweepsValue(u.Sweeps); len(sweeps) > 0 {
		s.text(`,"swept":`)
		s.value(sweeps)
	}
	if u.MoreParts != nil || len(parts) > 0 {
		s.text(`,"contents":[`)
		s.list(func(put func(any)) {
			if u.MoreParts != nil {
				for c := range u.MoreParts {
					put(partValue(c))
				}
			}
			for i := range parts {
				put(partValue(&parts[i]))
			}
		})
	}
	s.text("}")
}

// list writes the elements of an array that was begun, on one line, and ends it.
func (s *stream) list(body func(put func(any))) {
	first := true
	body(func(v any) {
		if !first {
			s.text(",")
		}
		first = false
		s.value(v)
	})
	s.text("]")
}

func partValue(c *Part) jsonPart { return jsonPart(*c) }

func sweepsValue(list []Sweep) (out []jsonSweep) {
	for i := range list {
		w := &list[i]
		out = append(out, jsonSweep{pathValue(w.Path), w.InodeID, w.Rule, w.Planned, w.Deferred, w.Kept, w.Freed})
	}
	return out
}

type jsonItem struct {
	Kind planfile.Kind `json:"kind"`
	jsonPath
	InodeID     uint64          `json:"inode_id"`
	SplitOf     uint64          `json:"split_of,omitempty"`
	Inodes      int64           `json:"inodes"`
	Totals      planfile.Totals `json:"totals"`
	Reason      jsonReason      `json:"reason"`
	Proof       bool            `json:"needs_reference_proof"`
	Conditional bool            `json:"conditional"`
	Deferred    []jsonReason    `json:"deferred"`
	Freed       *planfile.Freed `json:"freed,omitempty"`
}

func itemValue(i *Item) jsonItem {
	v := jsonItem{
		Kind: i.Kind, jsonPath: pathValue(i.Path), InodeID: i.InodeID, SplitOf: i.SplitOf, Inodes: i.Entries, Totals: i.Totals,
		Reason: reasonValue(Reason{Rule: i.Rule, Facts: i.Evidence}), Proof: i.NeedsReferenceProof, Conditional: i.Conditional,
		Deferred: reasonsValue(i.Deferrals),
	}
	if !i.Unweighed {
		v.Freed = &i.Freed
	}
	if len(i.Deferrals) == 0 && i.Deferred != "" {
		v.Deferred = append(v.Deferred, reasonValue(Reason{Rule: i.Deferred}))
	}
	return v
}
