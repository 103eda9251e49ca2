package probe

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fsweep/execute"
	"fsweep/execute/fakehdfs"
)

// prepared is an HDFS in which an execute by flink works.
func prepared(o fakehdfs.Options) *fakehdfs.FS {
	fs := fakehdfs.New(o)
	fs.Mkdir("/user/flink", "flink", 0o700)
	fs.Mkdir("/ops/fsweep", "ops", 0o777)
	for _, p := range []string{"/cp", "/cp/orders", "/cp/users", "/sp", "/data"} {
		fs.Mkdir(p, "flink", 0o750)
	}
	fs.Mkdir("/sp/savepoint-aaaaaa-bbbbbbbbbbbb", "flink", 0o750)
	return fs
}

// TestOnHDFS: findings on an HDFS that has permissions, zones, trashes and snapshots,
// which does not see one call that changes something.
func TestOnHDFS(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		user    string
		prepare func(*fakehdfs.FS)
		options func(*Options)
		want    []string
		outcome Outcome
	}{
		{name: "all is well"},
		{name: "a user without anything", user: "alice", want: []string{
			"refusal root_not_seen /cp of /cp", "refusal root_not_seen /sp of /sp", "refusal root_not_seen /data of /data", "refusal not_movable /data of /data",
			"refusal home_missing /user/alice",
		}, outcome: Refused},
		{name: "a user of the group", user: "alice", prepare: func(fs *fakehdfs.FS) {
			fs.Groups("alice", "flink", "ops")
			fs.Mkdir("/user/alice", "alice", 0o700)
			for _, p := range []string{"/cp", "/cp/orders", "/cp/users", "/sp", "/sp/savepoint-aaaaaa-bbbbbbbbbbbb", "/data"} {
				fs.Chown(p, "flink", "flink")
			}
			fs.Chmod("/cp/orders", 0o770)
			fs.Chmod("/data", 0o770)
		}, want: []string{"partly partly_not_movable /cp/users of /cp", "refusal not_movable /sp of /sp"}, outcome: Incomplete},
		{name: "the superuser", user: "root", prepare: func(fs *fakehdfs.FS) { fs.Mkdir("/user/root", "root", 0o700) }, want: []string{"warning superuser"}},
		{name: "held, locked, no lock directory for others", prepare: func(fs *fakehdfs.FS) {
			fs.Put("/ops/fsweep/HOLD", "ann", nil)
			fs.Mkdir("/ops/fsweep/LOCK/ann@gw1.99.1", "ann", 0o755)
			fs.Chmod("/ops/fsweep", 0o755)
		}, want: []string{"refusal lock_dir_not_usable /ops/fsweep", "refusal locked /ops/fsweep/LOCK", "refusal hold /ops/fsweep/HOLD"}, outcome: Refused},
		{
			name: "safe mode and no trash", prepare: func(fs *fakehdfs.FS) { fs.SetSafeMode(true); fs.SetTrash(0) },
			want: []string{"refusal safe_mode", "refusal trash_off"}, outcome: Refused,
		},
		{
			name: "the trash is another's", prepare: func(fs *fakehdfs.FS) { fs.Mkdir("/user/flink/.Trash", "root", 0o700) },
			want: []string{"refusal trash_not_usable /user/flink/.Trash"}, outcome: Refused,
		},
		{name: "an encryption zone", prepare: func(fs *fakehdfs.FS) {
			fs.Mkdir("/zone", "flink", 0o750)
			fs.EncryptionZone("/zone")
		}, options: func(o *Options) { o.Roots[2].Path = "/zone" }, want: []string{"refusal trash_not_provisioned /zone/.Trash of /zone"}, outcome: Incomplete},
		{name: "its trash was made", prepare: func(fs *fakehdfs.FS) {
			fs.Mkdir("/zone", "flink", 0o750)
			fs.EncryptionZone("/zone")
			fs.Mkdir("/zone/.Trash", "root", 0o1777)
		}, options: func(o *Options) { o.Roots[2].Path = "/zone" }},
		{name: "a snapshottable root", prepare: func(fs *fakehdfs.FS) {
			fs.AllowSnapshots("/data")
			fs.Mkdir("/data/.Trash", "root", 0o1777)
		}, want: []string{"warning below_snapshottable /data of /data"}},
		{
			name: "a link in place of a root", prepare: func(fs *fakehdfs.FS) { fs.Delete("/data"); fs.Symlink("/data", "/cp") },
			want: []string{"refusal root_is_no_directory /data of /data"}, outcome: Incomplete,
		},
		{
			name: "the root below a file", prepare: func(fs *fakehdfs.FS) { fs.Put("/file", "flink", nil) },
			options: func(o *Options) { o.Roots[2].Path = "/file/data" }, want: []string{"refusal root_missing /file/data of /file/data"}, outcome: Incomplete,
		},
	} {
		for _, ha := range []bool{false, true} {
			fs := prepared(fakehdfs.Options{HA: ha})
			if c.prepare != nil {
				c.prepare(fs)
			}
			o := wants()
			if c.options != nil {
				c.options(&o)
			}
			user := c.user
			if user == "" {
				user = "flink"
			}
			r, err := Look(t.Context(), fs.Client(user), o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, found(r)); diff != "" || r.Outcome() != c.outcome {
				t.Errorf("%s: outcome %d\n%s", c.name, r.Outcome(), diff)
			}
			if m := fs.Mutating(); len(m) > 0 {
				t.Errorf("%s: changed %v", c.name, m)
			}
		}
	}
}

// TestFaults: whatever happens to one question, nothing is changed; and when it is not
// answered, or late, or by a standby, nothing is said to be missing or forbidden.
func TestFaults(t *testing.T) {
	t.Parallel()
	o := wants()
	o.Timeout = time.Minute
	clean := prepared(fakehdfs.Options{HA: true})
	if _, err := Look(t.Context(), clean.Client("flink"), o); err != nil {
		t.Fatal(err)
	}
	total := clean.Ops()
	silent := []string{"lost", "frozen", "standby", "retriable", "slow", "very slow", "clock forwards", "clock backwards", "failover"}
	base := prepared(fakehdfs.Options{HA: true})
	for n := 1; n <= total; n++ {
		for _, fault := range fakehdfs.Faults() {
			fs := base.Clone()
			fs.At(n, fault.Fault)
			r, err := Look(t.Context(), fs.Client("flink"), o)
			if err != nil {
				t.Fatal(err)
			}
			if m := fs.Mutating(); len(m) > 0 {
				t.Fatalf("%s at %d: changed %v", fault.Name, n, m)
			}
			kind := strings.TrimSuffix(strings.TrimSuffix(fault.Name, " before"), " after")
			if out := r.Outcome(); slices.Contains(silent, kind) && out != Works && out != Failed {
				t.Errorf("%s at %d of %d, %s: %q", fault.Name, n, total, fs.Log()[n-1].Call, found(r))
			}
		}
	}
	t.Logf("%d questions", total)
}

// TestRoles: which NameNode is ACTIVE, and that a failover in between is followed.
func TestRoles(t *testing.T) {
	t.Parallel()
	for n := range 8 {
		fs := prepared(fakehdfs.Options{HA: true})
		fs.At(n, fakehdfs.Fault{Do: (*fakehdfs.FS).Failover})
		r, err := Look(t.Context(), fs.Client("flink"), wants())
		if err != nil || r.Outcome() != Works {
			t.Fatal(err, found(r))
		}
		roles := ""
		for _, nn := range r.NameNodes {
			roles += fmt.Sprint(nn.ID, " ", nn.Role, "; ")
		}
		if want := []string{"nn1 active; nn2 standby; ", "nn1 standby; nn2 active; ", "nn1 standby; nn2 standby; ", "nn1 active; nn2 active; "}; !slices.Contains(want, roles) {
			t.Error(roles)
		}
	}
	fs := prepared(fakehdfs.Options{HA: true})
	fs.AllStandby()
	r, err := Look(t.Context(), fs.Client("flink"), wants())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"failure no_active_namenode"}, found(r)); diff != "" || r.NameNodes[0].Role != execute.StandbyRole {
		t.Error(diff)
	}
}
