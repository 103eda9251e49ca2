package probe

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"fsweep/execute"
)

// stub is a cluster that answers what a test writes into it.
type stub struct {
	user      string
	groups    []string
	nodes     []execute.NameNodeState
	active    error // of Active; nil: the first of nodes
	safe      bool
	defaults  execute.Defaults
	tree      map[string]*execute.Status
	mayNot    map[string]string // paths the user may not write in, and why
	hidden    map[string]bool   // paths below a directory that the user may not enter
	unlisted  map[string]bool
	zones     []string
	snapTrash []string
	fails     map[string]error // by name of the call
	page      int
	calls     []string
	lostAfter int // so many calls no NameNode answers any more; 0: never
}

const hour = time.Hour

// healthy is a cluster in which an execute by flink works with the policy of wants.
func healthy() *stub {
	s := &stub{
		user: "flink", groups: []string{"flink"}, defaults: execute.Defaults{TrashInterval: 24 * hour}, tree: map[string]*execute.Status{},
		mayNot: map[string]string{}, hidden: map[string]bool{}, unlisted: map[string]bool{}, fails: map[string]error{}, page: 1000,
	}
	for i, id := range []string{"nn1", "nn2"} {
		role := []execute.Role{execute.ActiveRole, execute.StandbyRole}[i]
		s.nodes = append(s.nodes, execute.NameNodeState{
			NameNode: execute.NameNode{Nameservice: "ns1", ID: id, Address: id + ":8020"}, Role: role, Version: "3.4.2", ClusterID: "CID-1", NamespaceID: 7,
		})
	}
	s.put("/", "hdfs", 0o755)
	for _, p := range []string{"/user/flink", "/ops/fsweep", "/cp/orders", "/cp/users", "/sp/savepoint-aaaaaa-bbbbbbbbbbbb", "/data"} {
		s.put(p, "flink", 0o750)
	}
	return s
}

// wants is what a policy makes of it.
func wants() Options {
	return Options{
		Nameservice: "hdfs://ns1", Now: time.Unix(1_800_000_000, 0), MinTrashInterval: 24 * hour, LockDir: "/ops/fsweep", Holds: []string{"/ops/fsweep/HOLD"},
		Roots: []RootOptions{
			{Path: "/cp", Layout: "job-run", Execute: true},
			{Path: "/sp", Layout: "savepoints", Execute: true},
			{Path: "/data", Layout: "children"},
		},
	}
}

// put makes a directory and what is missing above it, with ids in the order of their
// making, from 16385 on.
func (s *stub) put(p, owner string, permission uint16) *execute.Status {
	if p != "/" && s.tree[path.Dir(p)] == nil {
		s.put(path.Dir(p), owner, permission)
	}
	st := &execute.Status{ID: uint64(16385 + len(s.tree)), Kind: execute.Directory, Owner: owner, Group: "hadoop", Permission: permission}
	s.tree[p] = st
	return st
}

func (s *stub) drop(p string) {
	for name := range s.tree {
		if name == p || strings.HasPrefix(name, p+"/") {
			delete(s.tree, name)
		}
	}
}

// at resolves a reference as a NameNode does.
func (s *stub) at(ref execute.Ref) (string, *execute.Status, error) {
	if id, ok := ref.ID(); ok {
		for p, st := range s.tree {
			if st.ID == id {
				return p, st, s.seen(p)
			}
		}
		return "", nil, execute.ErrNotFound
	}
	p := ref.Path()
	if err := s.seen(p); err != nil {
		return p, nil, err
	}
	if st := s.tree[p]; st != nil {
		return p, st, nil
	}
	return p, nil, execute.ErrNotFound
}

func (s *stub) seen(p string) error {
	for ; p != "/"; p = path.Dir(p) {
		if s.hidden[p] {
			return denied(s.user, "EXECUTE", path.Dir(p))
		}
	}
	return nil
}

func denied(user, access, p string) error {
	return &execute.RemoteError{
		Call: "x", NameNode: "nn1:8020", Class: "org.apache.hadoop.security.AccessControlException",
		Message: "Permission denied: user=" + user + ", access=" + access + ", inode=" + strconv.Quote(p), Kind: execute.ErrPermission,
	}
}

func (s *stub) call(ctx context.Context, name string) error {
	s.calls = append(s.calls, name)
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.lostAfter > 0 && len(s.calls) > s.lostAfter {
		return fmt.Errorf("%s: %w: %w", name, execute.ErrUnavailable, context.DeadlineExceeded)
	}
	return s.fails[name]
}

func (s *stub) Active(ctx context.Context) (execute.NameNode, error) {
	if err := s.call(ctx, "Active"); err != nil {
		return execute.NameNode{}, err
	}
	return s.nodes[0].NameNode, s.active
}

func (s *stub) SafeMode(ctx context.Context) (bool, error) { return s.safe, s.call(ctx, "SafeMode") }

func (s *stub) Defaults(ctx context.Context) (execute.Defaults, error) {
	return s.defaults, s.call(ctx, "Defaults")
}

func (s *stub) Stat(ctx context.Context, ref execute.Ref) (*execute.Status, error) {
	if err := s.call(ctx, "Stat"); err != nil {
		return nil, err
	}
	_, st, err := s.at(ref)
	return st, err
}

func (s *stub) List(ctx context.Context, dir execute.Ref, after []byte) (*execute.Page, error) {
	if err := s.call(ctx, "List"); err != nil {
		return nil, err
	}
	p, _, err := s.at(dir)
	if err == nil && s.unlisted[p] {
		err = denied(s.user, "READ_EXECUTE", p)
	}
	if err != nil {
		return nil, err
	}
	var all []execute.Status
	for name, st := range s.tree {
		if name != "/" && path.Dir(name) == p && path.Base(name) > string(after) {
			e := *st
			e.Name = []byte(path.Base(name))
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b execute.Status) int { return bytes.Compare(a.Name, b.Name) })
	n := min(s.page, len(all))
	return &execute.Page{Entries: all[:n], Left: int64(len(all) - n)}, nil
}

func (s *stub) Summary(context.Context, execute.Ref, int64) (*execute.Summary, error) {
	panic("a probe counts no subtree")
}

func (s *stub) XAttrs(context.Context, execute.Ref) ([]execute.XAttr, error) {
	panic("a probe reads no attributes")
}

func (s *stub) Closed(context.Context, execute.Ref) (bool, error) {
	panic("a probe looks at no file")
}

func (s *stub) TrashRoot(ctx context.Context, p string) (*execute.TrashRoot, error) {
	if err := s.call(ctx, "TrashRoot"); err != nil {
		return nil, err
	}
	if s.unlisted[path.Dir(p)] {
		return nil, denied(s.user, "READ", path.Dir(p)) // getEZForPath wants READ
	}
	for _, dir := range s.snapTrash {
		if strings.HasPrefix(p, dir+"/") {
			return &execute.TrashRoot{Path: dir + "/.Trash/" + s.user, Kind: execute.SnapshotTrash}, nil
		}
	}
	if z := s.zone(path.Dir(p)); z != "" {
		return &execute.TrashRoot{Path: z + "/.Trash/" + s.user, Kind: execute.ZoneTrash}, nil
	}
	return &execute.TrashRoot{Path: "/user/" + s.user + "/.Trash", Kind: execute.HomeTrash}, nil
}

func (s *stub) zone(p string) string {
	for _, z := range s.zones {
		if p == z || strings.HasPrefix(p, z+"/") {
			return z
		}
	}
	return ""
}

func (s *stub) EncryptionZone(ctx context.Context, p string) (string, error) {
	return s.zone(p), s.call(ctx, "EncryptionZone")
}

func (s *stub) NameNodes(ctx context.Context) []execute.NameNodeState {
	_ = s.call(ctx, "NameNodes")
	return slices.Clone(s.nodes)
}

func (s *stub) User() string { return s.user }

func (s *stub) Groups(ctx context.Context) ([]string, error) { return s.groups, s.call(ctx, "Groups") }

func (s *stub) Access(ctx context.Context, ref execute.Ref, want execute.Access) error {
	if err := s.call(ctx, "Access"); err != nil {
		return err
	}
	p, _, err := s.at(ref)
	if err != nil {
		return err
	}
	if why, no := s.mayNot[p]; no && want&execute.WriteAccess != 0 {
		if why != "" {
			return &execute.RemoteError{Class: "x", Message: why, Kind: execute.ErrPermission}
		}
		return denied(s.user, "WRITE_EXECUTE", p)
	}
	return nil
}
