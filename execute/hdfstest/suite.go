package hdfstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fsweep/execute"
)

// Run holds a cluster to what [execute] promises, one subtest a sentence. All of them
// share the cluster that start gives, each in a directory of its own; what a cluster
// is not able to do is left out and listed. The expectations are answers of real
// NameNodes.
func Run(t *testing.T, start func(t *testing.T) Cluster) {
	c := start(t)
	can := c.Can()
	reads := c.As(t, owner).Reader != nil
	var left []string
	n := 0
	for _, group := range groups() {
		t.Run(group.name, func(t *testing.T) {
			for _, one := range group.cases {
				lacking := one.lacking(can)
				if group.name == "reader" && !reads {
					lacking = "a reader"
				}
				if lacking != "" {
					left = append(left, fmt.Sprintf("%s/%s (%s)", group.name, one.name, lacking))
					continue
				}
				n++
				dir := fmt.Sprintf("/conformance/%s-%03d", group.name, n)
				t.Run(one.name, func(t *testing.T) { one.run(newCase(t, c, dir)) })
			}
		})
	}
	if len(left) > 0 {
		t.Logf("left out, because the cluster lacks what they need:\n  %s", strings.Join(left, "\n  "))
	}
}

type group struct {
	name  string
	cases []test
}

func groups() []group {
	return []group{
		{"identity", identityCases()},
		{"status", statusCases()},
		{"listing", listingCases()},
		{"summary", summaryCases()},
		{"xattrs", xattrCases()},
		{"trash", trashCases()},
		{"survey", surveyCases()},
		{"mkdirs", mkdirsCases()},
		{"rename", renameCases()},
		{"permission", permissionCases()},
		{"refusal", refusalCases()},
		{"snapshot", snapshotCases()},
		{"retry", retryCases()},
		{"reader", readerCases()},
		{"nameservice", nameserviceCases()},
	}
}

// test is one case. Its name is in the words of HDFS.
type test struct {
	name  string
	needs []need
	run   func(c *scene)
}

// need is something that a cluster may lack; it says what, or nothing.
type need func(Abilities) string

func (one test) lacking(can Abilities) string {
	for _, n := range one.needs {
		if s := n(can); s != "" {
			return s
		}
	}
	return ""
}

func lacks(has func(Abilities) bool, what string) need {
	return func(can Abilities) string {
		if has(can) {
			return ""
		}
		return what
	}
}

var (
	ha        = lacks(func(a Abilities) bool { return a.HA }, "two NameNodes")
	dataNodes = lacks(func(a Abilities) bool { return a.DataNodes }, "DataNodes")
	coding    = lacks(func(a Abilities) bool { return a.ErasureCoding }, "erasure coding")
	zones     = lacks(func(a Abilities) bool { return a.EncryptionZones }, "encryption zones")
	snapTrash = lacks(func(a Abilities) bool { return a.SnapshotTrash }, "trash in snapshottable directories")
)

// from asks for a Hadoop version or a newer one; before for an older one.
func from(major, minor int) need {
	return lacks(func(a Abilities) bool { return !a.before(major, minor) }, fmt.Sprintf("Hadoop %d.%d or newer", major, minor))
}

func before(major, minor int) need {
	return lacks(func(a Abilities) bool { return a.before(major, minor) }, fmt.Sprintf("Hadoop before %d.%d", major, minor))
}

func (a Abilities) before(major, minor int) bool {
	var x, y int
	if n, err := fmt.Sscanf(a.Version, "%d.%d", &x, &y); n != 2 || err != nil {
		panic(fmt.Sprintf("hdfstest: %q is no version of Hadoop", a.Version))
	}
	return x < major || x == major && y < minor
}

// owner is the ordinary user of all cases; foreigner another one.
const (
	owner     = "alice"
	foreigner = "bob"
	root      = "root"
)

// limit is the time of one call.
const limit = 30 * time.Second

// scene is where a case plays: a directory of its own, which belongs to the owner.
type scene struct {
	testing.TB
	cluster Cluster
	admin   Admin
	Ports   // of the owner
	dir     string

	contents map[string]string // what put has put
}

func newCase(t *testing.T, c Cluster, dir string) *scene {
	s := &scene{TB: t, cluster: c, admin: c.Admin(), dir: dir, contents: make(map[string]string)}
	s.admin.Mkdir(t, dir, owner, 0o755)
	s.admin.Mkdir(t, "/user/"+owner, owner, 0o700)
	s.Ports = c.As(t, owner)
	return s
}

// ctx gives a context for one call.
func (s *scene) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	s.Cleanup(cancel)
	return ctx
}

// at gives a path below the case's directory.
func (s *scene) at(rel string) string { return s.dir + "/" + rel }

// mkdir makes a directory of the owner's below the case's.
func (s *scene) mkdir(rel string) string { return s.mkdirAs(rel, owner, 0o755) }

func (s *scene) mkdirAs(rel, owner string, permission uint16) string {
	s.Helper()
	s.admin.Mkdir(s, s.at(rel), owner, permission)
	return s.at(rel)
}

// put makes a file of the owner's below the case's directory; without DataNodes an
// empty one.
func (s *scene) put(rel, content string) string {
	s.Helper()
	if !s.cluster.Can().DataNodes {
		content = ""
	}
	s.admin.Put(s, s.at(rel), owner, []byte(content))
	s.contents[s.at(rel)] = content
	return s.at(rel)
}

// stat gives the status of what must be there, as root sees it.
func (s *scene) stat(path string) *execute.Status {
	s.Helper()
	return s.look(execute.At(path))
}

func (s *scene) look(ref execute.Ref) *execute.Status {
	s.Helper()
	st, err := s.cluster.As(s, root).Stat(s.ctx(), ref)
	if err != nil {
		s.Fatalf("status of %s: %v", ref, err)
	}
	return st
}

// id gives the inode id at a path.
func (s *scene) id(path string) uint64 {
	s.Helper()
	return s.stat(path).ID
}

// is checks what stands at a path.
func (s *scene) is(path string, id uint64) {
	s.Helper()
	if got := s.id(path); got != id {
		s.Errorf("inode %d stands at %s, want %d", got, path, id)
	}
}

// none checks that nothing stands at a path.
func (s *scene) none(path string) {
	s.Helper()
	if st, err := s.cluster.As(s, root).Stat(s.ctx(), execute.At(path)); !errors.Is(err, execute.ErrNotFound) {
		s.Errorf("status of %s: %+v, %v; want nothing there", path, st, err)
	}
}

// move gives the move of what stands at a path now.
func (s *scene) move(from, to string) execute.Move {
	s.Helper()
	id := s.id(from)
	return execute.Move{ID: id, ParentID: s.look(execute.ParentOf(id)).ID, From: from, To: to, Context: "hdfstest"}
}

func (s *scene) trashed(from, to string) execute.Move {
	s.Helper()
	m := s.move(from, to)
	m.Trash = true
	return m
}

func (s *scene) call() execute.Call {
	s.Helper()
	call, err := s.NewCall(s.ctx())
	if err != nil {
		s.Fatalf("NewCall: %v", err)
	}
	return call
}

// rename carries out a move as a new call.
func (s *scene) rename(m execute.Move) error {
	s.Helper()
	return s.Rename(s.ctx(), m, s.call())
}

// moves carries out a move that must succeed, and checks that it did.
func (s *scene) moves(m execute.Move) {
	s.Helper()
	if err := s.rename(m); err != nil {
		s.Fatalf("rename: %v", err)
	}
	s.is(m.To, m.ID)
}

// refused is stays, and checks the class of the refusal.
func (s *scene) refused(m execute.Move, kind error, class string) {
	s.Helper()
	s.class(s.attempt(m, kind), class)
}

// stays carries out a move that must be refused with a kind, and checks that nothing
// moved.
func (s *scene) stays(m execute.Move, kind error) {
	s.Helper()
	_ = s.attempt(m, kind)
}

// attempt does what stays does, and gives the error.
func (s *scene) attempt(m execute.Move, kind error) error {
	s.Helper()
	err := s.rename(m)
	s.fails(err, kind)
	s.unmoved(m)
	var remote *execute.RemoteError
	if errors.As(err, &remote) && remote.Call != "rename2" {
		s.Errorf("the error names the call %q, want rename2", remote.Call)
	}
	return err
}

func (s *scene) unmoved(m execute.Move) {
	s.Helper()
	if parent := s.look(execute.ParentOf(m.ID)); parent.ID != m.ParentID {
		s.Errorf("inode %d lies in directory %d, want %d", m.ID, parent.ID, m.ParentID)
	}
	s.is(m.From, m.ID)
}

// fails checks the kind of an error; nil means a refusal without a kind.
func (s *scene) fails(err, kind error) {
	s.Helper()
	var remote *execute.RemoteError
	switch {
	case err == nil:
		s.Errorf("no error, want %v", kind)
	case kind != nil && !errors.Is(err, kind):
		s.Errorf("error %v, want %v", err, kind)
	case kind == nil && !errors.As(err, &remote):
		s.Errorf("error %v, want a refusal of the NameNode", err)
	case isUnknown(err):
		s.Errorf("error %v: the outcome is known", err)
	}
}

// class checks the class of a refusal.
func (s *scene) class(err error, want string) {
	s.Helper()
	var remote *execute.RemoteError
	if !errors.As(err, &remote) {
		s.Errorf("error %v, want a refusal of class %s", err, want)
		return
	}
	if remote.Class != want {
		s.Errorf("class %s, want %s (%s)", remote.Class, want, remote.Message)
	}
	if remote.NameNode == "" || remote.Call == "" {
		s.Errorf("error without NameNode or call: %+v", remote)
	}
}

// gone checks that every question by an id is answered with ErrNotFound, and that
// nothing can be moved by it.
func (s *scene) gone(id uint64) {
	s.Helper()
	ref := execute.ByID(id)
	_, err := s.Stat(s.ctx(), ref)
	s.fails(err, execute.ErrNotFound)
	_, err = s.List(s.ctx(), ref, nil)
	s.fails(err, execute.ErrNotFound)
	_, err = s.Summary(s.ctx(), ref, 1000)
	s.fails(err, execute.ErrNotFound)
	_, err = s.XAttrs(s.ctx(), ref)
	s.fails(err, execute.ErrNotFound)
	_, err = s.Closed(s.ctx(), ref)
	s.fails(err, execute.ErrNotFound)
	s.fails(s.rename(execute.Move{ID: id, ParentID: s.id(s.dir), From: s.at("gone"), To: s.at("arrived")}), execute.ErrNotFound)
	s.none(s.at("arrived"))
}

// names gives the names of entries.
func names(entries []execute.Status) string {
	var all [][]byte
	for _, e := range entries {
		all = append(all, e.Name)
	}
	return string(bytes.Join(all, []byte("|")))
}

// equal checks one value.
func (s *scene) equal(what string, got, want any) {
	s.Helper()
	if got != want {
		s.Errorf("%s: %v, want %v", what, got, want)
	}
}

func isUnknown(err error) bool { return errors.Is(err, execute.ErrUnknown) }
