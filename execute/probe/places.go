package probe

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"fsweep/execute"
)

// stat looks at a path: whether it exists, and as what.
func (l *looker) stat(ctx context.Context, p string) (exists Answer, st *execute.Status, why string) {
	err := l.ask(ctx, func(ctx context.Context) (err error) {
		st, err = l.c.Stat(ctx, execute.At(p))
		return err
	})
	if err != nil {
		st = nil
	}
	exists, why = answer(err, execute.ErrNotFound, execute.ErrNotDirectory)
	return exists, st, why
}

// writable asks whether the user may make and rename entries in a directory.
func (l *looker) writable(ctx context.Context, dir execute.Ref) (Answer, string) {
	return answer(l.ask(ctx, func(ctx context.Context) error {
		return l.c.Access(ctx, dir, execute.WriteAccess|execute.ExecuteAccess)
	}), execute.ErrPermission)
}

// place looks at a directory in which entries would be made.
func (l *looker) place(ctx context.Context, purpose Purpose, p string) Place {
	pl := Place{Purpose: purpose, Path: p}
	pl.Exists, pl.Status, pl.Reason = l.stat(ctx, p)
	switch {
	case pl.Exists != Yes:
	case pl.Status.Kind != execute.Directory:
		pl.Usable, pl.Reason = No, "it is not a directory"
	default:
		pl.Usable, pl.Reason = l.writable(ctx, execute.ByID(pl.Status.ID))
	}
	return pl
}

func (l *looker) zone(ctx context.Context, p string) (zone string, known bool) {
	err := l.ask(ctx, func(ctx context.Context) (err error) {
		zone, err = l.c.EncryptionZone(ctx, p)
		return err
	})
	return zone, err == nil
}

// places looks at what the policy names outside of its roots.
func (l *looker) places(ctx context.Context) {
	if l.o.LockDir != "" {
		l.lockDir(ctx)
	}
	if q := l.o.Quarantine; q != "" {
		p := l.place(ctx, Quarantine, q)
		l.required(p, QuarantineMissing, QuarantineUseless)
		l.quarantineZone, l.quarantineKnown = l.zone(ctx, q)
	}
	for _, h := range l.o.Holds {
		p := Place{Purpose: Hold, Path: h}
		p.Exists, p.Status, p.Reason = l.stat(ctx, h)
		l.r.Places = append(l.r.Places, p)
		switch p.Exists {
		case Yes:
			l.find(Held, Refusal, h, "it exists, so nothing is executed")
		case Unknown:
			l.unseen(HoldUnknown, h, p.Reason)
		case No:
		}
	}
	for _, a := range l.o.Anchors {
		l.anchor(ctx, a)
	}
}

// unseen refuses where a place cannot be seen that may forbid everything.
func (l *looker) unseen(code Code, p, why string) {
	if !l.r.Cut {
		l.find(code, Refusal, p, "it is not known whether it exists: %s", why)
	}
}

// required notes a directory that must be there and usable.
func (l *looker) required(p Place, missing, useless Code) {
	l.r.Places = append(l.r.Places, p)
	switch {
	case p.Exists == No:
		l.find(missing, Refusal, p.Path, "it does not exist")
	case p.Usable == No:
		l.find(useless, Refusal, p.Path, "%q cannot make anything in it: %s", l.r.User, p.Reason)
	case p.Usable == Unknown && !l.r.Cut:
		l.find(useless, Refusal, p.Path, "it is not known whether %q can make anything in it: %s", l.r.User, p.Reason)
	}
}

// lockName is the directory that exists in the lock directory while an executor is
// at work; what is in it names the holder.
const lockName = "LOCK"

func (l *looker) lockDir(ctx context.Context) {
	p := l.place(ctx, LockDir, l.o.LockDir)
	l.required(p, LockDirMissing, LockDirNotUsable)
	if p.Exists != Yes || p.Status.Kind != execute.Directory {
		return
	}
	for _, name := range []string{"/done", "/broken"} { // into which a lock is moved when it is given back
		if p := l.place(ctx, LockDir, strings.TrimSuffix(l.o.LockDir, "/")+name); p.Exists == Yes {
			l.required(p, LockDirMissing, LockDirNotUsable)
		}
	}
	l.executed(ctx)
	lock := strings.TrimSuffix(l.o.LockDir, "/") + "/" + lockName
	exists, _, why := l.stat(ctx, lock)
	switch exists {
	case No:
		return
	case Unknown:
		l.unseen(LockDirNotUsable, lock, why)
		return
	case Yes:
	}
	l.r.Lock = []string{}
	if err := l.ask(ctx, func(ctx context.Context) error {
		page, err := l.c.List(ctx, execute.At(lock), nil)
		for i := range pageEntries(page) {
			l.r.Lock = append(l.r.Lock, string(page.Entries[i].Name))
		}
		return err
	}); err != nil {
		l.find(Locked, Refusal, lock, "somebody executes, or did and did not end: the lock is taken")
		return
	}
	l.find(Locked, Refusal, lock, "somebody executes, or did and did not end: the lock is held by %s", quoted(l.r.Lock))
}

// executed looks for the mark that a run of the plan leaves in the lock directory.
func (l *looker) executed(ctx context.Context) {
	if l.o.Plan == nil || l.o.Plan.Mark == "" {
		return
	}
	mark := l.o.Plan.Mark
	switch exists, _, why := l.stat(ctx, mark); exists {
	case Yes:
		l.find(PlanExecuted, Refusal, mark, "the plan was carried out before")
	case Unknown:
		l.unseen(LockDirNotUsable, mark, why)
	case No:
	}
}

func pageEntries(p *execute.Page) []execute.Status {
	if p == nil {
		return nil
	}
	return p.Entries
}

func quoted(names []string) string {
	if len(names) == 0 {
		return "nobody"
	}
	var b strings.Builder
	for i, n := range names {
		if i == 5 {
			b.WriteString(", …")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(n))
	}
	return b.String()
}

func (l *looker) anchor(ctx context.Context, a AnchorOptions) {
	p := Place{Purpose: Anchor, Path: a.Path, WantID: a.ID}
	p.Exists, p.Status, p.Reason = l.stat(ctx, a.Path)
	l.r.Places = append(l.r.Places, p)
	switch {
	case p.Exists == Yes && p.Status.ID != a.ID:
		l.find(AnchorDiffers, Refusal, a.Path, "it is inode %d, and in the plan's image it is inode %d: another cluster, or another directory", p.Status.ID, a.ID)
	case p.Exists == No:
		l.find(AnchorDiffers, Refusal, a.Path, "it does not exist, and in the plan's image it is inode %d", a.ID)
	case p.Exists == Unknown:
		l.unseen(AnchorUnknown, a.Path, p.Reason)
	}
}

// above gives a path and all that are above it, from the top, without "/".
func above(p string) []string {
	var all []string
	for ; p != "/" && p != "."; p = path.Dir(p) {
		all = append(all, p)
	}
	slices.Reverse(all)
	return all
}
