package probe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fsweep/execute"
)

// Cluster is all that a probe has of a cluster.
type Cluster interface {
	execute.Inspector
	execute.Surveyor
}

// Options are what is looked for. Without a policy everything but the first three is
// empty, and only the cluster itself and the user's trash are looked at.
type Options struct {
	Nameservice string        // shown only
	Now         time.Time     // compared with when a plan expires
	Timeout     time.Duration // of one question to the cluster; 0: that of the context

	MinTrashInterval time.Duration
	Quarantine       string // "": the trash receives
	LockDir          string // "": there is no policy
	Holds            []string
	Anchors          []AnchorOptions
	Roots            []RootOptions
	Plan             *PlanOptions
}

// AnchorOptions are a directory with the inode id that it has in the plan's image.
type AnchorOptions struct {
	Path string
	ID   uint64
}

// PlanOptions are what a plan says about itself.
type PlanOptions struct {
	Executable  bool
	ExpiresAt   time.Time
	ClusterID   string // "" if the plan does not know
	NamespaceID int64
	Mark        string // exists if the plan was carried out; "" if the plan has no lock directory
}

// RootOptions are a root as the policy, or plan, declares it.
type RootOptions struct {
	Path    string
	Layout  string
	Execute bool   // mode execute
	WantID  uint64 // inode id in the plan; 0: not known

	// Jobs and Excluded are first-level names: only these, and not these.
	Jobs, Excluded []string
}

// looker makes a report.
type looker struct {
	c Cluster
	o Options
	r *Report
	// zone of the quarantine, which receives everything if there is one
	quarantineZone  string
	quarantineKnown bool
	trash           []*TrashRoot
	super           bool // the user is most likely the superuser
}

// errCut stands for a question that was not asked, because the cluster does not
// answer any more.
var errCut = errors.New("not asked: the cluster does not answer")

// Look asks the cluster. An error is that of ctx; whatever else goes wrong is a
// finding.
func Look(ctx context.Context, c Cluster, o Options) (*Report, error) {
	l := &looker{c: c, o: o, r: &Report{
		Nameservice: o.Nameservice, User: c.User(), Now: o.Now, Trash: Trash{MinInterval: o.MinTrashInterval},
	}}
	l.nameNodes(ctx)
	l.cluster(ctx)
	l.plan()
	l.places(ctx)
	if o.Quarantine == "" {
		// That of the user's home receives from every root that no zone holds.
		if _, err := l.trashOf(ctx, "/"); err != nil {
			l.failed("", "asking for the user's trash", err)
		}
	}
	for i := range o.Roots {
		l.r.Roots = append(l.r.Roots, Root{RootOptions: o.Roots[i]})
		l.root(ctx, &l.r.Roots[i])
	}
	l.judgeTrash()
	l.modes()
	return l.r, ctx.Err()
}

// ask asks one question, within the time that one may take. When no NameNode answers
// that is one finding, and nothing is asked any more.
func (l *looker) ask(ctx context.Context, question func(context.Context) error) error {
	if l.r.Cut {
		return errCut
	}
	limit := ctx
	if l.o.Timeout > 0 {
		var cancel context.CancelFunc
		limit, cancel = context.WithTimeout(ctx, l.o.Timeout)
		defer cancel()
	}
	err := question(limit)
	if errors.Is(err, execute.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		l.r.Cut = true
		l.find(NoActive, Failure, "", "no ACTIVE NameNode answered in time: %v", err)
		return errCut
	}
	return err
}

func (l *looker) find(code Code, level Level, path, format string, args ...any) {
	message := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "; ") // of several errors in one
	l.r.Findings = append(l.r.Findings, Finding{Code: code, Level: level, Path: path, Message: message})
}

// failed notes a question that the NameNode answered with an error that says nothing
// about the subject.
func (l *looker) failed(path, what string, err error) {
	if !errors.Is(err, errCut) {
		l.find(CallFailed, Failure, path, "%s: %v", what, err)
	}
}

// answer turns the error of a question into yes or no, and why.
func answer(err error, no ...error) (Answer, string) {
	if err == nil {
		return Yes, ""
	}
	for _, kind := range no {
		if errors.Is(err, kind) {
			return No, reason(err)
		}
	}
	return Unknown, reason(err)
}

// reason is the NameNode's own message where there is one.
func reason(err error) string {
	if remote, ok := errors.AsType[*execute.RemoteError](err); ok && remote.Message != "" {
		if errors.Is(err, execute.ErrSymlink) { // the message is only where it leads
			return fmt.Sprintf("a symbolic link is in the path, which is not followed, to %q", remote.Message)
		}
		return remote.Message
	}
	return err.Error()
}

// nameNodes asks all NameNodes what they are.
func (l *looker) nameNodes(ctx context.Context) {
	active := l.roles(ctx)
	if len(active) > 1 {
		active = l.roles(ctx) // a failover may have come between two answers
	}
	if len(active) > 1 {
		l.find(TwoActive, Refusal, "", "more than one NameNode says that it is ACTIVE: %s", strings.Join(active, ", "))
	}
	for i := range l.r.NameNodes {
		n := &l.r.NameNodes[i]
		switch {
		case n.Role == execute.ActiveRole:
			l.r.ClusterID, l.r.NamespaceID = n.ClusterID, n.NamespaceID
		case n.Err != nil:
			l.find(NameNodeUnknown, Warning, "", "NameNode %s cannot be asked: %v", nameNode(n.NameNode), n.Err)
		}
		if n.Ahead != nil && n.Ahead.Abs() > maxClock {
			l.find(ClockDiffers, Warning, "", "the clock of NameNode %s differs from this machine's by %s", nameNode(n.NameNode), n.Ahead.Round(time.Second))
		}
	}
}

// identity notes which cluster the ACTIVE NameNode has. Where it was none when all were
// asked, a failover has ended meanwhile, and they are asked again.
func (l *looker) identity(ctx context.Context) {
	r := l.r
	if r.ClusterID == "" && r.NamespaceID == 0 && !slices.ContainsFunc(r.NameNodes, isActive) {
		l.roles(ctx)
		if i := slices.IndexFunc(r.NameNodes, isActive); i >= 0 {
			r.ClusterID, r.NamespaceID = r.NameNodes[i].ClusterID, r.NameNodes[i].NamespaceID
		}
	}
	l.sameCluster()
}

func isActive(n execute.NameNodeState) bool { return n.Role == execute.ActiveRole }

// sameCluster refuses NameNodes that do not belong together: after a failover the other
// cluster would be cleaned up by a plan for the first one.
func (l *looker) sameCluster() {
	var first *execute.NameNodeState
	for i := range l.r.NameNodes {
		n := &l.r.NameNodes[i]
		switch {
		case n.ClusterID == "" && n.NamespaceID == 0: // it does not tell
		case first == nil:
			first = n
		case n.ClusterID != first.ClusterID || n.NamespaceID != first.NamespaceID:
			l.find(NodesDiffer, Refusal, "", "NameNode %s has namespace %d of cluster %q, and NameNode %s has namespace %d of cluster %q",
				nameNode(first.NameNode), first.NamespaceID, first.ClusterID, nameNode(n.NameNode), n.NamespaceID, n.ClusterID)
			return
		}
	}
}

// roles gives the addresses of those that say that they are ACTIVE.
func (l *looker) roles(ctx context.Context) (active []string) {
	_ = l.ask(ctx, func(ctx context.Context) error { // its only error is that of ctx
		l.r.NameNodes = l.c.NameNodes(ctx)
		return nil
	})
	for i := range l.r.NameNodes {
		if n := &l.r.NameNodes[i]; n.Role == execute.ActiveRole {
			active = append(active, n.Address)
		}
	}
	return active
}

// maxClock is a difference of clocks that is not worth a word: that of a machine
// without time synchronisation after a while. Ages are counted in hours.
const maxClock = time.Minute

func nameNode(n execute.NameNode) string {
	if n.ID == "" {
		return n.Address
	}
	return n.ID + " (" + n.Address + ")"
}

// cluster asks the ACTIVE NameNode about itself and the user.
func (l *looker) cluster(ctx context.Context) {
	r := l.r
	if err := l.ask(ctx, func(ctx context.Context) error {
		n, err := l.c.Active(ctx)
		if err == nil {
			r.Active = &n
		}
		return err
	}); err != nil {
		if _, ok := errors.AsType[*execute.RemoteError](err); ok {
			l.failed("", "asking which NameNode is ACTIVE", err)
		} else if !errors.Is(err, errCut) {
			l.find(NotSupported, Refusal, "", "%v", err) // what answers is no NameNode that the client works with
		}
		r.Cut = true // without one every other question fails in the same way
		return
	}
	l.identity(ctx)
	if err := l.ask(ctx, func(ctx context.Context) error {
		on, err := l.c.SafeMode(ctx)
		if err == nil && on {
			r.SafeMode = Yes
		} else if err == nil {
			r.SafeMode = No
		}
		return err
	}); err != nil {
		l.failed("", "asking for safe mode", err)
	}
	if r.SafeMode == Yes {
		l.find(InSafeMode, Refusal, "", "the NameNode is in safe mode: it takes no changes")
	}
	if err := l.ask(ctx, func(ctx context.Context) (err error) {
		r.Groups, err = l.c.Groups(ctx)
		return err
	}); err != nil {
		r.Groups, r.GroupsErr = nil, err
	}
	l.superuser(ctx)
	l.interval(ctx)
}

// superuser warns of a user that nothing stops. A NameNode does not tell who is one,
// but the owner of the root directory is, unless somebody gave it away.
func (l *looker) superuser(ctx context.Context) {
	var top *execute.Status
	if err := l.ask(ctx, func(ctx context.Context) (err error) {
		top, err = l.c.Stat(ctx, execute.At("/"))
		return err
	}); err != nil {
		return // a NameNode that cannot tell this will fail in what matters, too
	}
	if l.super = top.Owner == l.r.User; l.super {
		l.find(Superuser, Warning, "", "%q owns the root directory, so it is most likely the superuser, whom no permission stops", l.r.User)
	}
}

func (l *looker) interval(ctx context.Context) {
	var d execute.Defaults
	if err := l.ask(ctx, func(ctx context.Context) (err error) {
		d, err = l.c.Defaults(ctx)
		return err
	}); err != nil {
		l.failed("", "asking for the trash interval", err)
		return
	}
	t := &l.r.Trash
	t.Known, t.Interval, t.Snapshot = true, d.TrashInterval, d.SnapshotTrash
	switch {
	case l.o.Quarantine != "": // nothing goes to the trash
	case t.Interval <= 0:
		l.find(NoTrash, Refusal, "", "the NameNode has no trash: its fs.trash.interval is 0")
	case t.Interval < t.MinInterval:
		l.find(TrashTooShort, Refusal, "", "the trash keeps for %s only, and the policy asks for at least %s", Span(t.Interval), Span(t.MinInterval))
	}
}

// Span shows a length of time without parts that are zero: 24h, 1h30m.
func Span(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// plan compares what a plan says of itself with the clock and the cluster.
func (l *looker) plan() {
	p := l.o.Plan
	if p == nil {
		return
	}
	if !p.Executable {
		l.find(PlanNotExecutable, Refusal, "", "the plan says that it is not to be executed")
	}
	if !l.o.Now.Before(p.ExpiresAt) {
		l.find(PlanExpired, Refusal, "", "the plan expired at %s", p.ExpiresAt.UTC().Format(time.RFC3339))
	}
	r := l.r
	if p.ClusterID != "" && r.ClusterID != "" && p.ClusterID != r.ClusterID {
		l.find(AnchorDiffers, Refusal, "", "the plan is for the cluster with id %q, and this one has id %q", p.ClusterID, r.ClusterID)
	} else if p.NamespaceID != 0 && r.NamespaceID != 0 && p.NamespaceID != r.NamespaceID {
		l.find(AnchorDiffers, Refusal, "", "the plan is for the namespace %d, and this one is %d", p.NamespaceID, r.NamespaceID)
	}
}

// modes warns of a policy by which nothing is ever executed.
func (l *looker) modes() {
	for i := range l.o.Roots {
		if l.o.Roots[i].Execute {
			return
		}
	}
	if len(l.o.Roots) > 0 {
		l.find(OnlyObserved, Warning, "", "every root has mode observe: nothing is executed until the policy says execute")
	}
}
