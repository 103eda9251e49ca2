package execution

import (
	"bufio"
	_ "embed" // for the schema
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"fsweep/proto/planfile"
	"fsweep/reports/cleanup"
)

//go:embed execution.schema.json
var schema string

// Schema is the JSON Schema (draft 2020-12) of what a [Report] writes as JSON.
func Schema() string { return schema }

// jsonPath is a path, exact beside its text form if it is not UTF-8.
type jsonPath struct {
	Path    string `json:"path"`
	PathB64 string `json:"path_b64,omitempty"`
}

func pathOf[T ~string](p T) jsonPath {
	if utf8.ValidString(string(p)) {
		return jsonPath{Path: string(p)}
	}
	return jsonPath{cleanup.Escape(p), base64.StdEncoding.EncodeToString([]byte(p))}
}

type jsonHead struct {
	Tool          string    `json:"tool"`
	Version       string    `json:"version"`
	Command       string    `json:"command"`
	Execute       bool      `json:"execute"`
	StartMs       int64     `json:"start_ms"`
	Configuration string    `json:"configuration"`
	Nameservice   string    `json:"nameservice"`
	NameNode      string    `json:"namenode,omitempty"`
	User          string    `json:"user"`
	Plan          *jsonPlan `json:"plan,omitempty"`
	Journal       string    `json:"journal,omitempty"`
}

type jsonPlan struct {
	File            string          `json:"file"`
	Digest          planfile.Digest `json:"digest"`
	Policy          string          `json:"policy"`
	PolicyDigest    planfile.Digest `json:"policy_digest"`
	Image           string          `json:"image"`
	ImageTimeMs     int64           `json:"image_time_ms"`
	ImageTimeSource string          `json:"image_time_source"`
	ExpiresMs       int64           `json:"expires_ms"`
}

type jsonProblem struct {
	Code string `json:"code"`
	*jsonPath
	Message string          `json:"message"`
	Facts   []planfile.Fact `json:"facts,omitempty"`
}

type jsonItem struct {
	Outcome Outcome `json:"outcome"`
	jsonPath
	InodeID   uint64          `json:"inode_id,omitempty"`
	Inodes    int64           `json:"inodes"`
	Files     int64           `json:"files"`
	Length    int64           `json:"length"`
	Space     int64           `json:"space_consumed"`
	MTimeMs   int64           `json:"mtime_ms"`
	PlanRule  string          `json:"plan_rule,omitempty"`
	Rule      string          `json:"rule,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Facts     []planfile.Fact `json:"facts,omitempty"`
	Guard     string          `json:"guard,omitempty"`
	Target    string          `json:"target,omitempty"`
	TargetB64 string          `json:"target_b64,omitempty"`
	Message   string          `json:"message,omitempty"`
	AtMs      int64           `json:"at_ms,omitempty"`
}

type jsonRoot struct {
	jsonPath
	StartMs int64 `json:"start_ms"`
	EndMs   int64 `json:"end_ms"`
}

type jsonRule struct {
	Rule string `json:"rule"`
	count
}

type jsonQuota struct {
	jsonPath
	InodeID uint64 `json:"inode_id"`
	Inodes  int64  `json:"inodes"`
	Space   int64  `json:"space_consumed"`
}

type jsonSummary struct {
	Planned       count          `json:"planned"`
	WouldMove     count          `json:"would_move"`
	Done          count          `json:"done"`
	Restored      count          `json:"restored"`
	Skipped       count          `json:"skipped"`
	Failed        count          `json:"failed"`
	Unknown       count          `json:"unknown"`
	SkippedBy     []jsonRule     `json:"skipped_by"`
	Freed         planfile.Freed `json:"freed"`
	TrashInterval int64          `json:"trash_interval_ms,omitempty"`
	EmptiedFromMs int64          `json:"emptied_from_ms,omitempty"`
	EmptiedToMs   int64          `json:"emptied_to_ms,omitempty"`
	Quotas        []jsonQuota    `json:"quotas"`
}

// object writes one JSON object piece by piece: items are not kept.
type object struct {
	w     *bufio.Writer
	err   error
	lists []string // names of what was begun
	n     int      // elements of the list at work
	notes []string
	roots []*root
	head  *Head
}

func newJSON(w io.Writer) *object { return &object{w: bufio.NewWriter(w)} }

func (o *object) raw(s string) {
	_, _ = o.w.WriteString(s) // the writer keeps the error for flush
}

func (o *object) value(v any) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil && o.err == nil {
		o.err = err
	}
	o.raw(strings.TrimSuffix(b.String(), "\n"))
}

// list goes to a list; lists come in a fixed order, and none is left out.
func (o *object) list(name string) {
	if len(o.lists) > 0 && o.lists[len(o.lists)-1] == name {
		return
	}
	if len(o.lists) > 0 {
		o.raw("\n ]")
	}
	o.raw(",\n \"" + name + "\": [")
	o.lists, o.n = append(o.lists, name), 0
}

func (o *object) element(v any) {
	if o.n++; o.n > 1 {
		o.raw(",")
	}
	o.raw("\n  ")
	o.value(v)
}

func (o *object) begin(h *Head) {
	o.head = h
	j := jsonHead{
		Tool: h.Tool, Version: h.Version, Command: h.Command, Execute: h.Execute, StartMs: h.StartMs,
		Configuration: h.Conf, Nameservice: h.URI, NameNode: h.NameNode, User: h.User, Journal: h.Journal,
	}
	if h.PlanFile != "" {
		s := &h.Header.Source
		j.Plan = &jsonPlan{
			File: h.PlanFile, Digest: h.Digest, Policy: h.Header.Policy.Name, PolicyDigest: h.Header.Policy.Digest,
			Image: s.Image, ImageTimeMs: s.ImageTimeMs, ImageTimeSource: s.ImageTimeSource, ExpiresMs: h.Header.ExpiresMs,
		}
	}
	o.raw("{\n \"head\": ")
	o.value(j)
	o.list("problems")
}

func (o *object) problem(p *Problem) {
	j := jsonProblem{Code: p.Code, Message: p.sentence(), Facts: p.Facts}
	if p.Path != "" {
		path := pathOf(p.Path)
		j.jsonPath = &path
	}
	o.list("problems")
	o.element(j)
}

func (o *object) rootBegins(*root) {}
func (o *object) rootEnds(r *root) { o.roots = append(o.roots, r) }
func (o *object) note(s string)    { o.notes = append(o.notes, s) }
func (o *object) flush() error {
	if err := o.w.Flush(); err != nil {
		return err
	}
	return o.err
}

func (o *object) item(i *Item) {
	target := pathOf(i.Target)
	j := jsonItem{
		Outcome: i.Outcome, jsonPath: pathOf(i.Path), Rule: i.Rule, Facts: i.Facts, Guard: cleanup.Escape(i.Guard),
		Target: target.Path, TargetB64: target.PathB64, Message: cleanup.Printable(i.Message), AtMs: i.AtMs,
	}
	if i.Outcome == Kept {
		j.Reason = why(i)
	}
	if p := i.Item; p != nil {
		j.InodeID, j.Inodes, j.Files, j.Length, j.Space, j.MTimeMs = p.InodeID, p.Entries, p.Totals.Files, p.Totals.Length, p.Totals.Space, p.MTimeMs
		j.PlanRule = p.Rule
	}
	o.list("items")
	o.element(j)
}

func (o *object) end(e *End, s *sums) {
	o.list("items")
	o.list("roots")
	for _, r := range o.roots {
		o.element(jsonRoot{pathOf(r.path), r.start, r.end})
	}
	o.list("notes")
	for _, n := range o.notes {
		o.element(n)
	}
	o.raw("\n ],\n \"summary\": ")
	o.value(o.summary(e, s))
	o.raw(",\n \"end\": ")
	o.value(struct {
		EndMs    int64  `json:"end_ms"`
		ExitCode int    `json:"exit_code"`
		Stopped  string `json:"stopped,omitempty"`
		Last     string `json:"last_hash,omitempty"`
		Result   string `json:"result"`
	}{e.AtMs, e.ExitCode, e.Stopped, e.Last, verdict(o.head, e, s)})
	o.raw("\n}\n")
}

func (o *object) summary(e *End, s *sums) jsonSummary {
	of := func(x Outcome) count {
		if c := s.outcomes[x]; c != nil {
			return *c
		}
		return count{}
	}
	j := jsonSummary{
		Planned: s.planned, WouldMove: of(WouldMove), Done: of(Moved), Restored: of(Restored), Skipped: of(Kept), Failed: of(Failed),
		Unknown: of(Unknown), SkippedBy: []jsonRule{}, Freed: s.freed, Quotas: []jsonQuota{},
	}
	for _, rule := range s.rules() {
		j.SkippedBy = append(j.SkippedBy, jsonRule{rule, *s.byRule[rule]})
	}
	if e.TrashIntervalMs > 0 {
		j.TrashInterval = e.TrashIntervalMs
		j.EmptiedFromMs, j.EmptiedToMs = e.AtMs+e.TrashIntervalMs, e.AtMs+2*e.TrashIntervalMs
	}
	path := map[uint64]planfile.Path{}
	for i := range e.Quotas {
		path[e.Quotas[i].InodeID] = e.Quotas[i].Path
	}
	for _, id := range slices.Sorted(maps.Keys(s.quotas)) {
		j.Quotas = append(j.Quotas, jsonQuota{pathOf(path[id]), id, s.quotas[id].Inodes, s.quotas[id].Space})
	}
	return j
}
