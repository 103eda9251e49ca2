package act

import (
	"context"
	"errors"
	"strings"
	"time"

	"fsweep/execute"
	"fsweep/proto/journal"
	"fsweep/proto/planfile"
)

const (
	defaultTimeout = 30 * time.Second // of one call
	lookTries      = 5                // of a look that must not fail, a pause between them
	lookPause      = 2 * time.Second
	maxDepth       = 4096 // of a climb: HDFS allows 1000 components
)

// actor has what every command needs while it acts.
type actor struct {
	p        *Params
	j        Journal
	command  journal.Command
	client   journal.ClientID
	node     execute.NameNode
	timeout  time.Duration
	pace     pace
	lock     held
	trash    map[string]*trashRoot // by path
	restored bool                  // something stays that the journal calls done
	partly   bool                  // all that was to be done cannot be known
	sent     bool                  // this process asked for the move of something that is no lock
	// settledChain is the chain of what was settled last.
	settledChain []uint64
}

func newActor(p *Params) *actor {
	a := &actor{p: p, timeout: defaultTimeout, trash: map[string]*trashRoot{}}
	if ms := p.Plan.Header.Pace.RPCTimeoutMs; ms > 0 {
		a.timeout = time.Duration(ms) * time.Millisecond
	}
	return a
}

// hello finds out who is ACTIVE and what this client is called. The call that
// brings the name is never used.
func (a *actor) hello(ctx context.Context) error {
	var call execute.Call
	err := a.timed(ctx, func(ctx context.Context) (err error) {
		call, err = a.p.Move.NewCall(ctx)
		return err
	})
	if err != nil {
		return err
	}
	a.client, a.node = call.ClientID, call.NameNode
	return a.proper(call)
}

func nameNode(n execute.NameNode) journal.NameNode {
	return journal.NameNode{Nameservice: n.Nameservice, ID: n.ID, Address: n.Address}
}

// create begins a journal.
func (a *actor) create(ctx context.Context, h *journal.Header) error {
	if err := a.hello(ctx); err != nil {
		return err
	}
	p := a.p.Process
	h.AtMs = a.now()
	h.Tool, h.Version = p.Tool, p.Version
	h.Nameservice, h.NameNode = a.p.Plan.Header.Nameservice, nameNode(a.node)
	if s := &a.p.Plan.Header.Source; s.NamespaceID != 0 {
		h.Cluster = &journal.Cluster{NamespaceID: s.NamespaceID, ID: s.ClusterID}
	}
	h.User, h.Host, h.PID, h.ClientID = planfile.Name(p.User), p.Host, int64(p.PID), a.client
	for _, at := range a.p.Plan.Header.Anchors {
		if at.InodeID != 0 {
			h.Anchors = append(h.Anchors, journal.Anchor{Path: at.Path, InodeID: at.InodeID})
		}
	}
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	var err error
	a.command = h.Command
	a.j, err = a.p.Create(h)
	return err
}

func (a *actor) now() int64           { return a.p.Clock.Now().UnixMilli() }
func (a *actor) stamp() journal.Stamp { return journal.Stamp{AtMs: a.now()} }
func (a *actor) watch(e Event)        { e.At = a.p.Clock.Now(); a.tell(e) }
func (a *actor) digest() string       { return strings.TrimPrefix(a.p.Plan.Digest.String(), "sha256:") }

// context gives what stands in the audit log beside the program and the path, which the port adds:
// NameNodes cut that at 128 bytes.
func (a *actor) context() planfile.Name { return planfile.Name(a.digest()[:12]) }

func (a *actor) tell(e Event) {
	if a.p.Watch != nil {
		a.p.Watch(e)
	}
}

// timed makes one call with the time that it may take, and notes how long it took.
func (a *actor) timed(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	begin := a.p.Clock.Now()
	err := call(ctx)
	a.pace.took(a.p.Clock.Now(), a.p.Clock.Now().Sub(begin))
	return err
}

// insist looks until there is an answer: a refusal is one.
func (a *actor) insist(ctx context.Context, look func(context.Context) error) error {
	var err error
	tries := lookTries
	if a.j == nil { // nothing is at stake yet, and the client has looked for who is ACTIVE long enough
		tries = 1
	}
	for try := range tries {
		if try > 0 {
			if err := a.p.Clock.Sleep(ctx, lookPause); err != nil {
				return err
			}
		}
		err = a.timed(ctx, look)
		var remote *execute.RemoteError
		switch {
		case err == nil, errors.As(err, &remote), errors.Is(err, execute.ErrNotFound), errors.Is(err, execute.ErrNotDirectory), errors.Is(err, execute.ErrInvalid):
			return err
		case ctx.Err() != nil:
			return err
		}
	}
	return err
}

// stat gives what stands somewhere, nil if nothing does.
func (a *actor) stat(ctx context.Context, ref execute.Ref) (*execute.Status, error) {
	var s *execute.Status
	err := a.insist(ctx, func(ctx context.Context) (err error) {
		s, err = a.p.Look.Stat(ctx, ref)
		return err
	})
	if errors.Is(err, execute.ErrNotFound) || errors.Is(err, execute.ErrNotDirectory) {
		return nil, nil //nolint:nilnil // nothing is an answer
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// directory demands that a directory stands at a path.
func (a *actor) directory(ctx context.Context, what, path string) (*execute.Status, error) {
	s, err := a.stat(ctx, execute.At(path))
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, refuse("missing-directory", "the %s %q does not exist; it is never made", what, path)
	case s.Kind != execute.Directory:
		return nil, refuse("no-directory", "the %s %q is not a directory", what, path)
	}
	return s, nil
}

// mkdirs makes a directory, and what is missing above it. The caller has seen that the place above
// which nothing may be made is there.
func (a *actor) mkdirs(ctx context.Context, path planfile.Path, permission uint16) error {
	i := &journal.Intent{Stamp: a.stamp(), Purpose: journal.PurposeMkdirs, Path: path, Permission: int64(permission)}
	if err := a.j.Append(i); err != nil {
		return err
	}
	send := func(ctx context.Context) error { return a.p.Move.Mkdirs(ctx, string(path), permission) }
	err := a.timed(ctx, send)
	lost := errors.Is(err, execute.ErrUnknown)
	for try := 0; errors.Is(err, execute.ErrUnknown) && try < lookTries; try++ {
		if a.p.Clock.Sleep(ctx, lookPause) != nil {
			break
		}
		err = a.timed(ctx, send)
	}
	if err != nil && lost { // a later refusal says nothing about the first request
		return a.unknown(i, err)
	}
	if err != nil {
		return errors.Join(a.failed(i, err), err)
	}
	// A directory that is gone again is found missing by what is done next.
	d := &journal.Done{Intent: i.Seq, Path: path}
	if s, err := a.stat(ctx, execute.At(string(path))); err == nil && s != nil {
		d.Chain = []uint64{s.ID}
	}
	d.Stamp = a.stamp()
	return a.j.Append(d)
}

// failed notes that an intent was refused.
func (a *actor) failed(i *journal.Intent, err error) error {
	return a.j.Append(&journal.Failed{
		Stamp: a.stamp(), Intent: i.Seq, Kind: i.Kind, Path: i.Path, InodeID: i.InodeID,
		Class: class(err), Message: planfile.Name(err.Error()),
	})
}

// unknown notes that the answer to an intent is not known, and gives the error that
// stops everything.
func (a *actor) unknown(i *journal.Intent, err error) error {
	stop := anomaly(err, "what became of intent %d of the journal is not known: %s", i.Seq, instead[a.command])
	a.watch(Event{Kind: ItemUnknown, Path: i.Path, Target: i.Target, Message: err.Error()})
	return errors.Join(stop, a.j.Append(&journal.Unknown{
		Stamp: a.stamp(), Intent: i.Seq, Class: class(err), Message: planfile.Name(err.Error()),
	}))
}
