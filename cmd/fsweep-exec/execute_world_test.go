package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fsweep/execute"
	"fsweep/execute/hdfstest/rig"
)

// programs are fsweep and fsweep-exec as users have them.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "fsweep-programs-")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", dir, "fsweep/cmd/fsweep", "fsweep/cmd/fsweep-exec").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return dir, nil
})

// site is a real HDFS with a plan for it.
type site struct {
	t        *testing.T
	c        *rig.Cluster
	dir      string // work directory
	journals string
	plan     string
	digest   string
	user     string
	conf     string // configuration directory of the programs
	name     string // of the nameservice there; "": that of the rig
	belts    string // of the policy
	pace     string
	env      []string // more environment of the programs
	seen     []byte   // all that they wrote, if env is not empty
}

// owner of all state, and who executes.
const owner = "flink"

func newSite(t *testing.T, o rig.Options) *site {
	t.Helper()
	if os.Getenv("FSWEEP_NAMENODE") == "1" {
		if _, err := programs(); err != nil {
			t.Fatal(err)
		}
	}
	s := &site{
		t: t, c: rig.Start(t, o), dir: t.TempDir(), user: owner,
		belts: "{max_percent_of_root: 100%, min_trash_interval: 1h}", pace: quick,
	}
	s.conf = s.c.ConfDir()
	a := s.c.Admin()
	a.Mkdir(t, "/user", "root", 0o755)
	a.Mkdir(t, "/user/"+owner, owner, 0o755)
	a.Mkdir(t, "/ops", "root", 0o755)
	a.Mkdir(t, "/ops/fsweep", owner, 0o775)
	s.journals = s.journalDir()
	return s
}

// quick is a pace without any pause.
const quick = `{between_items: 0ms, between_batches: 0ms, between_roots: 0ms, window: ""}`

// journalDir makes a directory for journals. They are never kept below a temporary directory,
// so it is none.
func (s *site) journalDir() string {
	s.t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		s.t.Fatal(err)
	}
	dir, err := os.MkdirTemp(cache, "fsweep-test-journals-")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// run runs one of the programs as the user and gives its exit code.
func (s *site) run(program string, args ...string) (code int, stdout, stderr string) {
	s.t.Helper()
	cmd := s.command(s.t.Context(), program, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if s.env != nil {
		s.seen = append(append(s.seen, out.Bytes()...), errs.Bytes()...)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), out.String(), errs.String()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return 0, out.String(), errs.String()
}

func (s *site) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	s.t.Helper()
	dir, err := programs()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(dir, program), args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "HADOOP_CONF_DIR="+s.conf, "HADOOP_USER_NAME="+s.user, "TZ=Asia/Kathmandu")
	cmd.Env = append(cmd.Env, s.env...)
	return cmd
}

// exits runs fsweep-exec and requires an exit code.
func (s *site) exits(want int, args ...string) string {
	s.t.Helper()
	code, out, errs := s.run("fsweep-exec", args...)
	if code != want {
		s.t.Fatalf("fsweep-exec %q: exit code %d, want %d\n%s\n%s", args, code, want, out, errs)
	}
	return out + errs
}

func (s *site) nameservice() string {
	if s.name != "" {
		return s.name
	}
	if s.c.NameNodes() == 1 {
		return s.c.Proxy(0).Addr()
	}
	return rig.Nameservice
}

// makePlan saves the namespace and plans from the image.
func (s *site) makePlan(roots string, more ...string) {
	s.t.Helper()
	image := s.c.SaveNamespace(s.t)
	policy := filepath.Join(s.dir, "policy.yaml")
	text := "version: 1\nnameservice: " + s.nameservice() + `
lock_dir: /ops/fsweep
belts: ` + s.belts + "\npace: " + s.pace + "\n" + strings.Join(more, "\n") + "\nroots:\n" + roots
	if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.plan = filepath.Join(s.dir, fmt.Sprintf("plan-%d.jsonl", time.Now().UnixNano()))
	code, out, errs := s.run("fsweep", "plan", image, "--policy", policy, "-o", s.plan)
	if code != 0 {
		s.t.Fatalf("fsweep plan: exit code %d\n%s\n%s", code, out, errs)
	}
	p, err := openPlanFile(s.plan)
	if err != nil {
		s.t.Fatal(err)
	}
	defer p.close()
	s.digest = p.digest.String()
}

// result is what fsweep-exec says as JSON.
type result struct {
	Problems []struct{ Code string }
	Items    []struct{ Outcome, Path, Rule, Reason, Target, Guard string }
	Summary  struct {
		Planned, Done, Restored, Skipped, Failed, Unknown struct{ Items, Inodes int64 }
		WouldMove                                         struct{ Items, Inodes int64 } `json:"would_move"`
	}
	End struct {
		ExitCode int `json:"exit_code"`
		Stopped  string
	}
}

// results runs fsweep-exec with --format json.
func (s *site) results(want int, args ...string) *result {
	s.t.Helper()
	code, out, errs := s.run("fsweep-exec", append(args, "--format", "json")...)
	if code != want {
		s.t.Fatalf("fsweep-exec %q: exit code %d, want %d\n%s\n%s", args, code, want, out, errs)
	}
	var r result
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		s.t.Fatalf("fsweep-exec %q: %v\n%s\n%s", args, err, out, errs)
	}
	if r.End.ExitCode != code {
		s.t.Errorf("fsweep-exec %q: exit code %d, and in JSON %d", args, code, r.End.ExitCode)
	}
	return &r
}

// outcomes are what became of each item: the outcome, and the rule of what is kept.
func (r *result) outcomes() map[string]string {
	m := map[string]string{}
	for _, i := range r.Items {
		m[i.Path] = strings.TrimSuffix(i.Outcome+" "+i.Rule, " ")
	}
	return m
}

// executeArgs are the flags that carry the plan out.
func (s *site) executeArgs() []string {
	return []string{"run", s.plan, "--execute", s.digest, "--journal-dir", s.journals, "--unproven"}
}

// tree is all below a directory: path, inode id, kind, length, and of files the mtime.
func (s *site) tree(dir string) map[string]string {
	s.t.Helper()
	look := s.c.As(s.t, "root").Inspector
	m := map[string]string{}
	var visit func(p string, id uint64)
	visit = func(p string, id uint64) {
		for after := []byte(nil); ; {
			page, err := look.List(s.t.Context(), execute.ByID(id), after)
			if err != nil {
				s.t.Fatalf("list %q: %v", p, err)
			}
			for i := range page.Entries {
				e := &page.Entries[i]
				line := fmt.Sprintf("%d kind %d length %d %s:%s %o", e.ID, e.Kind, e.Length, e.Owner, e.Group, e.Permission)
				if e.Kind == execute.File {
					line += fmt.Sprint(" mtime ", e.MTimeMs)
				}
				m[path.Join(p, string(e.Name))] = line
				if e.Kind == execute.Directory {
					visit(path.Join(p, string(e.Name)), e.ID)
				}
				after = e.Name
			}
			if page.Left == 0 {
				return
			}
		}
	}
	st, err := look.Stat(s.t.Context(), execute.At(dir))
	if err != nil {
		s.t.Fatal(err)
	}
	visit(dir, st.ID)
	return m
}

// differ compares two trees.
func differ(t *testing.T, before, after map[string]string) {
	t.Helper()
	for p, was := range before {
		if is, ok := after[p]; !ok {
			t.Errorf("%q is gone", p)
		} else if is != was {
			t.Errorf("%q was %s and is %s", p, was, is)
		}
	}
	for p := range after {
		if _, ok := before[p]; !ok {
			t.Errorf("%q is new", p)
		}
	}
}

// old makes all of a tree as old as so many days, files a minute older than directories.
func (s *site) old(dir string, days int) {
	s.t.Helper()
	ms := time.Now().Add(-time.Duration(days) * 24 * time.Hour).UnixMilli()
	a := s.c.Admin()
	for p, line := range s.tree(dir) {
		if !strings.Contains(line, "kind 3") {
			a.SetTimes(s.t, p, ms, ms)
		}
	}
	a.SetTimes(s.t, dir, ms, -1)
}

func runID(n int) string { return fmt.Sprintf("a1b2c3d4e5f60718293a4b5c6d7e%04x", n) }

// makeRun makes a run with one complete checkpoint, so many days old.
func (s *site) makeRun(dir string, days int, refs ...string) string {
	s.t.Helper()
	a := s.c.Admin()
	for _, d := range []string{"", "/chk-7", "/shared", "/taskowned"} {
		a.Mkdir(s.t, dir+d, owner, 0o755)
	}
	a.Put(s.t, dir+"/shared/sst", owner, nil)
	a.Put(s.t, dir+"/chk-7/_metadata", owner, metadata(append(refs, dir+"/shared/sst")...))
	s.old(dir, days)
	return dir
}

// metadata is a `_metadata` file of version 3 that refers to files: each is the managed
// state of the one subtask of an operator.
func metadata(refs ...string) []byte {
	be := binary.BigEndian
	b := be.AppendUint32(nil, 0x4960672d)
	b = be.AppendUint32(b, 3)
	b = be.AppendUint64(b, 7)                 // checkpoint id
	b = be.AppendUint32(b, 0)                 // master states
	b = be.AppendUint32(b, uint32(len(refs))) // operators
	for i, ref := range refs {
		b = be.AppendUint64(b, 0) // id
		b = be.AppendUint64(b, uint64(i))
		b = be.AppendUint32(b, 1)   // parallelism
		b = be.AppendUint32(b, 128) // maximum
		b = append(b, 0)            // coordinator
		b = be.AppendUint32(b, 1)   // subtasks
		b = be.AppendUint32(b, 0)   // index
		b = be.AppendUint32(b, 1)
		b = append(b, 4)          // state that can be divided
		b = be.AppendUint32(b, 0) // names in it
		ref = "hdfs://anything" + ref
		b = append(b, 2)
		b = be.AppendUint64(b, 0) // length
		b = be.AppendUint16(b, uint16(len(ref)))
		b = append(b, ref...)
		b = be.AppendUint32(b, 0) // raw operator state
		b = append(b, 0, 0)       // keyed state
		b = be.AppendUint32(b, 0) // channels in
		b = be.AppendUint32(b, 0) // and out
	}
	return b
}
