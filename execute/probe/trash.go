package probe

import (
	"context"
	"path"

	"fsweep/execute"
)

// trashOf looks at the trash that receives what is at a path, once for each trash.
func (l *looker) trashOf(ctx context.Context, p string) (*TrashRoot, error) {
	var t *execute.TrashRoot
	if err := l.ask(ctx, func(ctx context.Context) (err error) {
		t, err = l.c.TrashRoot(ctx, p)
		return err
	}); err != nil {
		return nil, err
	}
	for _, seen := range l.trash {
		if seen.Path == t.Path {
			return seen, nil
		}
	}
	tr := &TrashRoot{TrashRoot: *t, Place: l.place(ctx, TrashPlace, t.Path)}
	l.trash = append(l.trash, tr)
	tr.Above = tr.Place.Exists
	switch {
	case tr.Above == No:
		l.newTrash(ctx, tr)
	case tr.Place.Usable == Yes:
		l.current(ctx, tr)
	}
	in := t.Path
	if tr.Place.Exists != Yes {
		in = path.Dir(in) // of what does not exist there is no zone
	}
	tr.Zone, tr.ZoneKnown = l.zone(ctx, in)
	return tr, nil
}

// currentName is the directory in a trash that receives until the next checkpoint.
const currentName = "Current"

// current looks at what receives in a trash. Somebody else may have made it, and what is
// moved needs it whatever the trash itself allows.
func (l *looker) current(ctx context.Context, tr *TrashRoot) {
	in := l.place(ctx, TrashPlace, tr.Path+"/"+currentName)
	if in.Exists != No && in.Usable != Yes {
		tr.Place.Usable, tr.Place.Reason = in.Usable, in.Reason
	}
}

// newTrash asks whether a trash that does not exist yet could be made. Only its last
// component is ever made: whatever is made above would get the permission of a trash,
// 0700, and lock everybody else out. So the home must be there, or the directory in
// which a zone keeps the trash of all users.
func (l *looker) newTrash(ctx context.Context, tr *TrashRoot) {
	in := l.place(ctx, TrashPlace, path.Dir(tr.Path))
	tr.Above, tr.Place.Usable, tr.Place.Reason = in.Exists, in.Usable, in.Reason
}

// judgeTrash says what is wrong with trashes: of the home for all, if all roots use it
// or there are none; else for the roots that use it.
func (l *looker) judgeTrash() {
	l.r.Trash.Roots = l.trash
	if l.r.Cut {
		return
	}
	using := 0
	for _, t := range l.trash {
		using += len(t.roots)
	}
	for _, t := range l.trash {
		if len(t.roots) == using { // all, or the home's where there is nothing to be moved
			l.unusable(t, "")
			continue
		}
		for _, root := range t.roots {
			l.unusable(t, root)
		}
	}
}

// unusable adds what is wrong with a trash, as a finding about a root.
func (l *looker) unusable(t *TrashRoot, root string) {
	before := len(l.r.Findings)
	switch above := path.Dir(t.Path); {
	case t.Above == No && t.Kind == execute.HomeTrash:
		l.find(NoHome, Refusal, above, "the home directory of %q does not exist, and the trash is in it", l.r.User)
	case t.Above == No:
		l.find(TrashNotMade, Refusal, above, "the directory for the trash of all users does not exist")
	case t.Place.Usable == No:
		l.find(TrashNotUsable, Refusal, t.Path, "%q cannot move anything into it: %s", l.r.User, t.Place.Reason)
	case t.Place.Usable == Unknown:
		l.find(TrashNotUsable, Refusal, t.Path, "it is not known whether %q can move anything into it: %s", l.r.User, t.Place.Reason)
	}
	for i := range l.r.Findings[before:] {
		l.r.Findings[before+i].Root = root
	}
}
