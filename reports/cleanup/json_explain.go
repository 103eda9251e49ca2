package cleanup

import (
	"io"

	"fsweep/proto/planfile"
)

// ExplainJSON writes the answers as one JSON object: explain.schema.json.
func ExplainJSON(w io.Writer, e *Explanations) error {
	s := newStream(w)
	s.member("source", e.Source)
	s.member("policy", e.Policy)
	s.member("now_ms", e.NowMs)
	s.member("plan_refused", emptyList(e.Refused))
	s.array("explanations", func() {
		for _, x := range e.Paths {
			s.explanation(x)
		}
	})
	return s.close()
}

// explanation writes one, of which the unit can have more items and parts than memory.
func (s *stream) explanation(x *Explanation) {
	v := explanationValue(x)
	if u := x.Unit; u == nil || u.MoreItems == nil && u.MoreParts == nil {
		s.element(v)
		return
	}
	s.object(func() {
		s.members(v.jsonHolders)
		s.next()
		s.text(`"unit":`)
		s.large(x.Unit)
		s.members(v.jsonAnswer)
	})
}

type jsonExplanation struct {
	jsonHolders
	Unit *jsonUnit `json:"unit,omitempty"`
	jsonAnswer
}

// jsonHolders is what stands before the unit.
type jsonHolders struct {
	jsonPath
	InodeID uint64     `json:"inode_id,omitempty"`
	What    What       `json:"what"`
	Exists  bool       `json:"exists"`
	Roots   []jsonPath `json:"roots_below,omitempty"`
	Root    *jsonRoot  `json:"root,omitempty"`
	Job     *jsonJob   `json:"job,omitempty"`
}

// jsonAnswer is what stands behind it.
type jsonAnswer struct {
	Part *jsonPart `json:"part,omitempty"`
	Item *jsonItem `json:"item,omitempty"`

	Verdict   string       `json:"verdict"`
	Rule      string       `json:"rule,omitempty"`
	Reasons   []jsonReason `json:"reasons"`
	InKept    bool         `json:"in_kept_unit"`
	Own       int          `json:"own_reasons,omitempty"`
	BeltsOpen bool         `json:"belts_open,omitempty"`
	Units     *jsonCounts  `json:"units,omitempty"`
	Changes   []jsonChange `json:"changes"`
	Guard     bool         `json:"is_guard"`
	NumGuards int64        `json:"guard_count"`
	Guards    []jsonGuard  `json:"guards"`
}

type jsonCounts struct {
	Units          int64 `json:"units"`
	Kept           int64 `json:"kept"`
	Moved          int64 `json:"moved"`
	Deferred       int64 `json:"deferred"`
	Debris         int64 `json:"debris"`
	DebrisDeferred int64 `json:"debris_deferred"`
	Swept          int64 `json:"swept_directories"`
}

type jsonChange struct {
	Rule string `json:"rule"`
	Text string `json:"text"`
}

type jsonGuard struct {
	jsonPath
	InodeID uint64             `json:"inode_id"`
	Kind    planfile.GuardKind `json:"kind"`
	Length  int64              `json:"length"`
	MTimeMs int64              `json:"mtime_ms"`
	Waived  string             `json:"waived,omitempty"`
	Near    string             `json:"near"`
}

func explanationValue(x *Explanation) jsonExplanation {
	v := jsonExplanation{
		jsonHolders: jsonHolders{jsonPath: pathValue(x.Path), InodeID: x.InodeID, What: x.What, Exists: x.Exists},
		jsonAnswer:  answerValue(x),
	}
	for _, r := range x.Roots {
		v.Roots = append(v.Roots, pathValue(r))
	}
	if x.Root != nil {
		root := rootValue(x.Root)
		v.Root = &root
	}
	if x.Job != nil {
		j := jobValue(x.Job)
		v.Job = &j
	}
	if x.Unit != nil {
		u := unitValue(x.Unit)
		v.Unit = &u
	}
	return v
}

func answerValue(x *Explanation) jsonAnswer {
	v := jsonAnswer{
		Verdict: x.Verdict, Reasons: reasonsValue(x.Reasons), Changes: []jsonChange{}, InKept: x.OwnReasons > 0, Own: x.OwnReasons, BeltsOpen: x.BeltsOpen,
		Guard: x.Guard, NumGuards: x.NumGuards, Guards: make([]jsonGuard, len(x.Guards)),
	}
	if len(x.Reasons) > 0 {
		v.Rule = x.Reasons[0].Rule
	}
	if x.Part != nil {
		c := partValue(x.Part)
		v.Part = &c
	}
	if n := x.Units; n != nil {
		v.Units = &jsonCounts{n.Units, n.Kept, n.Moved, n.Deferred, n.Debris, n.DebrisDeferred, n.Swept}
	}
	if x.Item != nil {
		i := itemValue(x.Item)
		v.Item = &i
	}
	for _, c := range changeList(x) {
		v.Changes = append(v.Changes, jsonChange{c[0], c[1]})
	}
	for i := range x.Guards {
		g := &x.Guards[i]
		v.Guards[i] = jsonGuard{pathValue(g.Path), g.InodeID, g.Kind, g.Length, g.MTimeMs, g.Waived, g.Near}
	}
	return v
}
