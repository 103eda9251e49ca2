package journal

import (
	"fsweep/proto/internal/canonical"
	"fsweep/proto/planfile"
)

func (*Header) kind() string  { return typeHeader }
func (*Intent) kind() string  { return typeIntent }
func (*Done) kind() string    { return typeDone }
func (*Skipped) kind() string { return typeSkipped }
func (*Failed) kind() string  { return typeFailed }
func (*Unknown) kind() string { return typeUnknown }
func (*Settled) kind() string { return typeSettled }
func (*Resumed) kind() string { return typeResumed }
func (*End) kind() string     { return typeEnd }

// empty gives an empty line of a type, nil of an unknown one.
func empty(kind string) Line {
	switch kind {
	case typeHeader:
		return new(Header)
	case typeIntent:
		return new(Intent)
	case typeDone:
		return new(Done)
	case typeSkipped:
		return new(Skipped)
	case typeFailed:
		return new(Failed)
	case typeUnknown:
		return new(Unknown)
	case typeSettled:
		return new(Settled)
	case typeResumed:
		return new(Resumed)
	case typeEnd:
		return new(End)
	}
	return nil
}

// code writes or reads what follows the type. A line that is read must have the
// number and the hash that want says, which is found out before the rest is looked at;
// nil: it was checked before.
func code(c *coder, l Line, want *Stamp) {
	if h, ok := l.(*Header); ok {
		c.Number("format", &h.Format)
	}
	s := l.Stamped()
	at := c.At()
	c.Number("seq", &s.Seq)
	if want != nil && s.Seq != want.Seq {
		c.FailAt(at, "the line has number %d where %d should be", s.Seq, want.Seq)
	}
	at = c.At()
	c.Hex("prev", "", s.Prev[:])
	if want != nil && s.Prev != want.Prev {
		c.FailAt(at, "the hash of the line before is %s, not %s: one of the two lines is not the one that was written", want.Prev, s.Prev)
	}
	c.Number("at_ms", &s.AtMs)
	l.fields(c)
}

func (h *Header) fields(c *coder) {
	c.Text("command", (*string)(&h.Command))
	c.Text("tool", &h.Tool)
	c.Text("version", &h.Version)
	maybe(c, "plan", &h.Plan, (*Plan).fields)
	maybe(c, "undo_of", &h.UndoOf, (*UndoOf).fields)
	c.Text("nameservice", &h.Nameservice)
	h.NameNode.fields(c)
	maybe(c, "cluster", &h.Cluster, (*Cluster).fields)
	canonical.List(c, "anchors", &h.Anchors, (*Anchor).fields)
	name(c, "user", &h.User, false)
	c.Text("host", &h.Host)
	c.Number("pid", &h.PID)
	c.Hex("client_id", "", h.ClientID[:])
}

// maybe codes an object that can be absent.
func maybe[T any](c *coder, key string, v **T, fields func(*T, *coder)) {
	if !c.Key(key, *v != nil, true) || !c.Open('{') {
		return
	}
	if c.Reading() {
		*v = new(T)
	}
	fields(*v, c)
	c.Leave()
}

// Names and paths of a journal repeat from line to line more often than not: trash
// roots and parents do, and what does not is forgotten in bulk.
func name(c *coder, key string, v *planfile.Name, optional bool) {
	c.Bytes(key, (*string)(v), optional, true)
}

func path(c *coder, key string, v *planfile.Path, optional bool) {
	c.Bytes(key, (*string)(v), optional, false)
}

func (p *Plan) fields(c *coder) {
	name(c, "file", &p.File, false)
	c.Hex("digest", "sha256:", p.Digest[:])
}

func (l *Cluster) fields(c *coder) {
	c.Number("namespace_id", &l.NamespaceID)
	c.MaybeText("cluster_id", &l.ID)
}

func (u *UndoOf) fields(c *coder) {
	name(c, "file", &u.File, false)
	c.Hex("last", "", u.Last[:])
}

func (n *NameNode) fields(c *coder) {
	if c.Enter("name_node") {
		c.MaybeText("nameservice", &n.Nameservice)
		c.MaybeText("id", &n.ID)
		c.Text("address", &n.Address)
		c.Leave()
	}
}

func (a *Anchor) fields(c *coder) {
	path(c, "path", &a.Path, false)
	c.ID("inode_id", &a.InodeID, false)
}

func (i *Intent) fields(c *coder) {
	c.Text("purpose", (*string)(&i.Purpose))
	c.MaybeText("kind", (*string)(&i.Kind))
	path(c, "path", &i.Path, false)
	c.ID("inode_id", &i.InodeID, true)
	c.ID("parent_id", &i.ParentID, true)
	path(c, "target", &i.Target, true)
	c.Bytes("trash_root", (*string)(&i.TrashRoot), true, true)
	c.Maybe("permission", &i.Permission)
	c.Maybe("undoes", &i.Undoes)
	c.Maybe("inodes", &i.Inodes)
	c.Maybe("length", &i.Length)
	c.Maybe("space_consumed", &i.Space)
	c.Bytes("context", (*string)(&i.Context), true, false)
	maybe(c, "call", &i.Call, (*Call).fields)
}

func (l *Call) fields(c *coder) {
	c.Hex("client_id", "", l.ClientID[:])
	c.Number("call_id", &l.CallID)
	l.NameNode.fields(c)
}

func (d *Done) fields(c *coder) {
	c.Number("intent", &d.Intent)
	path(c, "path", &d.Path, true)
	c.IDs("chain", &d.Chain)
}

func (s *Skipped) fields(c *coder) {
	c.Maybe("intent", &s.Intent)
	c.MaybeText("kind", (*string)(&s.Kind))
	path(c, "path", &s.Path, false)
	c.ID("inode_id", &s.InodeID, false)
	c.Text("rule", &s.Rule)
	canonical.List(c, "facts", &s.Facts, factFields)
}

// factFields codes as plans do.
func factFields(f *planfile.Fact, c *coder) {
	c.Text("name", &f.Name)
	c.MaybeText("text", &f.Text)
	c.Maybe("number", &f.Number)
}

func (f *Failed) fields(c *coder) {
	c.Maybe("intent", &f.Intent)
	c.MaybeText("kind", (*string)(&f.Kind))
	path(c, "path", &f.Path, false)
	c.ID("inode_id", &f.InodeID, true)
	c.Text("class", &f.Class)
	name(c, "message", &f.Message, true)
}

func (u *Unknown) fields(c *coder) {
	c.Number("intent", &u.Intent)
	c.Text("class", &u.Class)
	name(c, "message", &u.Message, true)
}

func (s *Settled) fields(c *coder) {
	c.Number("intent", &s.Intent)
	c.Text("how", (*string)(&s.How))
	path(c, "path", &s.Path, true)
	c.ID("inode_id", &s.InodeID, true)
	c.IDs("chain", &s.Chain)
	canonical.List(c, "evidence", &s.Evidence, factFields)
}

func (r *Resumed) fields(c *coder) {
	c.Text("version", &r.Version)
	r.NameNode.fields(c)
	name(c, "user", &r.User, false)
	c.Text("host", &r.Host)
	c.Number("pid", &r.PID)
	c.Hex("client_id", "", r.ClientID[:])
	c.Number("cut_bytes", &r.CutBytes)
}

func (e *End) fields(c *coder) {
	c.Number("exit_code", &e.ExitCode)
	if t := &e.Totals; c.Enter("totals") {
		c.Number("planned", &t.Planned)
		c.Number("done", &t.Done)
		c.Number("undone", &t.Undone)
		c.Number("skipped", &t.Skipped)
		c.Number("failed", &t.Failed)
		c.Number("unknown", &t.Unknown)
		c.Number("inodes", &t.Inodes)
		c.Number("length", &t.Length)
		c.Number("space_consumed", &t.Space)
		c.Leave()
	}
}
