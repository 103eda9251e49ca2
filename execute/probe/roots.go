package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fsweep/execute"
)

// maxParents is how many directories of a root are asked about. It bounds what a probe
// costs the NameNode; jobs beyond are no different in kind.
const maxParents = 500

// root looks at one root.
func (l *looker) root(ctx context.Context, r *Root) {
	r.Exists, r.Status, r.Reason = l.stat(ctx, r.Path)
	switch {
	case l.r.Cut:
		return
	case r.Exists == No:
		l.about(r, RootMissing, Refusal, r.Path, "it does not exist")
		return
	case r.Exists == Unknown:
		l.about(r, RootNotSeen, Refusal, r.Path, "it cannot be looked at: %s", r.Reason)
		return
	case r.Status.Kind != execute.Directory:
		l.about(r, RootNoDirectory, Refusal, r.Path, "it is not a directory")
		return
	case r.WantID != 0 && r.Status.ID != r.WantID:
		l.about(r, RootReplaced, Refusal, r.Path, "it is inode %d, and in the plan's image it is inode %d", r.Status.ID, r.WantID)
	}
	l.snapshots(ctx, r)
	r.Zone, r.ZoneKnown = l.zone(ctx, r.Path)
	l.receiver(ctx, r)
	l.parents(ctx, r)
}

// about is find for what concerns one root.
func (l *looker) about(r *Root, code Code, level Level, path, format string, args ...any) {
	l.find(code, level, path, format, args...)
	l.r.Findings[len(l.r.Findings)-1].Root = r.Path
}

// snapshots looks for snapshottable directories at and above a root.
func (l *looker) snapshots(ctx context.Context, r *Root) {
	for _, p := range above(r.Path) {
		st := r.Status
		if p != r.Path {
			_, st, _ = l.stat(ctx, p) // what cannot be seen cannot be told
		}
		if st != nil && st.Snapshottable {
			r.Snapshottable = append(r.Snapshottable, p)
		}
	}
	if n := len(r.Snapshottable); n > 0 {
		l.about(r, BelowSnapshots, Warning, r.Path, "%s is snapshottable: what its snapshots show is not freed by a clean-up", r.Snapshottable[n-1])
	}
}

// receiver looks at where the items of a root would go.
func (l *looker) receiver(ctx context.Context, r *Root) {
	to, zone, known := l.o.Quarantine, l.quarantineZone, l.quarantineKnown
	if to == "" {
		t, err := l.trashOf(ctx, r.Path+"/item") // that of what is in it, also if it is a zone itself
		if err != nil {
			l.unread(r, "which trash receives from it is not known", err)
			return
		}
		t.roots = append(t.roots, r.Path)
		r.TrashRoot, to, zone, known = &t.TrashRoot, t.Path, t.Zone, t.ZoneKnown
	}
	if r.ZoneKnown && known && zone != r.Zone {
		l.about(r, TrashElsewhere, Refusal, r.Path, "it is in %s and %s is in %s: HDFS moves nothing from one into the other", zoneText(r.Zone), to, zoneText(zone))
	}
}

// unread notes, once for a root, that the user cannot see it well enough. Errors that
// have nothing to do with the user are those of the cluster.
func (l *looker) unread(r *Root, what string, err error) {
	switch {
	case errors.Is(err, errCut):
	case !errors.Is(err, execute.ErrPermission):
		l.failed(r.Path, what, err)
	case !r.blind:
		r.blind = true
		l.about(r, RootNotSeen, Refusal, r.Path, "%s: %s", what, reason(err))
	}
}

func zoneText(zone string) string {
	if zone == "" {
		return "no encryption zone"
	}
	return "the encryption zone " + zone
}

// sticky is the bit of a permission that lets only owners move and delete.
const sticky = 0o1000

// parents asks about the directories out of which the units of a root are moved. HDFS
// wants WRITE and EXECUTE there, and with a sticky bit that the user owns it or what
// is moved.
func (l *looker) parents(ctx context.Context, r *Root) {
	grouped := r.Layout == "job-run" || r.Layout == "savepoints"
	inRoot := r.Layout != "job-run"
	if !grouped {
		r.Listed = true
		l.parent(ctx, r, r.Status, r.Path)
		l.judge(r)
		return
	}
	var jobs []execute.Status
	flat := false
	if len(r.Jobs) > 0 {
		jobs = l.named(ctx, r)
	}
	err := l.entries(ctx, r, func(e *execute.Status) {
		switch name := string(e.Name); {
		case r.Layout == "savepoints" && strings.HasPrefix(name, "savepoint-"):
			flat = true
		case e.Kind == execute.Directory && len(r.Jobs) == 0 && r.selects(name):
			jobs = append(jobs, *e)
		}
	})
	if err != nil {
		l.unread(r, "it cannot be listed", err)
		return
	}
	r.Listed = true
	r.More = r.More && len(r.Jobs) == 0 // those that are named were all looked at
	if inRoot && (flat || len(jobs) == 0) {
		l.parent(ctx, r, r.Status, r.Path)
	}
	for i := range jobs {
		if r.Parents >= maxParents {
			r.More = true
			break
		}
		l.parent(ctx, r, &jobs[i], r.Path+"/"+string(jobs[i].Name))
	}
	l.judge(r)
}

// selects tells whether a first-level name is one that the policy may plan in.
func (r *Root) selects(name string) bool {
	return !slices.Contains(r.Excluded, name) && (len(r.Jobs) == 0 || slices.Contains(r.Jobs, name))
}

// named gives the jobs that the policy names, wherever they stand in a large root. fsweep
// plans nothing at all while one of them does not exist.
func (l *looker) named(ctx context.Context, r *Root) (jobs []execute.Status) {
	for _, name := range r.Jobs {
		if !r.selects(name) {
			continue
		}
		if len(jobs) == maxParents+1 {
			break // so many that parents says that there are more
		}
		p := r.Path + "/" + name
		switch exists, st, why := l.stat(ctx, p); {
		case l.r.Cut:
			return jobs
		case exists == No:
			l.about(r, JobMissing, Warning, p, "the policy names it under jobs, and it does not exist")
		case exists == Unknown && !r.blind:
			r.blind = true
			l.about(r, RootNotSeen, Refusal, p, "it cannot be looked at: %s", why)
		case st == nil:
		case st.Kind == execute.Directory:
			st.Name = []byte(name)
			jobs = append(jobs, *st)
		}
	}
	return jobs
}

// entries goes through the first pages of a root, as far as directories are asked
// about.
func (l *looker) entries(ctx context.Context, r *Root, each func(*execute.Status)) error {
	var after []byte
	for seen := 0; ; {
		var page *execute.Page
		if err := l.ask(ctx, func(ctx context.Context) (err error) {
			page, err = l.c.List(ctx, execute.ByID(r.Status.ID), after)
			return err
		}); err != nil {
			return err
		}
		for i := range page.Entries {
			each(&page.Entries[i])
		}
		seen += len(page.Entries)
		if page.Left == 0 || len(page.Entries) == 0 {
			return nil
		}
		if seen >= 2*maxParents {
			r.More = true
			return nil
		}
		after = page.Entries[len(page.Entries)-1].Name
	}
}

// parent asks about one directory.
func (l *looker) parent(ctx context.Context, r *Root, st *execute.Status, p string) {
	r.Parents++
	can, why := l.writable(ctx, execute.ByID(st.ID))
	if can == Yes && st.Permission&sticky != 0 && st.Owner != l.r.User && !l.super {
		r.Sticky++
		r.StickyFirst = cmp.Or(r.StickyFirst, p)
	}
	switch can {
	case Yes:
		r.Movable++
	case Unknown:
		r.Unknown++
	case No:
		if r.Refusing == "" {
			r.Refusing, r.Reason = p, why
		}
	}
}

// judge says what the answers of a root's directories mean.
func (l *looker) judge(r *Root) {
	refused := r.Parents - r.Movable - r.Unknown
	switch {
	case l.r.Cut:
	case refused > 0 && refused == r.Parents:
		l.about(r, RootNotMovable, Refusal, r.Refusing, "%q may not move anything out of it%s: %s", l.r.User, others(refused-1), r.Reason)
	case refused > 0:
		l.about(r, PartNotMovable, Partly, r.Refusing, "%q may not move anything out of it%s, %d of %d directories: %s", l.r.User, others(refused-1), refused, r.Parents, r.Reason)
	}
	if r.Sticky > 0 {
		l.about(r, StickyBit, Warning, r.StickyFirst, "it has the sticky bit and is not of %q, who may move only what is their own out of it%s", l.r.User, others(r.Sticky-1))
	}
	if r.Parents == 0 && r.More && !l.r.Cut {
		l.about(r, MovableUnknown, Warning, r.Path, "no job is among its first entries, and not all of them were looked at")
	}
	if r.Unknown > 0 && !l.r.Cut {
		l.about(r, MovableUnknown, Warning, r.Path, "of %d of its directories it is not known whether %q may move anything out of them", r.Unknown, l.r.User)
	}
}

func others(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and of %d more", n)
}
