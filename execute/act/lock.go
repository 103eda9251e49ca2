package act

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"fsweep/execute"
	"fsweep/proto/journal"
	"fsweep/proto/planfile"
)

// Names in the lock directory.
const (
	lockName   = "LOCK"
	doneName   = "done"
	brokenName = "broken"
	newPrefix  = "new-"
	lockMode   = 0o755 // everybody may see who has it
)

// held is a lock that this process has.
type held struct {
	id     uint64 // 0: none
	dir    uint64
	holder string
}

func (a *actor) lockDir() string { return string(a.p.Plan.Header.LockDir.Path) }

func (a *actor) lockPath() string { return path.Join(a.lockDir(), lockName) }

// Holder is the name that a process has in a lock: who, where, since when (ms since
// 1970), for which plan. It has no character that a path cannot have.
func (a *actor) holder() string {
	p := a.p.Process
	clean := func(s string) string {
		return strings.Map(func(r rune) rune {
			switch {
			case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("-_.", r):
				return r
			}
			return '_'
		}, s[:min(len(s), 64)])
	}
	return fmt.Sprintf("%s@%s.%d.%d.%s", clean(p.User), clean(p.Host), p.PID, a.now(), a.digest()[:12])
}

// lockDirectory demands that the lock directory is the one of the plan.
func (a *actor) lockDirectory(ctx context.Context) (*execute.Status, error) {
	s, err := a.directory(ctx, "lock directory", a.lockDir())
	if err != nil {
		return nil, err
	}
	if want := a.p.Plan.Header.LockDir.InodeID; want != 0 && want != s.ID {
		return nil, refuse("lock-dir-changed", "the lock directory %q is not the one that the plan knows", a.lockDir())
	}
	return s, nil
}

// mark gives the path that says that the plan was executed.
func (a *actor) mark() string { return path.Join(a.lockDir(), doneName, a.digest()) }

// lockFree looks, before anything is changed, whether the lock can be had. A plan that was
// executed is refused, unless a journal goes on with it.
func (a *actor) lockFree(ctx context.Context, again bool) error {
	if _, err := a.lockDirectory(ctx); err != nil {
		return err
	}
	if !again {
		if err := a.notExecuted(ctx); err != nil {
			return err
		}
	}
	return a.unheld(ctx)
}

// notExecuted demands that no process carried the plan out, on any host: neither to its end, which the
// mark says, nor up to some point at which it died and its lock was taken away.
func (a *actor) notExecuted(ctx context.Context) error {
	s, err := a.stat(ctx, execute.At(a.mark()))
	if err != nil {
		return err
	}
	if s != nil {
		return refuse("executed", "the plan was executed already: %q exists; resume its journal, or make a new plan", a.mark())
	}
	dir := path.Join(a.lockDir(), brokenName)
	names, err := a.names(ctx, dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		// <digest>-…, or <holder>-<time>, where the holder ends in the beginning of the digest.
		if strings.HasPrefix(name, a.digest()) || strings.Contains(name, "."+a.digest()[:12]+"-") {
			return refuse("executed", "a process that carried the plan out lost its lock, %q; resume its journal, or make a new plan", path.Join(dir, name))
		}
	}
	return nil
}

// names gives all names in a directory; none if it is not there.
func (a *actor) names(ctx context.Context, dir string) ([]string, error) {
	var names []string
	var after []byte
	for {
		var page *execute.Page
		err := a.insist(ctx, func(ctx context.Context) (err error) {
			page, err = a.p.Look.List(ctx, execute.At(dir), after)
			return err
		})
		if errors.Is(err, execute.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for i := range page.Entries {
			after = page.Entries[i].Name
			names = append(names, string(after))
		}
		if page.Left == 0 || len(page.Entries) == 0 {
			return names, nil
		}
	}
}

// NotExecuted gives a [*Refusal] if the plan was carried out before, or in part. It changes nothing; of
// Params it needs Look, Clock and Plan.
func NotExecuted(ctx context.Context, p *Params) error { return newActor(p).notExecuted(ctx) }

func (a *actor) unheld(ctx context.Context) error {
	s, err := a.stat(ctx, execute.At(a.lockPath()))
	if err != nil || s == nil {
		return err
	}
	holder, err := a.holderOf(ctx, s.ID)
	if err != nil || holder == "" { // that it is held is enough
		holder = nameless
	}
	return refuse("locked", "%s holds the lock %q", holder, a.lockPath())
}

// holderOf gives the name of who has a lock, "" if there is none in it.
func (a *actor) holderOf(ctx context.Context, id uint64) (string, error) {
	var page *execute.Page
	err := a.insist(ctx, func(ctx context.Context) (err error) {
		page, err = a.p.Look.List(ctx, execute.ByID(id), nil)
		return err
	})
	if errors.Is(err, execute.ErrNotDirectory) { // a file has the name of the lock
		return "", nil
	}
	if err != nil || len(page.Entries) == 0 {
		return "", err
	}
	return string(page.Entries[0].Name), nil
}

// take takes the lock: a directory with the holder's name in it gets the name LOCK, which
// only one can have.
func (a *actor) take(ctx context.Context, again bool) error {
	dir, err := a.lockDirectory(ctx)
	if err != nil {
		return err
	}
	made := path.Join(a.lockDir(), newPrefix+a.p.Random())
	holder := a.holder()
	if err := a.mkdirs(ctx, planfile.Path(path.Join(made, holder)), lockMode); err != nil {
		return err
	}
	s, err := a.directory(ctx, "new lock", made)
	if err != nil {
		return err
	}
	i := &journal.Intent{
		Purpose: journal.PurposeLock, Path: planfile.Path(made), InodeID: s.ID, ParentID: dir.ID,
		Target: planfile.Path(a.lockPath()), Context: a.context(),
	}
	f, err := a.carry(ctx, i, 0, before{})
	if err != nil {
		return err
	}
	if !f.moved {
		if err := a.close(i, f); err != nil {
			return err
		}
		if err := a.unheld(ctx); err != nil {
			return err
		}
		return anomaly(f.err, "the lock %q cannot be taken", a.lockPath())
	}
	a.lock = held{id: s.ID, dir: dir.ID, holder: holder}
	a.watch(Event{Kind: Locked, Path: planfile.Path(a.lockPath()), Message: holder})
	if again {
		return nil
	}
	return a.notExecuted(ctx) // another host may have ended between the look and the lock
}

// holds demands that the lock is still this process's.
func (a *actor) holds(ctx context.Context) error {
	s, err := a.stat(ctx, execute.At(a.lockPath()))
	if err != nil {
		return err
	}
	if s == nil || s.ID != a.lock.id {
		a.lock = held{}
		return anomaly(ErrLockLost, "the lock %q is not this process's any more", a.lockPath())
	}
	return nil
}

// release gives the lock back, under a name that tells what became of it. Nothing is
// done if it is not held, or if something is not settled.
func (a *actor) release(ctx context.Context, executed bool, what string) error {
	if pending, _ := a.j.State().Pending(); a.lock.id == 0 || pending != nil {
		return nil
	}
	if err := a.holds(ctx); err != nil {
		return err
	}
	name := a.digest()
	if !executed {
		name += "-" + what + "-" + strconv.FormatInt(a.now(), 10)
	} else if s, err := a.stat(ctx, execute.At(a.mark())); err != nil {
		return err
	} else if s != nil { // the mark of the process that this one went on for
		name += "-resumed-" + strconv.FormatInt(a.now(), 10)
	}
	if err := a.putAway(ctx, a.lock.id, a.lock.dir, doneName, name); err != nil {
		return err
	}
	a.watch(Event{Kind: Unlocked, Path: planfile.Path(a.lockPath()), Message: a.lock.holder})
	a.lock = held{}
	return nil
}

// putAway moves a lock into a directory of the lock directory.
func (a *actor) putAway(ctx context.Context, id, parent uint64, in, name string) error {
	dir, err := a.lockDirectory(ctx)
	if err != nil {
		return err
	}
	to := path.Join(a.lockDir(), in)
	s, err := a.stat(ctx, execute.At(to))
	if err != nil {
		return err
	}
	if s == nil { // as the lock directory: all who share the one share the other
		if err := a.mkdirs(ctx, planfile.Path(to), dir.Permission); err != nil {
			return err
		}
	}
	i := &journal.Intent{
		Purpose: journal.PurposeUnlock, Path: planfile.Path(a.lockPath()), InodeID: id, ParentID: parent,
		Target: planfile.Path(path.Join(to, name)), Context: a.context(),
	}
	f, err := a.carry(ctx, i, 0, before{})
	if err != nil || f.moved {
		return err
	}
	if err := a.close(i, f); err != nil {
		return err
	}
	return anomaly(f.err, "the lock %q cannot be moved to %q", a.lockPath(), i.Target)
}
