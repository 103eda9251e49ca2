package probe

import (
	_ "embed" // for the schema
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"fsweep/execute"
	live "fsweep/execute/probe"
)

//go:embed probe.schema.json
var schema string

// Schema is the JSON Schema (draft 2020-12) of what [JSON] writes.
func Schema() string { return schema }

// JSON writes a probe as one JSON object: probe.schema.json. What is not known is
// left out. An error is the writer's.
func JSON(w io.Writer, s *Source) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(document(s))
}

type jsonProbe struct {
	Tool           string         `json:"tool"`
	Version        string         `json:"version"`
	NowMs          int64          `json:"now_ms"`
	Configuration  string         `json:"configuration"`
	Nameservice    string         `json:"nameservice"`
	Policy         string         `json:"policy,omitempty"`
	Plan           string         `json:"plan,omitempty"`
	User           string         `json:"user"`
	Authentication string         `json:"authentication"`
	Groups         *[]string      `json:"groups,omitempty"`
	ClusterID      string         `json:"cluster_id,omitempty"`
	NamespaceID    int64          `json:"namespace_id,omitempty"`
	NameNodes      []jsonNameNode `json:"namenodes"`
	SafeMode       *bool          `json:"safe_mode,omitempty"`
	Trash          jsonTrash      `json:"trash"`
	Places         []jsonPlace    `json:"places"`
	LockedBy       *[]string      `json:"locked_by,omitempty"`
	Roots          []jsonRoot     `json:"roots"`
	Findings       []jsonFinding  `json:"findings"`
	Complete       bool           `json:"complete"`
	Outcome        string         `json:"outcome"`
}

type jsonNameNode struct {
	ID                string `json:"id,omitempty"`
	Address           string `json:"address"`
	State             string `json:"state,omitempty"`
	Version           string `json:"version,omitempty"`
	ClockDifferenceMs *int64 `json:"clock_difference_ms,omitempty"`
	Reason            string `json:"reason,omitempty"`
}

type jsonTrash struct {
	IntervalMs    *int64          `json:"interval_ms,omitempty"`
	MinIntervalMs int64           `json:"min_interval_ms,omitempty"`
	Snapshot      *bool           `json:"snapshot_trash,omitempty"`
	Roots         []jsonTrashRoot `json:"roots"`
}

type jsonTrashRoot struct {
	jsonPath
	Of     string  `json:"of"`
	Exists *bool   `json:"exists,omitempty"`
	Usable *bool   `json:"usable,omitempty"`
	Zone   *string `json:"encryption_zone,omitempty"`
}

type jsonPlace struct {
	Purpose string `json:"purpose"`
	jsonPath
	Exists *bool `json:"exists,omitempty"`
	Usable *bool `json:"usable,omitempty"`
	jsonStatus
	PlanInodeID uint64 `json:"plan_inode_id,omitempty"`
	Reason      string `json:"reason,omitempty"`
}

type jsonStatus struct {
	InodeID    uint64 `json:"inode_id,omitempty"`
	Owner      string `json:"owner,omitempty"`
	Group      string `json:"group,omitempty"`
	Permission string `json:"permission,omitempty"`
	ACL        bool   `json:"acl,omitempty"`
}

type jsonRoot struct {
	jsonPath
	Layout string `json:"layout"`
	Mode   string `json:"mode"`
	Exists *bool  `json:"exists,omitempty"`
	jsonStatus
	PlanInodeID   uint64   `json:"plan_inode_id,omitempty"`
	Entries       *int64   `json:"entries,omitempty"`
	Snapshottable []string `json:"snapshottable,omitempty"`
	Zone          *string  `json:"encryption_zone,omitempty"`
	Trash         string   `json:"trash,omitempty"`

	Directories  int64 `json:"directories_asked"`
	Movable      int64 `json:"directories_movable"`
	NotKnown     int64 `json:"directories_not_known"`
	NotAllLooked bool  `json:"more_directories"`
}

type jsonFinding struct {
	Code  string `json:"code"`
	Level string `json:"level"`
	*jsonPath
	Root    string `json:"root,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// jsonPath shows a path: verbatim where it is UTF-8, else escaped, with the bytes
// beside it.
type jsonPath struct {
	Path string `json:"path"`
	B64  string `json:"path_b64,omitempty"`
}

func pathValue(p string) jsonPath {
	if utf8.ValidString(p) {
		return jsonPath{Path: p}
	}
	return jsonPath{Path: escape(p), B64: base64.StdEncoding.EncodeToString([]byte(p))}
}

// text makes text of an answer's bytes valid UTF-8.
func text(s string) string { return strings.ToValidUTF8(s, "�") }

func texts(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = pathValue(s).Path
	}
	return out
}

func boolean(a live.Answer) *bool {
	yes := a == live.Yes
	if a == live.Unknown {
		return nil
	}
	return &yes
}

func document(s *Source) *jsonProbe {
	r := s.Report
	out := &jsonProbe{
		Tool: s.Tool, Version: s.Version, NowMs: r.Now.UnixMilli(), Configuration: text(s.Conf), Nameservice: text(s.URI),
		Policy: text(s.Policy), Plan: text(s.Plan), User: text(r.User), Authentication: s.Authentication, ClusterID: text(r.ClusterID),
		NamespaceID: r.NamespaceID, SafeMode: boolean(r.SafeMode), Trash: trashValue(&r.Trash), Complete: !r.Cut,
		NameNodes: []jsonNameNode{}, Places: []jsonPlace{}, Roots: []jsonRoot{}, Findings: []jsonFinding{}, Outcome: outcome(r),
	}
	if r.Groups != nil {
		groups := texts(r.Groups)
		out.Groups = &groups
	}
	if r.Lock != nil {
		holders := texts(r.Lock)
		out.LockedBy = &holders
	}
	for i := range r.NameNodes {
		out.NameNodes = append(out.NameNodes, nameNodeValue(&r.NameNodes[i]))
	}
	for i := range r.Places {
		p := &r.Places[i]
		out.Places = append(out.Places, jsonPlace{
			Purpose: string(p.Purpose), jsonPath: pathValue(p.Path), Exists: boolean(p.Exists), Usable: boolean(p.Usable),
			jsonStatus: statusValue(p.Status), PlanInodeID: p.WantID, Reason: text(p.Reason),
		})
	}
	for i := range r.Roots {
		out.Roots = append(out.Roots, rootValue(&r.Roots[i]))
	}
	for i := range r.Findings {
		out.Findings = append(out.Findings, findingValue(&r.Findings[i]))
	}
	return out
}

func outcome(r *live.Report) string {
	switch r.Outcome() {
	case live.Works:
		return "works"
	case live.Incomplete:
		return "incomplete"
	case live.Refused:
		return "refused"
	case live.Failed:
	}
	return "failed"
}

func nameNodeValue(n *execute.NameNodeState) jsonNameNode {
	out := jsonNameNode{ID: text(n.ID), Address: text(n.Address), Version: text(n.Version)}
	if n.Role != execute.UnknownRole {
		out.State = n.Role.String()
	}
	if n.Ahead != nil {
		ms := n.Ahead.Milliseconds()
		out.ClockDifferenceMs = &ms
	}
	if n.Err != nil {
		out.Reason = text(n.Err.Error())
	}
	return out
}

func trashValue(t *live.Trash) jsonTrash {
	out := jsonTrash{MinIntervalMs: t.MinInterval.Milliseconds(), Roots: []jsonTrashRoot{}}
	if t.Known {
		ms := t.Interval.Milliseconds()
		out.IntervalMs, out.Snapshot = &ms, &t.Snapshot
	}
	for _, tr := range t.Roots {
		out.Roots = append(out.Roots, jsonTrashRoot{
			jsonPath: pathValue(tr.Path), Of: kindWord(tr.Kind), Exists: boolean(tr.Place.Exists), Usable: boolean(tr.Place.Usable),
			Zone: zoneValue(tr.Zone, tr.ZoneKnown),
		})
	}
	return out
}

func kindWord(k execute.TrashKind) string {
	switch k {
	case execute.ZoneTrash:
		return "encryption_zone"
	case execute.SnapshotTrash:
		return "snapshottable_directory"
	case execute.HomeTrash:
	}
	return "home"
}

// zoneValue is "" where there is no zone, and nothing where that is not known.
func zoneValue(z string, known bool) *string {
	if !known {
		return nil
	}
	z = pathValue(z).Path
	return &z
}

func statusValue(st *execute.Status) jsonStatus {
	if st == nil {
		return jsonStatus{}
	}
	return jsonStatus{InodeID: st.ID, Owner: text(st.Owner), Group: text(st.Group), Permission: fmt.Sprintf("%04o", st.Permission), ACL: st.ACL}
}

func rootValue(r *live.Root) jsonRoot {
	out := jsonRoot{
		jsonPath: pathValue(r.Path), Layout: r.Layout, Mode: mode(r.Execute), Exists: boolean(r.Exists), jsonStatus: statusValue(r.Status),
		PlanInodeID: r.WantID, Snapshottable: texts(r.Snapshottable), Zone: zoneValue(r.Zone, r.ZoneKnown),
		Directories: r.Parents, Movable: r.Movable, NotKnown: r.Unknown, NotAllLooked: r.More,
	}
	if r.Status != nil {
		out.Entries = &r.Status.Children
	}
	if r.TrashRoot != nil {
		out.Trash = pathValue(r.TrashRoot.Path).Path
	}
	return out
}

func findingValue(f *live.Finding) jsonFinding {
	out := jsonFinding{Code: string(f.Code), Level: "error", Root: pathValue(f.Root).Path, Message: text(f.Message), Hint: Advice(f.Code)}
	if f.Level == live.Warning {
		out.Level = "warning"
	}
	if f.Path != "" {
		p := pathValue(f.Path)
		out.jsonPath = &p
	}
	return out
}
