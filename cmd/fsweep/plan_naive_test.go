package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"fsweep/fsimage/imagetest"
)

// planInode is an inode as a test knows it, whoever says so: the text from which an
// image was made, or a NameNode.
type planInode struct {
	path          string
	id, parent    uint64
	kind          byte // 1 file, 2 directory, 3 symlink
	length, space int64
	mtime         int64
	owner, group  string
	quota         [2]int64 // inodes, bytes on disk; -1: none
}

func (n *planInode) name() string { return n.path[strings.LastIndexByte(n.path, '/')+1:] }

// treeInodes lists the inodes of a tree without snapshots, in the order of paths.
func treeInodes(t *imagetest.Tree) []planInode {
	var list []planInode
	for _, n := range t.Nodes() {
		e := planInode{path: n.Path(), id: n.ID, kind: byte(n.Kind), mtime: n.MTimeMs, owner: n.Owner, group: n.Group, quota: [2]int64{-1, -1}}
		if n.Kind == imagetest.Directory && n != t.Root {
			e.quota = [2]int64{n.NSQuota, n.DSQuota}
		}
		if n.Parent != nil {
			e.parent = n.Parent.ID
		}
		for _, b := range n.Blocks {
			e.length += int64(b.Bytes)
			e.space += int64(b.Bytes) * int64(n.Replication)
		}
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b planInode) int { return strings.Compare(a.path, b.path) })
	return list
}

// below gives an inode and all below it.
func below(list []planInode, path string) (in []planInode) {
	for _, n := range list {
		if n.path == path || strings.HasPrefix(n.path, path+"/") {
			in = append(in, n)
		}
	}
	return in
}

// naiveFingerprint is the formula of docs/format/plan.md, written down once more.
func naiveFingerprint(in []planInode, top uint64) string {
	sum := new(big.Int)
	for _, n := range in {
		var b bytes.Buffer
		b.WriteString("fsweep.e1")
		for _, v := range []any{n.id, n.parent, n.kind, uint64(n.length), n.mtime, uint32(len(n.name()))} {
			_ = binary.Write(&b, binary.BigEndian, v)
		}
		b.WriteString(n.name())
		e := sha256.Sum256(b.Bytes())
		sum.Add(sum, new(big.Int).SetBytes(e[:]))
	}
	sum.Mod(sum, new(big.Int).Lsh(big.NewInt(1), 256))
	var b bytes.Buffer
	b.WriteString("fsweep.f1")
	_ = binary.Write(&b, binary.BigEndian, top)
	_ = binary.Write(&b, binary.BigEndian, uint64(len(in)))
	b.Write(sum.FillBytes(make([]byte, 32)))
	f := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(f[:])
}

type planTotals struct {
	Files, Directories, Symlinks, Length int64
	Space                                int64 `json:"space_consumed"`
}

// fullLine is all that a test compares of a line of a plan.
type fullLine struct {
	planLine
	InodeID     uint64 `json:"inode_id"`
	ParentID    uint64 `json:"parent_id"`
	MTimeMs     int64  `json:"mtime_ms"`
	Owner       string
	OwnerB64    []byte `json:"owner_b64"`
	Group       string
	Root        string
	NSBefore    int64 `json:"ns_used_before"`
	NSAfter     int64 `json:"ns_used_after"`
	DSBefore    int64 `json:"ds_used_before"`
	DSAfter     int64 `json:"ds_used_after"`
	Children    int64
	Entries     int64
	Length      int64
	Totals      planTotals
	Fingerprint string
	Freed       struct {
		Now   int64
		After int64 `json:"after_trash"`
		Held  int64 `json:"held_by_snapshots"`
	}
}

func (l *fullLine) path() string {
	if l.PathB64 != nil {
		return string(l.PathB64)
	}
	return l.Path
}

func (l *fullLine) owner() string {
	if l.OwnerB64 != nil {
		return string(l.OwnerB64)
	}
	return l.Owner
}

func planLines(t testing.TB, plan []byte) (lines []fullLine) {
	t.Helper()
	for text := range bytes.Lines(plan) {
		var l fullLine
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		lines = append(lines, l)
	}
	return lines
}

// compareItems holds every item, its directories, the guards and quotas of a plan
// against the inodes of an image without snapshots. It returns the paths of the items.
func compareItems(t testing.TB, plan []byte, list []planInode) (items []string) {
	t.Helper()
	lines := planLines(t, plan)
	for i := range lines {
		l := &lines[i]
		if l.Type != "item" {
			continue
		}
		items = append(items, l.path())
		j := i + 1
		for j < len(lines) && lines[j].Type == "dir" {
			j++
		}
		compareItem(t, l, lines[i+1:j], below(list, l.path()))
	}
	compareGuards(t, lines, list)
	compareQuotas(t, lines, list)
	return items
}

func compareItem(t testing.TB, l *fullLine, dirs []fullLine, in []planInode) {
	t.Helper()
	if len(in) == 0 {
		t.Errorf("%q is not in the image", l.path())
		return
	}
	top := in[0]
	var sum planTotals
	children := map[uint64]int64{}
	for _, n := range in {
		children[n.parent]++
		sum.Length, sum.Space = sum.Length+n.length, sum.Space+n.space
		switch n.kind {
		case 1:
			sum.Files++
		case 2:
			sum.Directories++
		case 3:
			sum.Symlinks++
		}
	}
	want := fmt.Sprint(top.id, top.parent, top.mtime, top.owner, top.group, children[top.id], len(in), sum, naiveFingerprint(in, top.id), 0, sum.Space, 0)
	got := fmt.Sprint(l.InodeID, l.ParentID, l.MTimeMs, l.owner(), l.Group, l.Children, l.Entries, l.Totals, l.Fingerprint, l.Freed.Now, l.Freed.After, l.Freed.Held)
	if got != want {
		t.Errorf("%q: %s, want %s", l.path(), got, want)
	}
	var wantDirs, gotDirs []string
	for _, n := range in[1:] {
		if n.kind == 2 {
			wantDirs = append(wantDirs, fmt.Sprintf("%q %d %d %d", n.path[len(top.path)+1:], n.id, n.mtime, children[n.id]))
		}
	}
	for _, d := range dirs {
		gotDirs = append(gotDirs, fmt.Sprintf("%q %d %d %d", d.path(), d.InodeID, d.MTimeMs, d.Children))
	}
	if !slices.Equal(gotDirs, wantDirs) {
		t.Errorf("%q: directories %q, want %q", l.path(), gotDirs, wantDirs)
	}
}

// compareQuotas: each directory with a quota that has an item below it, before and
// after the move of what is not deferred. The trash is elsewhere.
func compareQuotas(t testing.TB, lines []fullLine, list []planInode) {
	t.Helper()
	var got, want []string
	for i := range lines {
		if l := &lines[i]; l.Type == "quota" {
			got = append(got, fmt.Sprintf("%q %d: %d %d, %d %d", l.path(), l.InodeID, l.NSBefore, l.NSAfter, l.DSBefore, l.DSAfter))
		}
	}
	for i := range list {
		q := &list[i]
		if q.quota == [2]int64{-1, -1} {
			continue
		}
		var inodes, space, moved, freed int64
		for _, n := range below(list, q.path) {
			inodes, space = inodes+1, space+n.space
		}
		touched := false
		for i := range lines {
			if l := &lines[i]; l.Type == "item" && strings.HasPrefix(l.path(), q.path+"/") {
				touched = true
				if l.Deferred == nil {
					moved, freed = moved+l.Entries, freed+l.Totals.Space
				}
			}
		}
		if touched {
			want = append(want, fmt.Sprintf("%q %d: %d %d, %d %d", q.path, q.id, inodes, inodes-moved, space, space-freed))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("quotas:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// compareGuards: all _metadata and HA pointer files of the image, whatever they are in.
// Those in items name the item's inode.
func compareGuards(t testing.TB, lines []fullLine, list []planInode) {
	t.Helper()
	var got, want []string
	items := map[string]uint64{}
	for i := range lines {
		switch l := &lines[i]; l.Type {
		case "guard":
			got = append(got, fmt.Sprintf("%s %q %d %d %d %q %d", l.Kind, l.path(), l.InodeID, l.Length, l.MTimeMs, l.owner(), l.Item))
		case "item":
			items[l.path()] = l.InodeID
		}
	}
	for _, n := range list {
		kind := ""
		switch name := n.name(); {
		case n.kind != 1:
		case name == "_metadata":
			kind = "metadata"
		case strings.HasPrefix(name, "completedCheckpoint"), strings.HasPrefix(name, "submittedJobGraph"),
			strings.HasPrefix(name, "submittedExecutionPlan"), strings.HasPrefix(name, "submittedApplication"):
			kind = "ha-pointer"
		}
		if kind == "" {
			continue
		}
		item := uint64(0)
		for p := n.path; p != "" && item == 0; p = p[:strings.LastIndexByte(p, '/')] {
			item = items[p]
		}
		want = append(want, fmt.Sprintf("%s %q %d %d %d %q %d", kind, n.path, n.id, n.length, n.mtime, n.owner, item))
	}
	if !slices.Equal(got, want) {
		t.Errorf("guards:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
