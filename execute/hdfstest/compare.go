package hdfstest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"fsweep/execute"
)

// Compare does the same random operations to two clusters of the same version, in a
// directory of their own, and gives what they answered differently: the fake and real
// NameNodes must agree also where several refusals compete. All depends on the seed
// alone. After the first difference it stops, as the namespaces may differ then.
func Compare(t testing.TB, seed uint64, steps int, a, b Cluster) []string {
	t.Helper()
	c := &comparison{
		TB: t, rng: rand.New(rand.NewPCG(seed, 0)), dir: fmt.Sprintf("/compare-%d", seed),
		ids: make(map[uint64]uint64), snapshots: make(map[uint64][]string), quotas: make(map[uint64]bool), allowed: make(map[uint64]bool),
	}
	for i, cluster := range []Cluster{a, b} {
		c.sides[i].admin = cluster.Admin()
		c.sides[i].users = map[string]Ports{}
		for _, user := range []string{owner, foreigner, root} {
			c.sides[i].users[user] = cluster.As(t, user)
		}
		c.sides[i].admin.Mkdir(t, c.dir, owner, 0o777)
		st, err := c.sides[i].users[root].Stat(c.ctx(), execute.At(c.dir))
		if err != nil {
			t.Fatal(err)
		}
		c.tops[i] = st.ID
	}
	c.ids[c.tops[0]] = c.tops[1] // not among the known: nothing else is asked about it by id
	c.zones = a.Can().EncryptionZones && b.Can().EncryptionZones
	for n := range steps {
		c.look()
		if len(c.differences) > 0 {
			break
		}
		c.step = fmt.Sprintf("step %d: ", n)
		if c.rng.IntN(5) < 2 {
			c.change()
		} else {
			c.ask()
		}
	}
	if len(c.differences) > 0 {
		t.Logf("seed %d, what was done before:\n%s", seed, strings.Join(c.history, "\n"))
	}
	return c.differences
}

type comparison struct {
	testing.TB
	rng         *rand.Rand
	dir, step   string
	sides       [2]side
	tops        [2]uint64 // ids of the directory
	zones       bool
	tree        []found           // what stands there, on both sides
	ids         map[uint64]uint64 // of the second side, by those of the first; dead ones too
	known       []uint64          // the keys, in the order in which they were seen
	snapshots   map[uint64][]string
	quotas      map[uint64]bool
	allowed     map[uint64]bool // snapshots; Hadoop 2 does not show it
	history     []string
	differences []string
}

type side struct {
	admin Admin
	users map[string]Ports
	sent  []sent
}

type sent struct {
	move execute.Move
	call execute.Call
}

type found struct {
	path string
	execute.Status
}

func (c *comparison) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	c.Cleanup(cancel)
	return ctx
}

func (c *comparison) differ(format string, args ...any) {
	c.differences = append(c.differences, c.step+fmt.Sprintf(format, args...))
}

// answer is an outcome that can be compared.
func answer(err error) string {
	var remote *execute.RemoteError
	var kinds []string
	for _, kind := range []error{
		execute.ErrNotFound, execute.ErrExists, execute.ErrNoParent, execute.ErrNotDirectory, execute.ErrPermission, execute.ErrSafeMode,
		execute.ErrQuota, execute.ErrSnapshot, execute.ErrSymlink, execute.ErrUnsupported, execute.ErrInvalid, execute.ErrBudget,
		execute.ErrUnavailable, execute.ErrUnknown, execute.ErrChanged, execute.ErrUnreadable,
	} {
		if errors.Is(err, kind) {
			kinds = append(kinds, kind.Error())
		}
	}
	switch {
	case err == nil:
		return "success"
	case errors.As(err, &remote):
		kinds = append(kinds, remote.Class)
	case len(kinds) == 0:
		kinds = append(kinds, "another error")
	}
	return strings.Join(kinds, ", ")
}

// both compares errors; it tells whether both sides succeeded.
func (c *comparison) both(what string, errs [2]error) bool {
	if !strings.HasPrefix(what, "list") {
		c.history = append(c.history, c.step+what+": "+answer(errs[0]))
	}
	if x, y := answer(errs[0]), answer(errs[1]); x != y {
		c.differ("%s:\n  %s: %v\n  %s: %v", what, x, errs[0], y, errs[1])
		return false
	}
	return errs[0] == nil
}

// alike compares statuses, and learns which ids belong together.
func (c *comparison) alike(what string, a, b *execute.Status) {
	if id, ok := c.ids[a.ID]; ok && id != b.ID {
		c.differ("%s: inode %d was %d on the second side, and is %d", what, a.ID, id, b.ID)
	} else if !ok {
		c.ids[a.ID] = b.ID
		c.known = append(c.known, a.ID)
	}
	x, y := *a, *b
	for _, st := range []*execute.Status{&x, &y} {
		st.ID, st.MTimeMs, st.ATimeMs, st.Replication, st.BlockSize = 0, 0, 0, 0, 0
	}
	if !equalStatus(&x, &y) {
		c.differ("%s:\n  %+v\n  %+v", what, x, y)
	}
}

// look compares the trees.
func (c *comparison) look() {
	c.tree = nil
	c.walk(c.dir)
}

func (c *comparison) walk(dir string) {
	var pages [2]*execute.Page
	var errs [2]error
	for i := range c.sides {
		pages[i], errs[i] = c.sides[i].users[root].List(c.ctx(), execute.At(dir), nil)
	}
	if !c.both("list of "+dir, errs) {
		return
	}
	if x, y := names(pages[0].Entries), names(pages[1].Entries); x != y {
		c.differ("%s holds %s, on the second side %s", dir, x, y)
		return
	}
	for i := range pages[0].Entries {
		e := pages[0].Entries[i]
		at := path.Join(dir, string(e.Name))
		c.alike(at, &e, &pages[1].Entries[i])
		c.tree = append(c.tree, found{at, e})
		if e.Kind == execute.Directory {
			c.walk(at)
		}
	}
}

// change does something as the superuser that cannot be refused.
func (c *comparison) change() {
	dirs := c.pick(func(f found) bool { return f.Kind == execute.Directory })
	dirs = append(dirs, found{path: c.dir, Status: execute.Status{Children: 1}})
	dir := dirs[c.rng.IntN(len(dirs))]
	fresh := path.Join(dir.path, c.name())
	old, taken := c.at(fresh)
	room := !c.bounded(fresh)
	do := func(what string, f func(Admin)) {
		c.history = append(c.history, c.step+what)
		for i := range c.sides {
			f(c.sides[i].admin)
		}
	}
	switch c.rng.IntN(14) {
	case 0, 1, 2:
		if !taken && room || old.Kind == execute.Directory {
			user, permission := c.user(), c.permission()
			do(fmt.Sprint("Mkdir ", fresh, user, permission), func(a Admin) { a.Mkdir(c, fresh, user, permission) })
		}
	case 3, 4, 5:
		if !taken && room {
			user := c.user()
			do(fmt.Sprint("Put ", fresh, user), func(a Admin) { a.Put(c, fresh, user, nil) })
		}
	case 6:
		if !taken && room {
			target := c.path()
			do(fmt.Sprint("Symlink ", fresh, target), func(a Admin) { a.Symlink(c, fresh, target) })
		}
	case 7:
		if taken && !c.held(fresh) {
			do(fmt.Sprint("Delete ", fresh), func(a Admin) { a.Delete(c, fresh) })
		}
	default:
		c.attribute(dir, do)
	}
}

// attribute changes a directory, or what makes it special.
func (c *comparison) attribute(dir found, do func(string, func(Admin))) {
	top := dir.path == c.dir
	switch c.rng.IntN(8) {
	case 0:
		permission := c.permission()
		do(fmt.Sprint("Chmod ", dir.path, permission), func(a Admin) { a.Chmod(c, dir.path, permission) })
	case 1:
		user := c.user()
		do(fmt.Sprint("Chown ", dir.path, user, user), func(a Admin) { a.Chown(c, dir.path, user, user) })
	case 2:
		if n := int64(c.rng.IntN(6)); !top {
			c.quotas[dir.ID] = true
			do(fmt.Sprint("SetQuota ", dir.path, n+1, -1), func(a Admin) { a.SetQuota(c, dir.path, n+1, -1) })
		}
	case 3:
		if !top {
			delete(c.quotas, dir.ID)
			do(fmt.Sprint("SetQuota ", dir.path, -1, -1), func(a Admin) { a.SetQuota(c, dir.path, -1, -1) })
		}
	case 4:
		do(fmt.Sprint("SetXAttr ", dir.path, "user.x"), func(a Admin) { a.SetXAttr(c, dir.path, "user.x", []byte(dir.path)) })
	case 5:
		if !top && !c.allowed[dir.ID] && !c.nested(dir.path) {
			c.allowed[dir.ID] = true
			do(fmt.Sprint("AllowSnapshots ", dir.path), func(a Admin) { a.AllowSnapshots(c, dir.path) })
		}
	case 6:
		all := c.snapshots[dir.ID]
		if c.allowed[dir.ID] && len(all) < 2 {
			name := fmt.Sprintf("s%d", c.rng.Uint32())
			c.snapshots[dir.ID] = append(all, name)
			do(fmt.Sprint("Snapshot ", dir.path, name), func(a Admin) { a.Snapshot(c, dir.path, name) })
		} else if len(all) > 0 {
			c.snapshots[dir.ID] = all[1:]
			do(fmt.Sprint("DeleteSnapshot ", dir.path, all[0]), func(a Admin) { a.DeleteSnapshot(c, dir.path, all[0]) })
		}
	case 7:
		if c.zones && !top && !dir.Encrypted && dir.Children == 0 && !c.allowed[dir.ID] && c.rng.IntN(3) == 0 {
			do(fmt.Sprint("EncryptionZone ", dir.path), func(a Admin) { a.EncryptionZone(c, dir.path) })
		}
	}
}

// ask uses the ports as some user.
func (c *comparison) ask() {
	user := []string{owner, owner, owner, foreigner, root, root}[c.rng.IntN(6)]
	switch c.rng.IntN(8) {
	case 0, 1, 2, 3:
		c.rename(user)
	case 4:
		at, permission := c.path(), c.permission()
		var errs [2]error
		for i := range c.sides {
			errs[i] = c.sides[i].users[user].Mkdirs(c.ctx(), at, permission)
		}
		c.both(fmt.Sprintf("mkdirs %s %o as %s", at, permission, user), errs)
	default:
		c.question(user)
	}
}

// refs name the same thing on both sides.
func (c *comparison) refs() [2]execute.Ref {
	if len(c.known) == 0 || c.rng.IntN(3) == 0 {
		at := execute.At(c.path())
		return [2]execute.Ref{at, at}
	}
	id := c.id()
	if c.rng.IntN(3) == 0 {
		return [2]execute.Ref{execute.ParentOf(id), execute.ParentOf(c.ids[id])}
	}
	return [2]execute.Ref{execute.ByID(id), execute.ByID(c.ids[id])}
}

func (c *comparison) question(user string) {
	refs := c.refs()
	kind := c.rng.IntN(6)
	var errs [2]error
	var values [2]string
	var stats [2]*execute.Status
	for i := range c.sides {
		p := c.sides[i].users[user]
		switch kind {
		case 0, 1:
			stats[i], errs[i] = p.Stat(c.ctx(), refs[i])
		case 2:
			var page *execute.Page
			if page, errs[i] = p.List(c.ctx(), refs[i], nil); errs[i] == nil {
				values[i] = names(page.Entries)
			}
		case 3:
			var sum *execute.Summary
			sum, errs[i] = p.Summary(c.ctx(), refs[i], 20)
			if len(c.snapshots) == 0 && errs[i] == nil {
				values[i] = fmt.Sprint(*sum)
			} else if len(c.snapshots) > 0 && errors.Is(errs[i], execute.ErrBudget) {
				errs[i] = nil // what snapshots hold is not counted alike in all cases
			}
		case 4:
			var all []execute.XAttr
			all, errs[i] = p.XAttrs(c.ctx(), refs[i])
			values[i] = fmt.Sprint(all)
		case 5:
			var closed bool
			closed, errs[i] = p.Closed(c.ctx(), refs[i])
			values[i] = fmt.Sprint(closed)
		}
	}
	what := fmt.Sprintf("question %d about %s (%s) as %s", kind, refs[0], refs[1], user)
	if !c.both(what, errs) {
		return
	}
	if values[0] != values[1] {
		c.differ("%s:\n  %s\n  %s", what, values[0], values[1])
	}
	if stats[0] != nil {
		c.alike(what, stats[0], stats[1])
	}
}

// rename moves some inode, or sends an earlier rename again.
func (c *comparison) rename(user string) {
	if n := len(c.sides[0].sent); n > 0 && c.rng.IntN(5) == 0 {
		k := c.rng.IntN(n)
		var errs [2]error
		for i := range c.sides {
			s := c.sides[i].sent[k]
			errs[i] = c.sides[i].users[user].Resend(c.ctx(), s.move, s.call)
		}
		c.both(fmt.Sprintf("resend %+v as %s", c.sides[0].sent[k].move, user), errs)
		return
	}
	if len(c.known) == 0 {
		return
	}
	id := c.id()
	to, trash, checked := c.path(), c.rng.IntN(2) == 0, c.rng.IntN(3) > 0
	var errs [2]error
	var move execute.Move
	for i := range c.sides {
		p := c.sides[i].users[user]
		move = execute.Move{ID: id, ParentID: 16385, From: "somewhere", To: to, Trash: trash, Context: "compare"}
		if i == 1 {
			move.ID = c.ids[id]
		}
		if parent, err := c.sides[i].users[root].Stat(c.ctx(), execute.ParentOf(move.ID)); err == nil {
			move.ParentID = parent.ID
		}
		call, err := p.NewCall(c.ctx())
		if err != nil {
			c.Fatal(err)
		}
		if checked {
			errs[i] = p.Rename(c.ctx(), move, call)
		} else {
			errs[i] = p.Resend(c.ctx(), move, call)
		}
		c.sides[i].sent = append(c.sides[i].sent, sent{move, call})
	}
	from := "somewhere dead"
	if i := slices.IndexFunc(c.tree, func(f found) bool { return f.ID == id }); i >= 0 {
		from = c.tree[i].path
	}
	c.both(fmt.Sprintf("rename of inode %d (%s) to %s as %s, trash %t, looked before %t", id, from, to, user, trash, checked), errs)
}
