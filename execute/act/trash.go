package act

import (
	"context"
	"errors"
	"path"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"fsweep/execute"
	"fsweep/proto/planfile"
)

// What NameNodes take, as Hadoop's HdfsConstants and hdfs-default.xml have it.
const (
	maxName   = 255  // bytes of a component
	maxLength = 8000 // UTF-16 units of a path
	maxLevels = 1000 // components of a path
	trashMode = 0o700
	current   = "Current"
)

// trashRoot is a trash, or the quarantine.
type trashRoot struct {
	path string
	id   uint64 // 0: it does not exist yet
}

// target is a free place for an item.
type target struct {
	path      planfile.Path
	trashRoot planfile.Path // "" of the quarantine
	into      uint64        // the directory to which the climb from the item must lead
}

// What can be said of one item; others may find a place.
var (
	errNoPlace = errors.New("no place in the trash")
	errNotText = errors.New("the path is not UTF-8")
)

// target makes a place for what is at a path, as Hadoop's own trash does it: below Current
// with its whole path; a name that is taken gets the time behind it, as does a file
// that stands where a directory is needed. A name that has no room for that stays in
// a directory that gets it in its place.
func (a *actor) target(ctx context.Context, from planfile.Path) (*target, error) {
	if !utf8.ValidString(string(from)) {
		return nil, errNotText // nobody could ask for the path that leads there, nor for the one back
	}
	if q := a.p.Plan.Header.Quarantine; a.p.Plan.Header.Removal == planfile.RemovalQuarantine {
		return a.quarantine(ctx, q[0], from)
	}
	tr, err := a.trashOf(ctx, from)
	if err != nil {
		return nil, err
	}
	base := path.Join(tr.path, current)
	t, err := a.free(ctx, base, path.Join(base, string(from)), trashMode)
	if err != nil {
		return nil, err
	}
	if tr.id == 0 {
		s, err := a.directory(ctx, "trash", tr.path)
		if err != nil {
			return nil, err
		}
		tr.id = s.ID
	}
	t.trashRoot, t.into = planfile.Path(tr.path), tr.id
	return t, nil
}

func (a *actor) quarantine(ctx context.Context, q planfile.Place, from planfile.Path) (*target, error) {
	s, err := a.directory(ctx, "quarantine", string(q.Path))
	if err != nil {
		return nil, err
	}
	if q.InodeID != 0 && q.InodeID != s.ID {
		return nil, refuse("quarantine-changed", "the quarantine %q is not the directory that the plan knows", q.Path)
	}
	base := string(q.Path)
	t, err := a.free(ctx, base, path.Join(base, string(from)), trashMode)
	if err != nil {
		return nil, err
	}
	t.into = s.ID
	return t, nil
}

// trashOf gives the trash for a path. The directory above a trash is never made: it
// would get the permission of a trash and lock everybody else out.
func (a *actor) trashOf(ctx context.Context, from planfile.Path) (*trashRoot, error) {
	var got *execute.TrashRoot
	err := a.insist(ctx, func(ctx context.Context) (err error) {
		got, err = a.p.Look.TrashRoot(ctx, string(from))
		return err
	})
	if err != nil {
		return nil, err
	}
	tr := a.trash[got.Path]
	if tr == nil {
		tr = &trashRoot{path: got.Path}
		a.trash[got.Path] = tr
	}
	s, err := a.stat(ctx, execute.At(got.Path))
	switch {
	case err != nil:
		return nil, err
	case s != nil && s.Kind != execute.Directory:
		return nil, refuse("no-directory", "the trash %q is not a directory", got.Path)
	case s != nil:
		tr.id = s.ID
		return tr, nil
	}
	tr.id = 0
	if _, err := a.directory(ctx, "directory of the trash", path.Dir(got.Path)); err != nil {
		return nil, err
	}
	return tr, nil
}

// free finds a free name at or near a path, and makes the directory that holds it.
func (a *actor) free(ctx context.Context, base, want string, mode uint16) (*target, error) {
	dir, name := path.Split(want)
	dir = strings.TrimSuffix(dir, "/")
	for range 8 {
		if !fits(dir + "/" + name) {
			return nil, errNoPlace
		}
		if err := a.ensure(ctx, base, &dir, mode); err != nil {
			return nil, err
		}
		full := dir + "/" + name
		if !fits(full) { // it passed a file by
			return nil, errNoPlace
		}
		s, err := a.stat(ctx, execute.At(full))
		if err != nil {
			return nil, err
		}
		if s == nil {
			return &target{path: planfile.Path(full)}, nil
		}
		if n := a.suffixed(path.Base(want)); len(n) <= maxName {
			name = n
			continue
		}
		if dir, err = a.another(base, dir); err != nil {
			return nil, err
		}
	}
	return nil, errNoPlace
}

// fits tells whether NameNodes take a path. Their refusal does not tell that it concerns this
// path alone, so it would stop the run.
func fits(p string) bool {
	units := 0
	for _, r := range p {
		units += utf16.RuneLen(r)
	}
	return units <= maxLength && strings.Count(p, "/") <= maxLevels
}

func (a *actor) suffixed(name string) string { return name + strconv.FormatInt(a.now(), 10) }

// another gives a directory beside dir, the lowest component that has room for a suffix
// having one.
func (a *actor) another(base, dir string) (string, error) {
	rest := ""
	for d := dir; d != base && len(d) > len(base); d = path.Dir(d) {
		if len(path.Base(d))+len(strconv.FormatInt(a.now(), 10)) <= maxName {
			return path.Join(d+strconv.FormatInt(a.now(), 10), rest), nil
		}
		rest = path.Join(path.Base(d), rest)
	}
	return "", errNoPlace
}

// ensure makes a directory if it is not there. A file in its way gets passed by: the component
// gets a suffix, and dir is changed.
func (a *actor) ensure(ctx context.Context, base string, dir *string, mode uint16) error {
	for range 8 {
		s, err := a.stat(ctx, execute.At(*dir))
		if err != nil {
			return err
		}
		if s != nil && s.Kind == execute.Directory {
			return nil
		}
		file, err := a.inTheWay(ctx, base, *dir)
		if err != nil {
			return err
		}
		if file == "" {
			return a.mkdirs(ctx, planfile.Path(*dir), mode)
		}
		n := a.suffixed(file)
		if len(path.Base(n)) > maxName {
			return errNoPlace
		}
		*dir = n + strings.TrimPrefix(*dir, file)
	}
	return errNoPlace
}

// inTheWay gives the path of what is no directory at or above dir, below base, if any.
// Base itself must be none.
func (a *actor) inTheWay(ctx context.Context, base, dir string) (string, error) {
	at := base
	rest := strings.Split(strings.Trim(strings.TrimPrefix(dir, base), "/"), "/")
	for k := 0; ; k++ {
		s, err := a.stat(ctx, execute.At(at))
		switch {
		case err != nil:
			return "", err
		case s == nil:
			return "", nil
		case s.Kind != execute.Directory && at == base:
			return "", refuse("no-directory", "%q is not a directory", base)
		case s.Kind != execute.Directory:
			return at, nil
		case k == len(rest) || rest[k] == "":
			return "", nil
		}
		at += "/" + rest[k]
	}
}
