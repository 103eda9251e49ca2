package probe

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fsweep/execute"
)

// found lists findings: level, code, path, root.
func found(r *Report) []string {
	var all []string
	for _, f := range r.Findings {
		s := strings.TrimSpace(fmt.Sprintf("%s %s %s", map[Level]string{Warning: "warning", Partly: "partly", Refusal: "refusal", Failure: "failure"}[f.Level], f.Code, f.Path))
		if f.Root != "" {
			s += " of " + f.Root
		}
		all = append(all, s)
	}
	return all
}

var errIO = &execute.RemoteError{Call: "x", NameNode: "nn1:8020", Class: "java.io.IOException", Message: "broken"}

// cases are one change each of what works, and what must be said of it.
var cases = []struct {
	name    string
	cluster func(*stub)
	options func(*Options)
	want    []string
	outcome Outcome
}{
	{name: "all is well"},
	{name: "without a policy", options: func(o *Options) { *o = Options{} }},
	{name: "a standby cannot be reached", cluster: func(s *stub) {
		s.nodes[1].Role, s.nodes[1].Err = execute.UnknownRole, errors.New("connection refused")
	}, want: []string{"warning namenode_not_seen"}},
	{name: "no NameNode is ACTIVE", cluster: func(s *stub) {
		s.nodes[0].Role, s.active = execute.StandbyRole, execute.ErrUnavailable
	}, want: []string{"failure no_active_namenode"}, outcome: Failed},
	{name: "it is a Router", cluster: func(s *stub) {
		s.nodes[0].Role, s.active = execute.UnknownRole, errors.New("rbf:8888 is a Router (federation)")
		s.nodes[0].Err = s.active
	}, want: []string{"warning namenode_not_seen", "refusal not_supported"}, outcome: Refused},
	{name: "the NameNode does not let the user in", cluster: func(s *stub) { s.active = errIO }, want: []string{"failure call_failed"}, outcome: Failed},
	{name: "two are ACTIVE", cluster: func(s *stub) { s.nodes[1].Role = execute.ActiveRole }, want: []string{"refusal two_active_namenodes"}, outcome: Refused},
	{
		name: "the standby is that of another cluster", cluster: func(s *stub) { s.nodes[1].ClusterID = "CID-2" },
		want: []string{"refusal namenodes_of_two_clusters"}, outcome: Refused,
	},
	{
		name: "the standby is that of another namespace", cluster: func(s *stub) { s.nodes[1].NamespaceID = 8 },
		want: []string{"refusal namenodes_of_two_clusters"}, outcome: Refused,
	},
	{name: "the standby does not tell", cluster: func(s *stub) { s.nodes[1].ClusterID, s.nodes[1].NamespaceID = "", 0 }},
	{name: "a clock is wrong", cluster: func(s *stub) {
		d := -3 * time.Minute
		s.nodes[1].Ahead = &d
	}, want: []string{"warning clock_differs"}},
	{name: "a clock is nearly right", cluster: func(s *stub) {
		d := 59 * time.Second
		s.nodes[0].Ahead = &d
	}},
	{name: "the NameNode answers nonsense", cluster: func(s *stub) { s.fails["Defaults"] = errIO }, want: []string{"failure call_failed"}, outcome: Failed},
	{name: "it stops answering", cluster: func(s *stub) { s.fails["List"] = context.DeadlineExceeded }, want: []string{"failure no_active_namenode"}, outcome: Failed},
	{name: "groups are not told", cluster: func(s *stub) { s.fails["Groups"] = errIO }},
	{name: "safe mode", cluster: func(s *stub) { s.safe = true }, want: []string{"refusal safe_mode"}, outcome: Refused},
	{name: "no trash", cluster: func(s *stub) { s.defaults.TrashInterval = 0 }, want: []string{"refusal trash_off"}, outcome: Refused},
	{
		name: "the trash keeps for too short a time", cluster: func(s *stub) { s.defaults.TrashInterval = 24*hour - time.Minute },
		want: []string{"refusal trash_interval_too_short"}, outcome: Refused,
	},
	{name: "no trash is needed with a quarantine", cluster: func(s *stub) {
		s.defaults.TrashInterval = 0
		s.put("/q", "flink", 0o700)
		s.drop("/user/flink")
	}, options: func(o *Options) { o.Quarantine = "/q" }},
	{name: "no home", cluster: func(s *stub) { s.drop("/user/flink") }, want: []string{"refusal home_missing /user/flink"}, outcome: Refused},
	{
		name: "no home, without a policy", cluster: func(s *stub) { s.drop("/user") }, options: func(o *Options) { *o = Options{} },
		want: []string{"refusal home_missing /user/flink"}, outcome: Refused,
	},
	{
		name: "the home belongs to another", cluster: func(s *stub) { s.mayNot["/user/flink"] = "" },
		want: []string{"refusal trash_not_usable /user/flink/.Trash"}, outcome: Refused,
	},
	{name: "the trash belongs to another, and the home does not matter", cluster: func(s *stub) {
		s.put("/user/flink/.Trash", "root", 0o700)
		s.mayNot["/user/flink/.Trash"] = ""
	}, want: []string{"refusal trash_not_usable /user/flink/.Trash"}, outcome: Refused},
	{name: "the trash exists, and the home is not writable", cluster: func(s *stub) {
		s.put("/user/flink/.Trash", "flink", 0o700)
		s.mayNot["/user/flink"] = ""
	}},
	{
		name: "what receives in the trash belongs to another", cluster: func(s *stub) {
			s.put("/user/flink/.Trash/Current", "flink", 0o700)
			s.mayNot["/user/flink/.Trash/Current"] = ""
		}, want: []string{"refusal trash_not_usable /user/flink/.Trash"}, outcome: Refused,
	},
	{name: "it is the user's", cluster: func(s *stub) { s.put("/user/flink/.Trash/Current", "flink", 0o700) }},
	{name: "it is a file", cluster: func(s *stub) {
		s.put("/user/flink/.Trash/Current", "flink", 0o700).Kind = execute.File
	}, want: []string{"refusal trash_not_usable /user/flink/.Trash"}, outcome: Refused},
	{
		name: "the trash is a file", cluster: func(s *stub) { s.put("/user/flink/.Trash", "flink", 0o600).Kind = execute.File },
		want: []string{"refusal trash_not_usable /user/flink/.Trash"}, outcome: Refused,
	},
	{
		name: "the trash cannot be seen", cluster: func(s *stub) { s.hidden["/user/flink"] = true },
		want: []string{"refusal trash_not_usable /user/flink/.Trash"}, outcome: Refused,
	},
	{
		name: "a zone has no trash directory", cluster: func(s *stub) { s.zones = []string{"/cp"} },
		want: []string{"refusal trash_not_provisioned /cp/.Trash of /cp"}, outcome: Incomplete,
	},
	{name: "a zone has one", cluster: func(s *stub) {
		s.zones = []string{"/cp"}
		s.put("/cp/.Trash", "hdfs", 0o1777)
	}, options: func(o *Options) { o.Roots[0].Excluded = []string{".Trash"} }},
	{
		name: "the trash of a snapshottable directory is not usable", cluster: func(s *stub) {
			s.snapTrash = []string{"/sp"}
			s.put("/sp/.Trash/flink", "flink", 0o700)
			s.mayNot["/sp/.Trash/flink"] = ""
		}, options: func(o *Options) { o.Roots[1].Excluded = []string{".Trash"} },
		want: []string{"refusal trash_not_usable /sp/.Trash/flink of /sp"}, outcome: Incomplete,
	},
	{name: "a quarantine outside of the zone", cluster: func(s *stub) {
		s.zones = []string{"/cp"}
		s.put("/q", "flink", 0o700)
	}, options: func(o *Options) { o.Quarantine = "/q" }, want: []string{"refusal trash_in_another_zone /cp of /cp"}, outcome: Incomplete},
	{name: "no quarantine", options: func(o *Options) { o.Quarantine = "/q" }, want: []string{"refusal quarantine_missing /q"}, outcome: Refused},
	{name: "a quarantine of another", cluster: func(s *stub) {
		s.put("/q", "root", 0o700)
		s.mayNot["/q"] = ""
	}, options: func(o *Options) { o.Quarantine = "/q" }, want: []string{"refusal quarantine_not_usable /q"}, outcome: Refused},
	{name: "the superuser", cluster: func(s *stub) {
		s.user = "hdfs"
		s.put("/user/hdfs", "hdfs", 0o700)
	}, want: []string{"warning superuser"}},
	{name: "no lock directory", cluster: func(s *stub) { s.drop("/ops/fsweep") }, want: []string{"refusal lock_dir_missing /ops/fsweep"}, outcome: Refused},
	{
		name: "a lock directory of another", cluster: func(s *stub) { s.mayNot["/ops/fsweep"] = "" },
		want: []string{"refusal lock_dir_not_usable /ops/fsweep"}, outcome: Refused,
	},
	{
		name: "a file for a lock directory", cluster: func(s *stub) { s.tree["/ops/fsweep"].Kind = execute.File },
		want: []string{"refusal lock_dir_not_usable /ops/fsweep"}, outcome: Refused,
	},
	{
		name: "a lock directory that is hidden", cluster: func(s *stub) { s.hidden["/ops/fsweep"] = true },
		want: []string{"refusal lock_dir_not_usable /ops/fsweep", "refusal hold_not_seen /ops/fsweep/HOLD"}, outcome: Refused,
	},
	{
		name: "locked", cluster: func(s *stub) { s.put("/ops/fsweep/LOCK/ann@gw1.99.1", "ann", 0o755) },
		want: []string{"refusal locked /ops/fsweep/LOCK"}, outcome: Refused,
	},
	{
		name: "held", cluster: func(s *stub) { s.put("/ops/fsweep/HOLD", "ann", 0o644).Kind = execute.File },
		want: []string{"refusal hold /ops/fsweep/HOLD"}, outcome: Refused,
	},
	{name: "anchors are right", options: func(o *Options) { o.Anchors = []AnchorOptions{{"/user", 16386}} }},
	{
		name: "an anchor is another inode", options: func(o *Options) { o.Anchors = []AnchorOptions{{"/user", 16387}, {"/none", 99}} },
		want: []string{"refusal another_cluster /user", "refusal another_cluster /none"}, outcome: Refused,
	},
	{
		name: "an anchor is hidden", cluster: func(s *stub) { s.put("/hidden/a", "x", 0o700); s.hidden["/hidden/a"] = true },
		options: func(o *Options) { o.Anchors = []AnchorOptions{{"/hidden/a", 99}} }, want: []string{"refusal anchor_not_seen /hidden/a"}, outcome: Refused,
	},
	{name: "a plan for today", options: func(o *Options) {
		o.Plan = &PlanOptions{Executable: true, ExpiresAt: o.Now.Add(1), ClusterID: "CID-1", NamespaceID: 7, Mark: "/ops/fsweep/done/0123"}
	}},
	{name: "a plan that expires now", options: func(o *Options) { o.Plan = &PlanOptions{Executable: true, ExpiresAt: o.Now, NamespaceID: 7} }, want: []string{"refusal plan_expired"}, outcome: Refused},
	{
		name: "a lock could not be given back", cluster: func(s *stub) {
			s.put("/ops/fsweep/done", "x", 0o755)
			s.put("/ops/fsweep/broken", "x", 0o755)
			s.mayNot["/ops/fsweep/done"], s.mayNot["/ops/fsweep/broken"] = "", ""
		},
		want: []string{"refusal lock_dir_not_usable /ops/fsweep/done", "refusal lock_dir_not_usable /ops/fsweep/broken"}, outcome: Refused,
	},
	{
		name: "a plan that was carried out", cluster: func(s *stub) { s.put("/ops/fsweep/done/0123/ann@gw1.99.1", "ann", 0o755) },
		options: func(o *Options) {
			o.Plan = &PlanOptions{Executable: true, ExpiresAt: o.Now.Add(1), NamespaceID: 7, Mark: "/ops/fsweep/done/0123"}
		},
		want: []string{"refusal plan_executed /ops/fsweep/done/0123"}, outcome: Refused,
	},
	{
		name: "a plan that is not executable", options: func(o *Options) { o.Plan = &PlanOptions{ExpiresAt: o.Now.Add(1), NamespaceID: 7} },
		want: []string{"refusal plan_not_executable"}, outcome: Refused,
	},
	{
		name: "a plan for another cluster", options: func(o *Options) {
			o.Plan = &PlanOptions{Executable: true, ExpiresAt: o.Now.Add(1), ClusterID: "CID-2", NamespaceID: 7}
		},
		want: []string{"refusal another_cluster"}, outcome: Refused,
	},
	{
		name: "a plan for another namespace", options: func(o *Options) {
			o.Plan = &PlanOptions{Executable: true, ExpiresAt: o.Now.Add(1), ClusterID: "CID-1", NamespaceID: 8}
		},
		want: []string{"refusal another_cluster"}, outcome: Refused,
	},
	{
		name: "the cluster does not tell its id", cluster: func(s *stub) { s.nodes[0].ClusterID, s.nodes[0].NamespaceID = "", 0 },
		options: func(o *Options) {
			o.Plan = &PlanOptions{Executable: true, ExpiresAt: o.Now.Add(1), ClusterID: "CID-2", NamespaceID: 8}
		},
	},
	{name: "a root is missing", cluster: func(s *stub) { s.drop("/sp") }, want: []string{"refusal root_missing /sp of /sp"}, outcome: Incomplete},
	{
		name: "all roots are missing", cluster: func(s *stub) { s.drop("/sp"); s.drop("/cp"); s.drop("/data") },
		want: []string{"refusal root_missing /cp of /cp", "refusal root_missing /sp of /sp", "refusal root_missing /data of /data"}, outcome: Refused,
	},
	{name: "a root is hidden", cluster: func(s *stub) { s.hidden["/sp"] = true }, want: []string{"refusal root_not_seen /sp of /sp"}, outcome: Incomplete},
	{name: "a root cannot be listed", cluster: func(s *stub) { s.unlisted["/cp"] = true }, want: []string{"refusal root_not_seen /cp of /cp"}, outcome: Incomplete},
	{name: "a root cannot be asked about", cluster: func(s *stub) { s.fails["TrashRoot"] = errIO }, want: []string{
		"failure call_failed", "failure call_failed /cp", "failure call_failed /sp", "failure call_failed /data",
	}, outcome: Failed},
	{name: "a root is a file", cluster: func(s *stub) { s.tree["/data"].Kind = execute.File }, want: []string{"refusal root_is_no_directory /data of /data"}, outcome: Incomplete},
	{name: "a root was made anew", options: func(o *Options) { o.Roots[2].WantID = 5 }, want: []string{"refusal root_replaced /data of /data"}, outcome: Incomplete},
	{name: "a root is not writable, and the jobs in it are", cluster: func(s *stub) { s.mayNot["/cp"] = "" }},
	{name: "one job is not writable", cluster: func(s *stub) { s.mayNot["/cp/users"] = "" }, want: []string{"partly partly_not_movable /cp/users of /cp"}, outcome: Incomplete},
	{name: "it is excluded", cluster: func(s *stub) { s.mayNot["/cp/users"] = "" }, options: func(o *Options) { o.Roots[0].Excluded = []string{"users"} }},
	{name: "only the other one is selected", cluster: func(s *stub) { s.mayNot["/cp/users"] = "" }, options: func(o *Options) { o.Roots[0].Jobs = []string{"orders"} }},
	{
		name: "a job that is named is missing", options: func(o *Options) { o.Roots[0].Jobs = []string{"orders", "gone"} },
		want: []string{"warning job_missing /cp/gone of /cp"},
	},
	{name: "jobs that are named cannot be seen", cluster: func(s *stub) {
		s.hidden["/cp/orders"], s.hidden["/cp/users"] = true, true
	}, options: func(o *Options) { o.Roots[0].Jobs = []string{"orders", "users"} }, want: []string{"refusal root_not_seen /cp/orders of /cp"}, outcome: Incomplete},
	{
		name: "no job is writable", cluster: func(s *stub) { s.mayNot["/cp/users"], s.mayNot["/cp/orders"] = "", "" },
		want: []string{"refusal not_movable /cp/orders of /cp"}, outcome: Incomplete,
	},
	{name: "flat savepoints are moved out of the root", cluster: func(s *stub) { s.mayNot["/sp"] = "" }, want: []string{"refusal not_movable /sp of /sp"}, outcome: Incomplete},
	{name: "savepoints of jobs are not", cluster: func(s *stub) {
		s.drop("/sp/savepoint-aaaaaa-bbbbbbbbbbbb")
		s.put("/sp/orders", "flink", 0o755)
		s.mayNot["/sp"] = ""
	}},
	{
		name: "a sticky bit of another", cluster: func(s *stub) { s.tree["/data"].Owner, s.tree["/data"].Permission = "root", 0o1777 },
		want: []string{"warning sticky_bit /data of /data"},
	},
	{name: "a sticky bit of one's own", cluster: func(s *stub) { s.tree["/data"].Permission = 0o1777 }},
	{
		name: "the NameNode does not tell what the user may", cluster: func(s *stub) { s.fails["Access"] = execute.ErrUnsupported },
		want: []string{
			"refusal lock_dir_not_usable /ops/fsweep", "warning movable_not_known /cp of /cp", "warning movable_not_known /sp of /sp", "warning movable_not_known /data of /data",
			"refusal trash_not_usable /user/flink/.Trash",
		}, outcome: Refused,
	},
	{name: "a snapshottable directory above", cluster: func(s *stub) { s.tree["/data"].Snapshottable = true }, want: []string{"warning below_snapshottable /data of /data"}},
	{name: "the root of HDFS says that it is snapshottable", cluster: func(s *stub) { s.tree["/"].Snapshottable = true }},
	{name: "nothing is executed yet", options: observeAll, want: []string{"warning all_roots_observe"}},
	{
		name: "nothing is executed yet, and a root is missing", cluster: func(s *stub) { s.drop("/sp") }, options: observeAll,
		want: []string{"refusal root_missing /sp of /sp", "warning all_roots_observe"}, outcome: Incomplete,
	},
	{
		name: "nothing is executed yet, and all roots are missing", cluster: func(s *stub) { s.drop("/sp"); s.drop("/cp"); s.drop("/data") }, options: observeAll,
		want:    []string{"refusal root_missing /cp of /cp", "refusal root_missing /sp of /sp", "refusal root_missing /data of /data", "warning all_roots_observe"},
		outcome: Refused,
	},
	{
		name: "the only root that may be executed is missing", cluster: func(s *stub) { s.drop("/cp") },
		options: func(o *Options) { o.Roots[1].Execute = false }, want: []string{"refusal root_missing /cp of /cp"}, outcome: Refused,
	},
	{
		name: "all roots that may be executed are missing", cluster: func(s *stub) { s.drop("/cp"); s.drop("/sp") },
		want: []string{"refusal root_missing /cp of /cp", "refusal root_missing /sp of /sp"}, outcome: Refused,
	},
	{
		name: "only a root that is observed is missing", cluster: func(s *stub) { s.drop("/data") },
		want: []string{"refusal root_missing /data of /data"}, outcome: Incomplete,
	},
	{
		name: "the only root that may be executed is movable in part", cluster: func(s *stub) { s.mayNot["/cp/users"] = "" },
		options: func(o *Options) { o.Roots[1].Execute = false }, want: []string{"partly partly_not_movable /cp/users of /cp"}, outcome: Incomplete,
	},
	{name: "everything at once", cluster: func(s *stub) {
		s.safe, s.defaults.TrashInterval = true, 0
		s.drop("/ops/fsweep")
		s.drop("/sp")
		s.mayNot["/data"] = ""
	}, want: []string{
		"refusal safe_mode", "refusal trash_off", "refusal lock_dir_missing /ops/fsweep", "refusal root_missing /sp of /sp", "refusal not_movable /data of /data",
	}, outcome: Refused},
}

func observeAll(o *Options) {
	for i := range o.Roots {
		o.Roots[i].Execute = false
	}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	seen := map[Code]bool{}
	for _, c := range cases {
		s, o := healthy(), wants()
		if c.cluster != nil {
			c.cluster(s)
		}
		if c.options != nil {
			c.options(&o)
		}
		r, err := Look(t.Context(), s, o)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, found(r)); diff != "" || r.Outcome() != c.outcome {
			t.Errorf("%s: outcome %d\n%s", c.name, r.Outcome(), diff)
		}
		for _, f := range r.Findings {
			seen[f.Code] = true
			if f.Message == "" || strings.Contains(f.Message, "%!") || strings.HasSuffix(f.Message, ".") {
				t.Errorf("%s: message %q", c.name, f.Message)
			}
		}
	}
	for _, code := range Codes() {
		if !seen[code] {
			t.Errorf("no case gives %s", code)
		}
	}
}

// TestSeen: what is shown beside findings.
func TestSeen(t *testing.T) {
	t.Parallel()
	s := healthy()
	s.tree["/data"].Snapshottable = true
	s.put("/ops/fsweep/LOCK/ann@gw1.99.1", "ann", 0o755)
	s.put("/data/sub", "flink", 0o755)
	o := wants()
	o.Roots[2].Path = "/data/sub"
	r, err := Look(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Active == nil || r.Active.ID != "nn1" || r.ClusterID != "CID-1" || r.NamespaceID != 7 || r.SafeMode != No || r.Cut {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff([]string{"ann@gw1.99.1"}, r.Lock); diff != "" {
		t.Error(diff)
	}
	root := &r.Roots[2]
	if diff := cmp.Diff([]string{"/data"}, root.Snapshottable); diff != "" || root.TrashRoot.Kind != execute.HomeTrash || root.Status.ID != s.tree["/data/sub"].ID {
		t.Errorf("%+v %s", root, diff)
	}
	if jobs := &r.Roots[0]; jobs.Parents != 2 || jobs.Movable != 2 || jobs.More {
		t.Errorf("%+v", jobs)
	}
	if len(r.Trash.Roots) != 1 || r.Trash.Roots[0].Path != "/user/flink/.Trash" || r.Trash.Roots[0].Place.Exists != No || r.Trash.Roots[0].Place.Usable != Yes {
		t.Errorf("%+v", r.Trash.Roots)
	}
}

// TestManyJobs: a probe asks about a bounded number of jobs, over pages, and says so.
func TestManyJobs(t *testing.T) {
	t.Parallel()
	for _, page := range []int{7, 1000} {
		s := healthy()
		s.page = page
		for i := range maxParents + 10 {
			s.put(fmt.Sprintf("/cp/job-%04d", i), "flink", 0o755)
		}
		last := path.Join("/cp", fmt.Sprintf("job-%04d", maxParents/2))
		s.mayNot[last] = ""
		r, err := Look(t.Context(), s, wants())
		if err != nil {
			t.Fatal(err)
		}
		if jobs := r.Roots[0]; jobs.Parents != maxParents || jobs.Movable != maxParents-1 || !jobs.More || jobs.Refusing != last {
			t.Errorf("pages of %d: %d of %d, more %v, %s", page, jobs.Movable, jobs.Parents, jobs.More, jobs.Refusing)
		}
	}
}

// TestCut: when the cluster stops answering, at whatever question, there is one finding
// of it, the probe ends soon, and it does not say that anything is missing or refused.
func TestCut(t *testing.T) {
	t.Parallel()
	s := healthy()
	if _, err := Look(t.Context(), s, wants()); err != nil {
		t.Fatal(err)
	}
	total := len(s.calls)
	for n := 1; n < total; n++ {
		s := healthy()
		s.lostAfter = n
		r, err := Look(t.Context(), s, wants())
		if err != nil {
			t.Fatal(err)
		}
		if got := found(r); !slices.Equal(got, []string{"failure no_active_namenode"}) || !r.Cut || r.Outcome() != Failed || len(s.calls) != n+1 {
			t.Errorf("after %d of %d calls: %q, cut %v, %d calls", n, total, got, r.Cut, len(s.calls))
		}
	}
}

// TestInterrupted: the end of the context is an error, not a finding about the cluster.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Look(ctx, healthy(), wants()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{24 * hour: "24h", 90 * time.Minute: "1h30m", 10 * time.Minute: "10m", 30 * time.Second: "30s", hour + time.Second: "1h0m1s", 0: "0s"} {
		if got := Span(d); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}
