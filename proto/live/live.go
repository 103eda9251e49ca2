package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"fsweep/proto/policy"
)

// Set is what a source says exists, in any state: a suspended job exists, and
// so does one that failed. Slices are sorted and have no entry twice.
type Set struct {
	Name     string        // of the file
	Format   policy.Format //
	IDs      []string      // of jobs: 32 hex digits, or a uuid
	Paths    []policy.Path // of savepoints and checkpoints that something may start from
	Clusters []string      // cluster ids of high availability
	// HAConfigMaps is how many ConfigMaps with the label of Flink's high availability the
	// source has. Others do not count: kube-root-ca.crt is in every namespace. Zero means
	// that nobody asked for them or could see them, so clusters are not known.
	HAConfigMaps int
	// Elsewhere is how many paths are on another storage or cluster.
	Elsewhere int
	ModTime   time.Time // of the file
	ReadAt    time.Time
}

// Options say how a live source is read.
type Options struct {
	Now time.Time
	// Nameservice of this cluster. Paths with another authority count as paths of
	// this cluster too, which can only keep more, unless it is one of Foreign.
	Nameservice policy.Nameservice
	Foreign     []policy.Authority
}

// Limits of what a live source may make this package hold in memory.
const (
	maxItemBytes = 16 << 20 // one resource of Kubernetes, one answer of Flink
	maxLive      = 10_000_000
)

// Read reads a live source of a policy. The text is taken piece by piece, so
// its size does not matter. Nothing of it is returned with an error, which is a
// [*ListError]: the source is empty, older than the policy allows, from the future,
// or not understood; then nobody knows what lives.
func Read(in Input, source policy.LiveSource, o Options) (*Set, error) {
	if err := in.fresh(o.Now, source.MaxAge); err != nil {
		return nil, err
	}
	l := liveReader{o: o, ids: map[string]bool{}, paths: map[policy.Path]bool{}, clusters: map[string]bool{}}
	var err error
	switch source.Format {
	case policy.Lines:
		err = in.Each(l.line)
	case policy.Kubernetes:
		err = l.json(in, l.kubernetes)
	case policy.FlinkREST:
		err = l.json(in, l.rest)
	default:
		err = in.fail(0, listErrorf("the format %q is unknown", source.Format))
	}
	if err == nil && len(l.ids)+len(l.paths)+len(l.clusters) == 0 {
		err = in.fail(0, fmt.Errorf("%w: it names no job, savepoint or cluster", ErrEmpty))
	}
	if err != nil {
		return nil, err
	}
	return &Set{
		Name: in.Name, Format: source.Format, ModTime: in.ModTime, ReadAt: o.Now,
		IDs: slices.Sorted(maps.Keys(l.ids)), Paths: slices.Sorted(maps.Keys(l.paths)),
		Clusters: slices.Sorted(maps.Keys(l.clusters)), HAConfigMaps: l.configMaps, Elsewhere: l.elsewhere,
	}, nil
}

// liveReader collects what a source names.
type liveReader struct {
	o          Options
	ids        map[string]bool
	paths      map[policy.Path]bool
	clusters   map[string]bool
	configMaps int
	elsewhere  int
}

// line takes an id or a path.
func (l *liveReader) line(b []byte) error {
	s := string(b)
	if strings.ContainsAny(s, "/:") {
		return l.path(s)
	}
	return l.id(s)
}

// id takes the id of a job; an empty one is a job that has none yet.
func (l *liveReader) id(s string) error {
	if s == "" {
		return nil
	}
	if !isHex(s, 32) && !isUUID(s) {
		return listErrorf("%q is no job id of 32 lower-case hex digits, and no uuid", s)
	}
	l.ids[s] = true
	return l.bounded()
}

func isUUID(s string) bool {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return false
	}
	return isHex(strings.ReplaceAll(s, "-", ""), 32)
}

func (l *liveReader) cluster(s string) error {
	if s != "" {
		l.clusters[s] = true
	}
	return l.bounded()
}

// bounded ends a source that names more than any site has.
func (l *liveReader) bounded() error {
	if len(l.ids)+len(l.paths)+len(l.clusters) > maxLive {
		return listErrorf("more than %d jobs, paths and clusters", maxLive)
	}
	return nil
}

// path takes a path that something may start from. Programs wrote it, so a wildcard
// in it is a character like others.
func (l *liveReader) path(s string) error {
	if s == "" {
		return nil
	}
	scheme, rest, isURI := strings.Cut(s, "://")
	if isURI {
		authority, tail, _ := strings.Cut(rest, "/")
		// Hadoop does not know HDFS://, but whoever writes it means this cluster.
		ours := slices.Contains([]string{"hdfs", "webhdfs", "swebhdfs", "viewfs"}, strings.ToLower(scheme))
		if !ours || slices.Contains(l.o.Foreign, policy.Authority(authority)) {
			l.elsewhere++
			return nil
		}
		s = "/" + tail
	}
	clean, err := policy.CleanPath(s, l.o.Nameservice, false)
	if err != nil {
		return listErrorf("%w", err)
	}
	l.paths[policy.Path(clean)] = true
	return l.bounded()
}

// json runs a reader of JSON and gives its errors their place.
func (l *liveReader) json(in Input, read func(*json.Decoder, *meter) error) error {
	m := &meter{r: withoutMark(in.Reader)}
	d := json.NewDecoder(m)
	err := read(d, m)
	if err == nil {
		return nil
	}
	offset := d.InputOffset()
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = syntax.Offset
	}
	_, isType := errors.AsType[*json.UnmarshalTypeError](err)
	_, isSyntax := errors.AsType[*json.SyntaxError](err)
	switch {
	case offset == 0 && errors.Is(err, io.EOF):
		return in.fail(0, ErrEmpty)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = listErrorf("the file ends in the middle; was it written to its end?")
	case isType, isSyntax:
		err = listErrorf("%w", err)
	}
	return &ListError{in.Name, 0, offset, err}
}

// meter counts the bytes of a reader and ends it when one value takes too many:
// a decoder of JSON holds each value whole.
type meter struct {
	r     io.Reader
	since int64 // since the last value
}

func (m *meter) Read(p []byte) (int, error) {
	if m.since > maxItemBytes {
		return 0, listErrorf("one value of more than %d bytes", maxItemBytes)
	}
	n, err := m.r.Read(p)
	m.since += int64(n)
	return n, err
}

// next decodes the next value.
func (m *meter) next(d *json.Decoder, v any) error {
	m.since = 0
	return d.Decode(v)
}
