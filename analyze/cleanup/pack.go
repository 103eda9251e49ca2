package cleanup

import (
	"encoding/binary"

	"fsweep/analyze/flink"
	"fsweep/analyze/internal/extsort"
	"fsweep/analyze/namespace"
)

// Packing of units, so that they can wait on disk for what is decided about others. Of a
// unit that was packed and unpacked is there what lines, items and sums are made from.

// AppendUnit appends a unit with some of its items. contents: with its checkpoints and
// areas. Only an [Unpacker] can read it.
func AppendUnit(b []byte, u *UnitDecision, items []*Item, contents bool) []byte {
	f := u.Unit
	b = append(b, byte(u.Verdict), byte(f.Kind))
	b = extsort.AppendBool(extsort.AppendBool(extsort.AppendBool(b, u.whole), u.NeedsReferenceProof), f.Times.HasMetadata)
	b = extsort.AppendBool(b, u.Many())
	b = extsort.AppendBytes(extsort.AppendBytes(extsort.AppendBytes(b, u.Rule), u.Path), f.Name)
	b = binary.AppendUvarint(binary.AppendUvarint(b, f.INodeID), f.ParentID)
	b = appendTotals(extsort.AppendSigned(b, u.Newer), &f.Totals)
	b = appendTimes(b, &f.Times)
	b = binary.AppendUvarint(extsort.AppendSigned(b, f.NumUnknown), uint64(len(f.Unknown)))
	for i := range f.Unknown {
		m := &f.Unknown[i]
		b = extsort.AppendBytes(extsort.AppendBytes(extsort.AppendBytes(b, m.Reason), m.Path), m.Detail)
		b = binary.AppendUvarint(b, m.INodeID)
	}
	b = AppendFacts(b, u.Keeps)
	b = AppendItems(b, items)
	if !contents {
		return append(b, 0)
	}
	return appendContents(append(b, 1), f)
}

// AppendItems appends items for [Unpacker.More].
func AppendItems(b []byte, items []*Item) []byte {
	b = binary.AppendUvarint(b, uint64(len(items)))
	for _, i := range items {
		b = appendItem(b, i)
	}
	return b
}

func appendTotals(b []byte, t *flink.Totals) []byte {
	return extsort.AppendSigned(b, t.Files, t.Directories, t.Symlinks, t.Length, t.Space)
}

func appendTimes(b []byte, t *flink.Times) []byte {
	b = append(b, byte(t.Newest.Place))
	return extsort.AppendSigned(b, t.Newest.Ms, t.NewestMetadataMs, t.NewestDataATimeMs)
}

// AppendFacts appends facts for [Unpacker.Facts].
func AppendFacts(b []byte, list []Fact) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for i := range list {
		f := &list[i]
		b = append(extsort.AppendBytes(b, f.Rule), byte(f.Place))
		b = extsort.AppendSigned(b, f.TimeMs, f.LimitMs, f.N, f.Limit)
		b = extsort.AppendBytes(extsort.AppendBytes(b, f.Path), f.Text)
	}
	return b
}

func appendItem(b []byte, i *Item) []byte {
	b = extsort.AppendBytes(extsort.AppendBytes(extsort.AppendBytes(b, i.Kind), i.Rule), i.Path)
	for _, id := range [...]uint64{i.INodeID, i.ParentID, i.SplitOf} {
		b = binary.AppendUvarint(b, id)
	}
	b = extsort.AppendSigned(b, i.Inodes, i.Bytes)
	b = extsort.AppendBool(extsort.AppendBool(b, i.NeedsReferenceProof), i.Conditional)
	return AppendFacts(AppendFacts(b, i.Facts), i.Deferred)
}

func appendContents(b []byte, u *flink.Unit) []byte {
	b = flink.AppendStored(b, u.Stored)
	b = binary.AppendUvarint(b, uint64(len(u.Checkpoints)))
	for _, c := range u.Checkpoints {
		b = binary.AppendUvarint(extsort.AppendSigned(b, c.N, c.Times.Newest.Ms), c.INodeID)
		b = extsort.AppendBool(extsort.AppendBool(b, c.Complete()), c.Metadata != nil && c.Metadata.Open)
		b = appendTotals(b, &c.Totals)
	}
	for _, a := range []*flink.Area{&u.Shared, &u.Taskowned, u.Changelog} {
		if a == nil {
			a = &flink.Area{}
		}
		b = appendTotals(binary.AppendUvarint(b, a.INodeID), &a.Totals)
	}
	return b
}

// AppendSweep appends a sweep with what it has of its job and unit, for [ReadSweep].
func AppendSweep(b []byte, s *Sweep) []byte {
	b = extsort.AppendBytes(extsort.AppendBytes(b, s.Path), s.Rule)
	b = extsort.AppendSigned(binary.AppendUvarint(b, s.INodeID), s.BeforeMs)
	b = extsort.AppendBool(extsort.AppendBytes(b, s.Job.Name), s.Job.Mapped)
	b = extsort.AppendBytes(b, s.Job.Job.Name)
	u := s.Unit
	b = extsort.AppendBool(append(b, byte(u.Unit.Kind)), u.NeedsReferenceProof)
	return binary.AppendUvarint(extsort.AppendBytes(extsort.AppendBytes(b, u.Unit.Name), u.Path), u.Unit.INodeID)
}

// ReadSweep reads a sweep in a root, and gives what stands behind it.
func ReadSweep(b []byte, root *RootDecision) (*Sweep, []byte) {
	r := &extsort.Unpacker{Rest: b}
	s := &Sweep{Root: root, Path: Path(r.Bytes()), Rule: Rule(r.Bytes()), INodeID: r.Unsigned(), BeforeMs: r.Signed()}
	s.Job = &JobDecision{Name: string(r.Bytes()), Mapped: r.Bool(), Job: &flink.Job{Name: string(r.Bytes())}}
	u := &flink.Unit{Kind: flink.UnitKind(r.Byte())}
	s.Unit = &UnitDecision{Unit: u, root: root, NeedsReferenceProof: r.Bool()}
	u.Name, s.Unit.Path, u.INodeID = string(r.Bytes()), Path(r.Bytes()), r.Unsigned()
	return s, r.Rest
}

// Unpacker reads units. One takes the place of the one before.
type Unpacker struct {
	Survey *flink.Survey // that they are of, if they were packed with contents

	rules map[string]string // and other short texts that repeat

	unit  UnitDecision
	of    flink.Unit
	items []Item
	list  []*Item
}

// Unit reads a unit of a job and its root, and gives what stands behind it. The unit is
// valid until the next call.
func (p *Unpacker) Unit(b []byte, root *RootDecision, j *JobDecision) (*UnitDecision, []byte) {
	r := &extsort.Unpacker{Rest: b}
	u, f := &p.unit, &p.of
	keeps := u.Keeps[:0]
	*f = flink.Unit{Shared: flink.Area{Dir: namespace.NoDir}, Taskowned: flink.Area{Dir: namespace.NoDir}}
	*u = UnitDecision{Unit: f, root: root, Verdict: Verdict(r.Byte())}
	f.Kind = flink.UnitKind(r.Byte())
	u.whole, u.NeedsReferenceProof, f.Times.HasMetadata, u.many = r.Bool(), r.Bool(), r.Bool(), r.Bool()
	u.Rule, u.Path, f.Name = Rule(p.Text(r.Bytes())), Path(r.Bytes()), string(r.Bytes())
	f.INodeID, f.ParentID, u.Newer = r.Unsigned(), r.Unsigned(), r.Signed()
	readTotals(r, &f.Totals)
	f.Times.Newest.Place = flink.Place(r.Byte())
	f.Times.Newest.Ms, f.Times.NewestMetadataMs, f.Times.NewestDataATimeMs = r.Signed(), r.Signed(), r.Signed()
	f.NumUnknown = r.Signed()
	for range r.Len() {
		m := flink.Misfit{Reason: flink.Reason(p.Text(r.Bytes())), Path: append([]byte(nil), r.Bytes()...), Detail: p.Text(r.Bytes())}
		m.INodeID = r.Unsigned()
		f.Unknown = append(f.Unknown, m)
	}
	u.Keeps = p.facts(r, keeps)
	p.read(r, root, j)
	if r.Bool() {
		f.Stored, r.Rest = p.Survey.ReadStored(r.Rest)
		readContents(r, f)
	}
	return u, r.Rest
}

// read reads the items of the present unit.
func (p *Unpacker) read(r *extsort.Unpacker, root *RootDecision, j *JobDecision) {
	n := r.Len()
	if cap(p.items) < n {
		p.items, p.list = make([]Item, n), make([]*Item, n)
	}
	p.items, p.list = p.items[:n], p.list[:n]
	for k := range n {
		p.item(r, &p.items[k])
		p.items[k].Root, p.items[k].Job, p.items[k].Unit = root, j, &p.unit
		p.list[k] = &p.items[k]
	}
	p.unit.Items = p.list
}

// More reads more items of the unit that was read last, which take the place of those that
// it has, and gives what stands behind them.
func (p *Unpacker) More(b []byte, j *JobDecision) []byte {
	r := &extsort.Unpacker{Rest: b}
	p.read(r, p.unit.root, j)
	return r.Rest
}

// Text gives a short text without making it again and again.
func (p *Unpacker) Text(b []byte) string {
	if s, ok := p.rules[string(b)]; ok {
		return s
	}
	if p.rules == nil || len(p.rules) > 1000 {
		p.rules = map[string]string{}
	}
	s := string(b)
	p.rules[s] = s
	return s
}

// Facts reads facts, and gives what stands behind them.
func (p *Unpacker) Facts(b []byte) ([]Fact, []byte) {
	r := &extsort.Unpacker{Rest: b}
	list := p.facts(r, nil)
	return list, r.Rest
}

func (p *Unpacker) facts(r *extsort.Unpacker, list []Fact) []Fact {
	for range r.Len() {
		f := Fact{Rule: Rule(p.Text(r.Bytes())), Place: flink.Place(r.Byte())}
		f.TimeMs, f.LimitMs, f.N, f.Limit = r.Signed(), r.Signed(), r.Signed(), r.Signed()
		f.Path, f.Text = Path(r.Bytes()), string(r.Bytes())
		list = append(list, f)
	}
	return list
}

func (p *Unpacker) item(r *extsort.Unpacker, i *Item) {
	*i = Item{
		Facts: i.Facts[:0], Deferred: i.Deferred[:0],
		Kind: Kind(p.Text(r.Bytes())), Rule: Rule(p.Text(r.Bytes())), Path: Path(r.Bytes()),
		INodeID: r.Unsigned(), ParentID: r.Unsigned(), SplitOf: r.Unsigned(), Inodes: r.Signed(), Bytes: r.Signed(),
		NeedsReferenceProof: r.Bool(), Conditional: r.Bool(),
	}
	i.Facts = p.facts(r, i.Facts)
	i.Deferred = p.facts(r, i.Deferred)
}

func readTotals(r *extsort.Unpacker, t *flink.Totals) {
	t.Files, t.Directories, t.Symlinks, t.Length, t.Space = r.Signed(), r.Signed(), r.Signed(), r.Signed(), r.Signed()
}

func readContents(r *extsort.Unpacker, u *flink.Unit) {
	for range r.Len() {
		c := &flink.Checkpoint{N: r.Signed()}
		c.Times.Newest.Ms, c.INodeID = r.Signed(), r.Unsigned()
		if complete, open := r.Bool(), r.Bool(); complete || open {
			c.Metadata = &flink.File{Length: 1, Open: open}
		}
		readTotals(r, &c.Totals)
		u.Checkpoints = append(u.Checkpoints, c)
	}
	u.Changelog = &flink.Area{Dir: namespace.NoDir}
	for _, a := range []*flink.Area{&u.Shared, &u.Taskowned, u.Changelog} {
		a.INodeID = r.Unsigned()
		readTotals(r, &a.Totals)
	}
}
