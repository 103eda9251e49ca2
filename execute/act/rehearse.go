package act

import (
	"context"
	"path"

	"fsweep/execute"
	"fsweep/proto/journal"
	"fsweep/proto/planfile"
)

// rehearsal is the name of the directory that is trashed and restored.
const rehearsal = "fsweep-rehearsal"

// Rehearse trashes an empty directory of its own and restores it: what a run and an undo
// do, with nothing to lose. It stands in a directory that exists, which the trash of the
// user serves, and remains there, as nothing here deletes; the next rehearsal uses
// it again. There is no lock.
func Rehearse(ctx context.Context, p *Params, in planfile.Path) (*Result, error) {
	a := newActor(p)
	at := planfile.Path(path.Join(string(in), rehearsal))
	s, err := a.mayRehearse(ctx, in, at)
	if err != nil {
		return notBegun(ctx, err)
	}
	if err := a.create(ctx, &journal.Header{Command: journal.CommandRehearse}); err != nil {
		return notBegun(ctx, err)
	}
	act := context.WithoutCancel(ctx)
	if s == nil {
		err = a.mkdirs(act, at, trashMode)
	}
	if err == nil {
		err = a.thereAndBack(act, at)
	}
	res, err := a.finish(act, err, false, "", 1)
	if err == nil {
		res.ExitCode = ExitDone
	}
	return res, err
}

func (a *actor) mayRehearse(ctx context.Context, in, at planfile.Path) (*execute.Status, error) {
	if _, err := a.directory(ctx, "directory for the rehearsal", string(in)); err != nil {
		return nil, err
	}
	s, err := a.stat(ctx, execute.At(string(at)))
	if err != nil || s == nil {
		return nil, err
	}
	if s.Kind != execute.Directory || s.Children != 0 {
		return nil, refuse("not-empty", "%q is not an empty directory", at)
	}
	return s, nil
}

func (a *actor) thereAndBack(ctx context.Context, at planfile.Path) error {
	s, err := a.directory(ctx, "directory", string(at))
	if err != nil {
		return err
	}
	above, err := a.stat(ctx, execute.ParentOf(s.ID))
	if err != nil || above == nil {
		return anomaly(err, "the directory above %q cannot be seen", at)
	}
	t, err := a.target(ctx, at)
	if err != nil {
		return err
	}
	i := &journal.Intent{
		Purpose: journal.PurposeMove, Path: at, InodeID: s.ID, ParentID: above.ID, Target: t.path, TrashRoot: t.trashRoot,
		Inodes: 1, Context: a.context(),
	}
	f, err := a.carry(ctx, i, t.into, before{})
	if err != nil {
		return err
	}
	if !f.moved {
		if err := a.close(i, f); err != nil {
			return err
		}
		return anomaly(f.err, "%q was not moved to %q", at, t.path)
	}
	a.watch(Event{Kind: ItemDone, Path: at, Target: t.path})
	v, err := a.back(ctx, movedBy(i, f.chain), false)
	switch {
	case err != nil:
		return err
	case v.Rule != "":
		return anomaly(nil, "%q was not moved back: %s", at, v.Rule)
	}
	a.watch(Event{Kind: ItemUndone, Path: at})
	return nil
}
