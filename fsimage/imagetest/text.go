package imagetest

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	pb "fsweep/proto/fsimage"
)

// ParseTree makes a namespace from text with an entry a line:
//
//	PATH [-> TARGET] [TIME] [LENGTH] [KEY[=VALUE]…]
//
// A path that ends in a slash is a directory, one with a target a symlink, all
// others are files. Missing parents are made. A path or target with blanks or bytes
// of all kinds is written as a Go string. A line that starts with # is a comment.
//
// TIME is the mtime: -9d, -200h or +1h30m count from at, @MS are milliseconds since
// 1970. A directory without one has the newest of its children's, which is what a
// NameNode would have at most. LENGTH is in bytes; a file of more than 0 has one
// block. Keys: atime=TIME (default: the mtime), owner=USER:GROUP, repl=N, open,
// xattr=user.NAME, ez (root of an encryption zone), ns-quota=N, ds-quota=BYTES,
// type-quota=SSD:BYTES, policy=ID, snapshottable, snapshot=NAME of a directory of
// which nothing has changed since.
//
// An error names the line.
func ParseTree(text string, at time.Time) (*Tree, error) {
	p := treeParser{t: NewTree(), at: at, timed: map[*Node]bool{}}
	s := bufio.NewScanner(strings.NewReader(text))
	s.Buffer(nil, 1<<20)
	for n := 1; s.Scan(); n++ {
		if err := p.line(s.Text()); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	p.directories(p.t.Root)
	for _, f := range p.late {
		f()
	}
	return p.t, nil
}

type treeParser struct {
	t     *Tree
	at    time.Time
	timed map[*Node]bool // whose mtime is given
	late  []func()       // copies of nodes, when all is known of them
	snaps uint32
}

func (p *treeParser) line(text string) error {
	words, err := treeWords(text)
	if err != nil || len(words) == 0 {
		return err
	}
	path := words[0]
	words = words[1:]
	if !strings.HasPrefix(path, "/") {
		return fmt.Errorf("the path %q is not absolute", path)
	}
	if dir, name := split(path); name != "" && p.t.Dir(dir).child(name) != nil {
		return fmt.Errorf("%q stands there twice", path)
	}
	n := p.node(path, &words)
	timed := false
	for _, w := range words {
		switch {
		case strings.ContainsRune("-+@", rune(w[0])):
			if n.MTimeMs, err = p.time(w); err != nil {
				return err
			}
			timed, p.timed[n] = true, true
		case w[0] >= '0' && w[0] <= '9':
			length, err := strconv.ParseUint(w, 10, 62)
			if err != nil || n.Kind != File {
				return fmt.Errorf("length %q", w)
			}
			if length > 0 {
				n.Blocks = []Block{p.t.Block(length)}
			}
		default:
			key, value, _ := strings.Cut(w, "=")
			if err := p.key(n, key, value); err != nil {
				return err
			}
		}
	}
	if !timed && n.Kind != Directory {
		return fmt.Errorf("%q has no time", path)
	}
	if n.ATimeMs < 0 {
		n.ATimeMs = n.MTimeMs
	}
	return nil
}

// node makes or finds what a line is about.
func (p *treeParser) node(path string, words *[]string) *Node {
	var n *Node
	switch w := *words; {
	case len(w) > 1 && w[0] == "->":
		n, *words = p.t.Symlink(path, w[1]), w[2:]
	case strings.HasSuffix(path, "/"):
		n = p.t.Dir(path)
	default:
		n = p.t.File(path)
	}
	n.ATimeMs = -1
	return n
}

// Snapshottable allows snapshots of a directory, which need not have any.
func (t *Tree) Snapshottable(dir *Node) {
	if !slices.Contains(t.snapshotDirs, dir.ID) {
		t.snapshotDirs = append(t.snapshotDirs, dir.ID)
	}
}

// treeWords cuts a line at blanks outside of Go strings.
func treeWords(line string) ([]string, error) {
	var words []string
	for line = strings.TrimSpace(line); line != "" && line[0] != '#'; line = strings.TrimSpace(line) {
		n := strings.IndexAny(line, " \t")
		if n < 0 {
			n = len(line)
		}
		word := line[:n]
		if line[0] == '"' {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", line, err)
			}
			n = len(quoted)
			if word, err = strconv.Unquote(quoted); err != nil {
				return nil, fmt.Errorf("%s: %w", quoted, err)
			}
		}
		if word == "" {
			return nil, fmt.Errorf("an empty word")
		}
		words, line = append(words, word), line[n:]
	}
	return words, nil
}

// time gives milliseconds since 1970.
func (p *treeParser) time(w string) (int64, error) {
	if ms, ok := strings.CutPrefix(w, "@"); ok {
		return strconv.ParseInt(ms, 10, 64)
	}
	if w == "" || w[0] != '-' && w[0] != '+' {
		return 0, fmt.Errorf("time %q", w)
	}
	days, rest := int64(0), w[1:]
	if d, after, ok := strings.Cut(rest, "d"); ok {
		n, err := strconv.ParseInt(d, 10, 32)
		if err != nil {
			return 0, fmt.Errorf("time %q", w)
		}
		days, rest = n, after
	}
	span := time.Duration(days) * 24 * time.Hour
	if rest != "" {
		d, err := time.ParseDuration(rest)
		if err != nil {
			return 0, fmt.Errorf("time %q: %w", w, err)
		}
		span += d
	}
	if w[0] == '-' {
		span = -span
	}
	return p.at.Add(span).UnixMilli(), nil
}

func (p *treeParser) key(n *Node, key, value string) (err error) {
	bad := fmt.Errorf("%s=%s", key, value)
	number := func() (v int64) {
		v, err = strconv.ParseInt(value, 10, 64)
		return v
	}
	switch key {
	case "atime":
		n.ATimeMs, err = p.time(value)
	case "owner":
		user, group, ok := strings.Cut(value, ":")
		if !ok {
			return bad
		}
		n.Own(user, group, n.Mode)
	case "repl":
		n.Replication = uint32(number())
	case "open":
		n.Open = &Open{Client: "client", Machine: "machine"}
	case "xattr":
		name, ok := strings.CutPrefix(value, "user.")
		if !ok {
			return bad
		}
		n.XAttr(XAttrUser, name, nil)
	case "policy":
		n.SetPolicy(byte(number()))
	default:
		return p.directoryKey(n, key, value)
	}
	return err
}

func (p *treeParser) directoryKey(n *Node, key, value string) (err error) {
	bad := fmt.Errorf("%s=%s", key, value)
	if n.Kind != Directory {
		return bad
	}
	number := func(s string) (v int64) {
		v, err = strconv.ParseInt(s, 10, 64)
		return v
	}
	switch key {
	case "ez":
		n.XAttr(XAttrRaw, "hdfs.crypto.encryption.zone", []byte{1})
	case "ns-quota":
		n.NSQuota = number(value)
	case "ds-quota":
		n.DSQuota = number(value)
	case "type-quota":
		name, bytes, _ := strings.Cut(value, ":")
		kind, ok := pb.StorageTypeProto_value[name]
		if !ok {
			return bad
		}
		n.TypeQuota(pb.StorageTypeProto(kind), number(bytes))
	case "snapshottable":
		p.t.Snapshottable(n)
	case "snapshot":
		if value == "" {
			return bad
		}
		p.snaps++
		id := p.snaps
		p.late = append(p.late, func() { p.t.Snapshot(n, id, value) })
	default:
		return fmt.Errorf("key %q", key)
	}
	return err
}

// directories gives those without a time the newest of what is in them.
func (p *treeParser) directories(n *Node) {
	newest, found := int64(0), false
	for _, c := range n.Children {
		if c.Kind == Directory {
			p.directories(c)
		}
		if !found || c.MTimeMs > newest {
			newest, found = c.MTimeMs, true
		}
	}
	if !p.timed[n] {
		if !found {
			newest = p.at.UnixMilli()
		}
		n.MTimeMs = newest
	}
}

// Remove takes a node and all below it out of the tree: it is not written.
func (t *Tree) Remove(n *Node) {
	t.Detach(n)
	gone := map[*Node]bool{}
	todo := []*Node{n}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = append(todo[:len(todo)-1], n.Children...)
		gone[n] = true
	}
	t.nodes = slices.DeleteFunc(t.nodes, func(n *Node) bool { return gone[n] })
}
