package check

import (
	"context"
	"errors"
	"fmt"
	"path"

	"fsweep/execute"
	"fsweep/proto/planfile"
)

// Problem is something that forbids the whole plan.
type Problem struct {
	Code  string // a stable word
	Path  planfile.Path
	Facts []planfile.Fact
}

// The codes of problems.
const (
	NotApproved       = "not-approved"        // the plan is not the one that was approved
	NotExecutable     = "not-executable"      // the plan says so
	Expired           = "expired"             //
	ClockBehind       = "clock-behind"        // this machine's clock is before the time of the plan
	OtherNameservice  = "other-nameservice"   // it answers for another nameservice
	OtherCluster      = "other-cluster"       // ids of cluster or namespace differ
	InSafeMode        = "safe-mode"           //
	NoAnchor          = "no-anchor"           // the plan has nothing that proves the cluster
	AnchorDiffers     = "anchor-differs"      // it is gone, or another inode
	Held              = "held"                // a hold path exists
	NotKnown          = "not-known"           // whether a place exists cannot be seen
	NoTrash           = "no-trash"            // the NameNode has none
	TrashTooShort     = "trash-too-short"     // its interval is below what the policy asks for
	TrashNotUsable    = "trash-not-usable"    // a file stands in its place, or it cannot be seen
	QuarantineDiffers = "quarantine-differs"  // it is gone, or another inode
	LockDirDiffers    = "lock-dir-differs"    //
	LockDirNotUsable  = "lock-dir-not-usable" // this user could not take the lock, or not give it back
	ListNotUsable     = "list-not-usable"     // a live list or list of pins cannot be read
	ListShrunk        = "list-shrunk"         // it names a tenth less than when the plan was made
)

// Preflight gives everything that forbids the plan as a whole, not only the first. The
// lock, and whether the plan was executed before, are not looked at.
func (s *Session) Preflight(ctx context.Context) ([]Problem, error) {
	p := &preflight{s: s}
	p.document()
	for _, ask := range []func(context.Context) error{p.cluster, p.survey, p.places, p.trash} {
		if err := ask(ctx); err != nil {
			return nil, fmt.Errorf("preflight: %w", err)
		}
	}
	p.problems = append(p.problems, s.readLists()...)
	return p.problems, nil
}

type preflight struct {
	s        *Session
	problems []Problem
}

func (p *preflight) add(code string, at planfile.Path, facts ...planfile.Fact) {
	p.problems = append(p.problems, Problem{code, at, facts})
}

// document looks at what the plan says of itself.
func (p *preflight) document() {
	h, now := &p.s.header, p.s.nowMs()
	if a := p.s.o.Approved; a != nil && *a != p.s.digest {
		p.add(NotApproved, "", text("approved", a.String()), text("plan", p.s.digest.String()))
	}
	if !h.Executable {
		p.add(NotExecutable, "")
	}
	if now >= h.ExpiresMs {
		p.add(Expired, "", number("expired_ms", h.ExpiresMs), number("now_ms", now))
	}
	if now < h.Source.ImageTimeMs {
		p.add(ClockBehind, "", number("image_time_ms", h.Source.ImageTimeMs), number("now_ms", now))
	}
	if len(h.Anchors) == 0 {
		p.add(NoAnchor, "")
	}
}

func (p *preflight) cluster(ctx context.Context) error {
	nn, err := p.s.looks.Active(ctx)
	if err != nil {
		return err
	}
	name := nn.Nameservice
	if name == "" {
		name = nn.Address
	}
	if want := p.s.header.Nameservice; name != want {
		p.add(OtherNameservice, "", text("in_plan", want), text("now", name))
	}
	safe, err := p.s.looks.SafeMode(ctx)
	if safe && err == nil {
		p.add(InSafeMode, "")
	}
	return err
}

// survey compares ids of cluster and namespace, where NameNodes tell them.
func (p *preflight) survey(ctx context.Context) error {
	if p.s.o.Survey == nil {
		return nil
	}
	for _, n := range p.s.o.Survey.NameNodes(ctx) {
		want := &p.s.header.Source
		if n.ClusterID != "" && want.ClusterID != "" && n.ClusterID != want.ClusterID {
			p.add(OtherCluster, "", text("cluster_id_in_plan", want.ClusterID), text("cluster_id_now", n.ClusterID))
		} else if n.NamespaceID != 0 && n.NamespaceID != want.NamespaceID {
			p.add(OtherCluster, "", differs("namespace_id", want.NamespaceID, n.NamespaceID)...)
		}
	}
	return ctx.Err()
}

// places looks at anchors, holds and the directories of lock and quarantine.
func (p *preflight) places(ctx context.Context) error {
	h := &p.s.header
	for _, a := range h.Anchors {
		if err := p.same(ctx, AnchorDiffers, a); err != nil {
			return err
		}
	}
	for _, hold := range h.HoldPaths {
		switch st, err := p.s.stat(ctx, execute.At(string(hold.Path))); {
		case err == nil && st != nil:
			p.add(Held, hold.Path)
		case errors.Is(err, errHidden):
			p.add(NotKnown, hold.Path, text("error", err.Error()))
		case err != nil:
			return err
		}
	}
	if h.LockDir.InodeID != 0 {
		if err := p.same(ctx, LockDirDiffers, h.LockDir); err != nil {
			return err
		}
		if err := p.lockable(ctx, h.LockDir.Path); err != nil {
			return err
		}
	}
	for _, q := range h.Quarantine {
		if err := p.directory(ctx, QuarantineDiffers, q); err != nil {
			return err
		}
	}
	return nil
}

// lockable wants the lock to be taken and given back by this user: a run that cannot give it back
// would have moved everything by then, and keep everybody out.
func (p *preflight) lockable(ctx context.Context, dir planfile.Path) error {
	for _, name := range []string{".", "done", "broken"} {
		at := path.Join(string(dir), name)
		st, err := p.s.stat(ctx, execute.At(at))
		switch {
		case err != nil && !errors.Is(err, errHidden):
			return err
		case name == "." && st == nil: // told already
			return nil
		case err == nil && st == nil: // made when it is needed
			continue
		case err == nil && st.Kind != execute.Directory:
			p.add(LockDirNotUsable, planfile.Path(at), text("now", "no directory"))
			continue
		}
		if err == nil && p.s.o.Survey != nil {
			err = answer(p.s.o.Survey.Access(ctx, execute.At(at), execute.WriteAccess|execute.ExecuteAccess))
		}
		switch {
		case errors.Is(err, errHidden), errors.Is(err, errNothing):
			p.add(LockDirNotUsable, planfile.Path(at), text("error", err.Error()))
		case err != nil:
			return err
		}
	}
	return nil
}

// same wants the inode that the image has at a path.
func (p *preflight) same(ctx context.Context, code string, place planfile.Place) error {
	st, err := p.s.stat(ctx, execute.At(string(place.Path)))
	switch {
	case errors.Is(err, errHidden):
		p.add(NotKnown, place.Path, text("error", err.Error()))
	case err != nil:
		return err
	case st == nil:
		p.add(code, place.Path, text("now", "nothing"))
	case st.ID != place.InodeID:
		p.add(code, place.Path, text("in_plan", decimal(place.InodeID)), text("now", decimal(st.ID)))
	}
	return nil
}

// directory wants a directory, the one of the image if that had one.
func (p *preflight) directory(ctx context.Context, code string, place planfile.Place) error {
	if place.InodeID != 0 {
		return p.same(ctx, code, place)
	}
	st, err := p.s.stat(ctx, execute.At(string(place.Path)))
	switch {
	case errors.Is(err, errHidden):
		p.add(NotKnown, place.Path, text("error", err.Error()))
	case err != nil:
		return err
	case st == nil:
		p.add(code, place.Path, text("now", "nothing"))
	case st.Kind != execute.Directory:
		p.add(code, place.Path, text("now", "no directory"))
	}
	return nil
}

// trash looks at what receives the items, for each root that is executed.
func (p *preflight) trash(ctx context.Context) error {
	h := &p.s.header
	if h.Removal != planfile.RemovalTrash {
		return nil
	}
	d, err := p.s.looks.Defaults(ctx)
	if err != nil {
		return err
	}
	switch ms := d.TrashInterval.Milliseconds(); {
	case ms <= 0:
		p.add(NoTrash, "")
	case ms < h.Belts.MinTrashIntervalMs:
		p.add(TrashTooShort, "", number("interval_ms", ms), number("min_trash_interval_ms", h.Belts.MinTrashIntervalMs))
	}
	seen := map[string]bool{}
	for i := range h.Roots {
		r := &h.Roots[i]
		if r.Mode != planfile.ModeExecute || len(r.Stopped) > 0 {
			continue
		}
		t, err := p.s.looks.TrashRoot(ctx, join(string(r.Path), "item"))
		if err = answer(err); errors.Is(err, errHidden) || errors.Is(err, errNothing) {
			p.add(TrashNotUsable, r.Path, text("error", err.Error()))
			continue
		} else if err != nil {
			return err
		}
		if !seen[t.Path] {
			seen[t.Path] = true
			if err := p.receiver(ctx, t.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

// receiver wants no file where a trash is or will be, and the directory that holds it: that is never
// made.
func (p *preflight) receiver(ctx context.Context, trash string) error {
	for _, at := range []string{path.Dir(trash), trash, trash + "/Current"} {
		st, err := p.s.stat(ctx, execute.At(at))
		switch {
		case err == nil && st == nil && at == path.Dir(trash):
			p.add(TrashNotUsable, planfile.Path(at), text("now", "nothing"))
			return nil
		case errors.Is(err, errHidden):
			p.add(TrashNotUsable, planfile.Path(at), text("error", err.Error()))
		case err != nil:
			return err
		case st != nil && st.Kind != execute.Directory:
			p.add(TrashNotUsable, planfile.Path(at), text("now", "no directory"))
		}
	}
	return nil
}
