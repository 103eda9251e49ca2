package flink

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"fsweep/fsimage/imagetest"
)

// inode is a line of a listing: all that the naive model knows.
type inode struct {
	names        []string // of the path
	kind         imagetest.Kind
	size         int64
	mtime, atime int64
	xattr        bool // marked to be kept
}

func (n inode) path() string { return "/" + strings.Join(n.names, "/") }

// listing shows a tree as one would walk it, in no order.
func listing(t *imagetest.Tree) []inode {
	var out []inode
	for _, n := range t.Nodes() {
		if n.Parent == nil {
			continue
		}
		e := inode{kind: n.Kind, mtime: n.MTimeMs, atime: n.ATimeMs, xattr: slices.ContainsFunc(n.XAttrs, func(x imagetest.XAttr) bool { return x.Name == "fsweep.keep" })}
		for _, b := range n.Blocks {
			e.size += int64(b.Bytes)
		}
		for p := n; p.Parent != nil; p = p.Parent {
			e.names = append(e.names, p.Name)
		}
		slices.Reverse(e.names)
		out = append(out, e)
	}
	return out
}

var (
	naiveState    = regexp.MustCompile(`(?s)^(chk-[0-9]+|shared|taskowned)$`)
	naiveRun      = regexp.MustCompile(`(?is)^([0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)
	naiveReserved = regexp.MustCompile(`(?s)^(_metadata|\.?_metadata\.inprogress.*|(job|application)-result-store|(completedCheckpoint|submittedJobGraph|submittedExecutionPlan|submittedApplication).*|blob|dstl|_entropy_|\.Trash|\.fsweep-keep)$`)
	naiveGuard    = regexp.MustCompile(`(?s)^(_metadata|(completedCheckpoint|submittedJobGraph|submittedExecutionPlan|submittedApplication).*)$`)
	naiveFlink    = regexp.MustCompile(`(?s)^(\.?_metadata\.inprogress.*|_metadata|(job|application)-result-store|chk-[0-9]+|shared|taskowned|savepoint-[0-9a-f]{6}-[0-9a-f]{12}|blob_[pt]-.*|(completedCheckpoint|submittedJobGraph|submittedExecutionPlan|submittedApplication).*)$`)
	naiveHA       = regexp.MustCompile(`(?s)^(completedCheckpoint|submittedJobGraph|submittedExecutionPlan|submittedApplication)`)
	naiveOpenMeta = regexp.MustCompile(`(?s)^\.?_metadata\.inprogress`)
	naiveNumber   = regexp.MustCompile(`(?s)^chk-(0|[1-9][0-9]{0,17})$`)
	naiveExactSP  = regexp.MustCompile(`(?s)^savepoint-[0-9a-f]{6}-[0-9a-f]{12}$`)
)

// naive is a root as somebody would describe it who reads a listing line by line.
type naive struct {
	decl    Declaration
	root    []string
	all     []inode
	units   map[string]*naiveUnit
	misfits map[string]bool
	unknown map[string]bool
}

type naiveUnit struct {
	Files, Dirs, Links, Length     int64
	Newest, Oldest, Rank, ATime    int64
	File                           int64 // mtime
	Odd                            int64 // mtimes
	Marked, MarkedInside, Skeleton bool
	NewestMetadata, Pointers       int64
	Checkpoints                    []string
}

func newNaive(decl Declaration, all []inode) *naive {
	n := &naive{decl: decl, all: all, root: strings.FieldsFunc(string(decl.Path), func(r rune) bool { return r == '/' })}
	n.units, n.misfits, n.unknown = map[string]*naiveUnit{}, map[string]bool{}, map[string]bool{}
	n.look()
	return n
}

// rel is the path below the root, nil for what is not below.
func (n *naive) rel(e inode) []string {
	if len(e.names) <= len(n.root) || !slices.Equal(e.names[:len(n.root)], n.root) || slices.Contains(n.decl.Ignore, e.names[len(n.root)]) {
		return nil
	}
	return e.names[len(n.root):]
}

// wrong tells whether a directory of this name cannot be at a level.
func (n *naive) wrong(name string, level int) bool {
	if naiveState.MatchString(name) {
		return true
	}
	l := n.decl.Layout
	if strings.HasPrefix(name, "savepoint-") && l != Savepoints {
		return true
	}
	if naiveRun.MatchString(name) && (l != RunLayout && l != JobRun || l == JobRun && level == 1) {
		return true
	}
	if l == HAStorage && strings.HasSuffix(name, "-result-store") && naiveReserved.MatchString(name) {
		return false
	}
	return naiveReserved.MatchString(name)
}

// unitLevel is how many names below the root the unit of a path is, 0 if it is
// in none.
func (n *naive) unitLevel(rel []string) int {
	level := 1
	switch n.decl.Layout {
	case JobRun:
		level = 2
	case Savepoints:
		if !strings.HasPrefix(rel[0], "savepoint-") {
			level = 2
			if len(rel) > 1 && !strings.HasPrefix(rel[1], "savepoint-") {
				return 0
			}
		}
	case HAStorage:
		if strings.HasSuffix(rel[0], "-result-store") && naiveReserved.MatchString(rel[0]) {
			return 0
		}
	case Children:
		for _, g := range n.decl.Names {
			if ok, _ := path.Match(g, rel[0]); (ok || g == rel[0]) && !slices.Contains(n.decl.ExcludeJobs, rel[0]) {
				return 1
			}
		}
		return 0
	}
	if slices.Contains(n.decl.ExcludeJobs, rel[0]) || len(rel) < level || n.wrong(rel[0], 1) || level == 2 && n.wrong(rel[1], 2) {
		return 0
	}
	return level
}

func (n *naive) look() {
	for _, e := range n.all {
		rel := n.rel(e)
		if rel == nil {
			continue
		}
		level := n.unitLevel(rel)
		if level > 0 && (len(rel) > level || e.kind == imagetest.Directory) {
			n.inUnit(e, rel, level)
		}
		if last := rel[len(rel)-1]; last != MarkerName || e.kind != imagetest.Directory {
			n.judge(e, rel, level)
		}
	}
	stateful := slices.ContainsFunc(n.all, func(e inode) bool {
		k := len(e.names) - 1
		return e.kind == imagetest.Directory && naiveState.MatchString(e.names[k]) && n.units["/"+strings.Join(e.names[:k], "/")] != nil
	})
	for p, u := range n.units {
		slices.Sort(u.Checkpoints)
		if n.decl.Layout == JobRun || n.decl.Layout == RunLayout {
			has, bare := false, naiveRun.MatchString(path.Base(p))
			for _, e := range n.all {
				if path.Dir("/"+strings.Join(e.names, "/")) != p {
					continue
				}
				name, dir := e.names[len(e.names)-1], e.kind == imagetest.Directory
				has = has || dir && naiveState.MatchString(name)
				bare = bare && (name == MarkerName || dir && name == "dstl" && stateful)
			}
			if !has && !bare {
				n.misfits[p] = true
			} else if name := path.Base(p); n.decl.Layout == JobRun && !naiveRun.MatchString(name) {
				n.unknown[p] = true
			}
		}
	}
}

// judge says whether an entry is a misfit or unknown.
func (n *naive) judge(e inode, rel []string, level int) {
	name, dir := rel[len(rel)-1], e.kind == imagetest.Directory
	marker := name == MarkerName
	l := n.decl.Layout
	switch {
	case l == Children:
		if !slices.Contains(n.decl.ExcludeJobs, rel[0]) && (naiveFlink.MatchString(name) || dir && name == "dstl") {
			n.misfits[e.path()] = true
		}
	case len(rel) == 1:
		if dir && n.wrong(name, 1) || !dir && !marker {
			n.misfits[e.path()] = true
		} else if dir && l == Savepoints && level == 1 && !naiveExactSP.MatchString(name) && !slices.Contains(n.decl.ExcludeJobs, name) {
			n.unknown[e.path()] = true
		}
	case slices.Contains(n.decl.ExcludeJobs, rel[0]) || n.wrong(rel[0], 1) || n.wrongParent(rel):
	case len(rel) == 2 && (l == JobRun || l == Savepoints && !strings.HasPrefix(rel[0], "savepoint-")):
		switch {
		case dir && n.wrong(name, 2), e.kind == imagetest.File && name == "_metadata":
			n.misfits[e.path()] = true
		case dir && l == Savepoints && !naiveExactSP.MatchString(name), !dir && !marker:
			n.unknown[e.path()] = true
		}
	case level > 0 && len(rel) > level:
		n.judgeInUnit(e, rel[level:], name, dir, marker)
	}
}

// wrongParent: what is below a misfit or in no layout is not looked at.
func (n *naive) wrongParent(rel []string) bool {
	l := n.decl.Layout
	if l == HAStorage && strings.HasSuffix(rel[0], "-result-store") {
		return true
	}
	deep := l == JobRun || l == Savepoints && !strings.HasPrefix(rel[0], "savepoint-")
	return deep && len(rel) > 2 && (n.wrong(rel[1], 2) || l == Savepoints && !strings.HasPrefix(rel[1], "savepoint-"))
}

func (n *naive) judgeInUnit(e inode, in []string, name string, dir, marker bool) {
	l, stray := n.decl.Layout, e.kind == imagetest.File && name == "_metadata"
	run := l == JobRun || l == RunLayout
	bad := false
	switch {
	case marker:
	case e.kind == imagetest.Symlink && l != Children:
		bad = true
	case stray:
		right := run && len(in) == 2 && naiveNumber.MatchString(in[0]) || l == Savepoints && len(in) == 1
		bad = !right
	case len(in) == 1 && run:
		right := dir && (naiveNumber.MatchString(name) || name == "shared" || name == "taskowned" || name == "dstl")
		bad = !right
	case len(in) == 1 && l == Savepoints:
		bad = dir
	case len(in) == 1 && l == HAStorage:
		if dir && naiveState.MatchString(name) {
			n.misfits[e.path()] = true
		}
		bad = dir && name != "blob" || e.kind == imagetest.Symlink || e.kind == imagetest.File && !naiveHA.MatchString(name)
	case len(in) == 2 && run && dir:
		known := in[0] == "shared" && regexp.MustCompile(`(?s)^(job|op)_`).MatchString(name) || in[0] == "taskowned" && strings.HasPrefix(name, "job_")
		area := naiveNumber.MatchString(in[0]) || in[0] == "shared" || in[0] == "taskowned" || in[0] == "dstl"
		bad = area && !known
	}
	if bad {
		n.unknown[e.path()] = true
	}
}

// inUnit adds an entry to its unit.
func (n *naive) inUnit(e inode, rel []string, level int) {
	p := "/" + strings.Join(e.names[:len(n.root)+level], "/")
	u := n.units[p]
	if u == nil {
		u = &naiveUnit{Skeleton: true, Oldest: 1 << 62, Newest: -1 << 62, Rank: -1 << 62, File: -1 << 62, NewestMetadata: -1 << 62}
		n.units[p] = u
	}
	name, in := rel[len(rel)-1], rel[level:]
	run := n.decl.Layout == JobRun || n.decl.Layout == RunLayout
	marker := name == MarkerName && len(in) > 0
	if marker && len(in) == 1 {
		u.Marked = true
	} else if marker {
		u.MarkedInside = true
	}
	if e.xattr && len(in) == 0 {
		u.Marked = true
	} else if e.xattr && (e.kind == imagetest.Directory || e.kind == imagetest.File && !marker) {
		u.MarkedInside = true
	}
	switch e.kind {
	case imagetest.Directory:
		u.Dirs++
	case imagetest.File:
		u.Files++
		u.Length += e.size
	case imagetest.Symlink:
		u.Links++
	}
	if run && len(in) == 1 && e.kind == imagetest.Directory && naiveNumber.MatchString(name) {
		u.Checkpoints = append(u.Checkpoints, n.checkpoint(e))
	}
	if marker && e.kind != imagetest.Directory {
		return
	}
	u.Skeleton = u.Skeleton && e.kind == imagetest.Directory
	u.Newest, u.Oldest = max(u.Newest, e.mtime), min(u.Oldest, e.mtime)
	if e.kind != imagetest.Directory || !n.holdsMarker(e) {
		u.Rank = max(u.Rank, e.mtime)
	}
	if e.kind != imagetest.Directory {
		u.File = max(u.File, e.mtime)
	}
	if e.mtime <= 0 {
		u.Odd++
	}
	if e.kind != imagetest.File {
		return
	}
	if !naiveGuard.MatchString(name) {
		u.ATime = max(u.ATime, e.atime)
	}
	if name == "_metadata" && e.size > 0 && (run && len(in) == 2 && naiveNumber.MatchString(in[0]) || n.decl.Layout == Savepoints && len(in) == 1) {
		u.NewestMetadata = max(u.NewestMetadata, e.mtime)
	}
	if n.decl.Layout == HAStorage && len(in) == 1 && naiveHA.MatchString(name) {
		u.Pointers++
	}
}

func (n *naive) holdsMarker(d inode) bool {
	return slices.ContainsFunc(n.all, func(e inode) bool {
		return len(e.names) == len(d.names)+1 && e.names[len(d.names)] == MarkerName && slices.Equal(e.names[:len(d.names)], d.names)
	})
}

func (n *naive) checkpoint(d inode) string {
	files, length, open, metadata := 0, int64(0), 0, int64(-1)
	for _, e := range n.all {
		if e.kind != imagetest.File || len(e.names) <= len(d.names) || !slices.Equal(e.names[:len(d.names)], d.names) {
			continue
		}
		files, length = files+1, length+e.size
		if name := e.names[len(d.names)]; len(e.names) == len(d.names)+1 {
			if name == "_metadata" {
				metadata = e.size
			} else if naiveOpenMeta.MatchString(name) {
				open++
			}
		}
	}
	return fmt.Sprintf("%s %d files, %d bytes, %d open, metadata %d", d.names[len(d.names)-1], files, length, open, metadata)
}

// naiveGuards lists the guards of a listing by path.
func naiveGuards(all []inode) []string {
	var out []string
	for _, e := range all {
		if e.kind == imagetest.File && naiveGuard.MatchString(e.names[len(e.names)-1]) {
			out = append(out, fmt.Sprintf("%s %d %d", e.path(), e.size, e.mtime))
		}
	}
	slices.SortFunc(out, cmp.Compare)
	return out
}
