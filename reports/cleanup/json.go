package cleanup

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"unicode/utf8"

	"fsweep/proto/planfile"
)

// JSON writes a plan as one JSON object: plan-report.schema.json. It goes through
// p.Roots once and keeps nothing of them but sums.
func JSON(w io.Writer, p *Plan) error {
	s := newStream(w)
	sum := newSummary()
	s.head(p)
	s.array("roots", func() {
		for r := range p.Roots {
			sum.root(r)
			s.object(func() { s.root(r, sum) })
		}
	})
	quotas := make([]jsonQuota, len(p.Quotas))
	for i := range p.Quotas {
		quotas[i] = quotaValue(&p.Quotas[i])
	}
	s.member("quotas", quotas)
	s.member("summary", summaryValue(p, sum))
	return s.close()
}

// stream writes a JSON object piece by piece. The first error stays.
type stream struct {
	w     *bufio.Writer
	err   error
	first bool // nothing in the current object or array yet
	buf   bytes.Buffer
}

func newStream(w io.Writer) *stream {
	s := &stream{w: bufio.NewWriter(w), first: true}
	s.text("{")
	return s
}

func (s *stream) close() error {
	s.text("\n}\n")
	if s.err != nil {
		return s.err
	}
	return s.w.Flush()
}

func (s *stream) text(t string) { _, _ = s.w.WriteString(t) } // bufio keeps the error for Flush

func (s *stream) next() {
	if !s.first {
		s.text(",")
	}
	s.text("\n")
	s.first = false
}

// encode leaves a value, which fits into memory, in s.buf with a newline behind it.
func (s *stream) encode(v any) {
	s.buf.Reset()
	e := json.NewEncoder(&s.buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil && s.err == nil {
		s.err = err
	}
}

func (s *stream) value(v any) {
	s.encode(v)
	_, _ = s.w.Write(bytes.TrimSuffix(s.buf.Bytes(), []byte{'\n'}))
}

func (s *stream) member(key string, v any) {
	s.next()
	s.value(key)
	s.text(":")
	s.value(v)
}

// members writes those of an object into the current one.
func (s *stream) members(v any) {
	s.next()
	s.encode(v)
	_, _ = s.w.Write(bytes.TrimSuffix(bytes.TrimPrefix(s.buf.Bytes(), []byte{'{'}), []byte("}\n")))
}

func (s *stream) element(v any) {
	s.next()
	s.value(v)
}

func (s *stream) array(key string, body func()) {
	s.next()
	s.value(key)
	s.text(":[")
	s.inside(body)
	s.text("]")
}

// object is an element.
func (s *stream) object(body func()) {
	s.next()
	s.text("{")
	s.inside(body)
	s.text("}")
}

func (s *stream) inside(body func()) {
	s.first = true
	body()
	s.first = false
}

// jsonPath is a path as every output of fsweep has it.
type jsonPath struct {
	Path    string `json:"path"`
	PathB64 string `json:"path_b64,omitempty"`
}

func pathValue[T ~string](p T) jsonPath {
	shown, exact := nameValue(p)
	return jsonPath{shown, exact}
}

// nameValue gives a name, and its bytes if JSON cannot hold them.
func nameValue[T ~string](name T) (shown, exact string) {
	if utf8.ValidString(string(name)) {
		return string(name), ""
	}
	return escape(name), base64.StdEncoding.EncodeToString([]byte(name))
}

// jsonReason is a rule, its facts by name, and the sentence.
type jsonReason struct {
	Rule  string         `json:"rule"`
	Facts map[string]any `json:"facts,omitempty"`
	Text  string         `json:"text"`
}

func reasonValue(r Reason) jsonReason {
	return jsonReason{r.Rule, factsValue(r.Facts), r.String()}
}

func factsValue(list []planfile.Fact) map[string]any {
	facts := make(map[string]any, len(list))
	for _, f := range list {
		if f.Text != "" {
			facts[f.Name] = f.Text
		} else {
			facts[f.Name] = f.Number
		}
	}
	return facts
}

func reasonsValue(list []Reason) []jsonReason {
	out := make([]jsonReason, len(list))
	for i, r := range list {
		out[i] = reasonValue(r)
	}
	return out
}

func (s *stream) head(p *Plan) {
	h := &p.Header
	s.member("tool", h.Tool)
	s.member("version", h.Version)
	s.member("source", h.Source)
	s.member("policy", h.Policy)
	s.member("nameservice", h.Nameservice)
	s.member("now_ms", h.NowMs)
	s.member("expires_ms", h.ExpiresMs)
	s.member("complete", h.Complete)
	s.member("executable", h.Executable)
	s.member("preflight", h.Preflight)
	s.member("removal", h.Removal)
	if len(h.Quarantine) > 0 {
		s.member("quarantine", placesValue(h.Quarantine))
	}
	s.member("belts", h.Belts)
	s.member("warnings", emptyList(h.Warnings))
}

type jsonPlace struct {
	jsonPath
	InodeID uint64 `json:"inode_id,omitempty"`
}

func placesValue(list []planfile.Place) []jsonPlace {
	out := make([]jsonPlace, len(list))
	for i, p := range list {
		out[i] = jsonPlace{pathValue(p.Path), p.InodeID}
	}
	return out
}

type jsonQuota struct {
	jsonPath
	InodeID     uint64             `json:"inode_id"`
	NSQuota     *int64             `json:"ns_quota,omitempty"`
	NSBefore    int64              `json:"ns_used_before"`
	NSAfter     int64              `json:"ns_used_after"`
	DSQuota     *int64             `json:"ds_quota,omitempty"`
	DSBefore    int64              `json:"ds_used_before"`
	DSAfter     int64              `json:"ds_used_after"`
	TypeQuota   planfile.TypeLimit `json:"type_quota"`
	TypesBefore planfile.TypeSpace `json:"type_used_before"`
	TypesAfter  planfile.TypeSpace `json:"type_used_after"`
}

func quotaValue(q *planfile.Quota) jsonQuota {
	return jsonQuota{pathValue(q.Path), q.InodeID, q.NSQuota, q.NSBefore, q.NSAfter, q.DSQuota, q.DSBefore, q.DSAfter, q.TypeQuota, q.TypesBefore, q.TypesAfter}
}

type jsonSummary struct {
	Roots        int64     `json:"roots"`
	RootsStopped int64     `json:"roots_stopped"`
	RootsObserve int64     `json:"roots_observed"`
	Jobs         int64     `json:"jobs"`
	Kept         int64     `json:"units_kept"`
	Candidates   int64     `json:"units_candidates"`
	KeptBy       []counted `json:"kept_by"`
	PlannedBy    []counted `json:"planned_by"`
	ObservedBy   []counted `json:"observed_by"`
	DeferredBy   []counted `json:"deferred_by"`
	StoppedBy    []counted `json:"stopped_by"`
	Planned      sums      `json:"planned"`
	Observed     sums      `json:"observed"`
	Deferred     sums      `json:"deferred"`
	Proof        int64     `json:"needs_reference_proof"`
	Conditional  int64     `json:"conditional"`
	Guards       int64     `json:"guards"`
	PlanFile     string    `json:"plan_file,omitempty"`
	Digest       string    `json:"digest,omitempty"`
}

func summaryValue(p *Plan, s *summary) jsonSummary {
	v := jsonSummary{
		Roots: s.roots, RootsStopped: s.stopped, RootsObserve: s.observed, Jobs: s.jobs, Kept: s.kept, Candidates: s.candidates,
		KeptBy: byCount(s.keptBy), PlannedBy: byCount(s.plannedBy), ObservedBy: byCount(s.listedBy), DeferredBy: byCount(s.putBy), StoppedBy: byCount(s.stopsBy),
		Planned: s.planned, Observed: s.listed, Deferred: s.put, Proof: s.proof, Conditional: s.conditional, Guards: p.Footer.Guards,
		PlanFile: p.File,
	}
	if p.Digest != (planfile.Digest{}) {
		v.Digest = p.Digest.String()
	}
	return v
}
