package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fsweep/proto/schematest"
)

// draw makes any valid policy.
func draw(t *rapid.T) *Policy {
	p := Defaults()
	name := rapid.StringOfN(rapid.RuneFrom([]rune("ab0-_. %*[]{}#:'\"\\,&!~äμ\n\t\u0085\u2028\ufeff😀x")), 1, 12, -1).
		Filter(func(s string) bool { return CheckName(s) == nil })
	word := rapid.StringMatching(`[a-zA-Z0-9_ äöü#%'"&,!~-]{1,10}`).Filter(func(s string) bool { return s != "" })
	words := rapid.SampledFrom([]string{"true", "null", "1", "1.5", "0x1f", "1e3", "~", "yes", "-", "a: b", "a #b", "2026-12-31", "=", "01:00"})
	text := rapid.OneOf(name, word, words)
	var n int
	path := func(label string) Path { // never one inside another
		n++
		return Path(fmt.Sprintf("/%s%d/%s", label, n, strings.NewReplacer(":", "", "/", "").Replace(word.Draw(t, label))))
	}
	duration := func(label string) Duration {
		return Duration(rapid.Int64Range(1, 1<<42).Draw(t, label)) * Duration(time.Millisecond)
	}
	count := func(label string) Count { return Count(rapid.Int64Range(1, 1<<62).Draw(t, label)) }
	names := func(label string) []Name {
		var out []Name
		for _, s := range rapid.SliceOfNDistinct(text, 0, 3, rapid.ID[string]).Draw(t, label) {
			out = append(out, Name(s))
		}
		return out
	}
	p.Version, p.LockDir, p.HoldPaths = 1, path("lock"), []Path{path("hold")}
	p.Nameservice = rapid.SampledFrom([]Nameservice{"ns1", "nn.example.org:8020", "0", "on"}).Draw(t, "nameservice")
	if rapid.Bool().Draw(t, "quarantine") {
		p.Removal.Quarantine = path("quarantine")
	}
	p.Preflight = rapid.SampledFrom([]Preflight{PreflightAll, PreflightRoot}).Draw(t, "preflight")
	p.ImageMaxAge, p.GuardAge = duration("image_max_age"), duration("guard_age")
	p.Belts.MaxItems, p.Belts.MaxBytes = count("max_items"), Size(rapid.Int64Min(0).Draw(t, "max_bytes"))
	p.Pace.Window = rapid.SampledFrom([]Window{{}, {0, 1439}, {1380, 60}}).Draw(t, "window")
	p.Pace.StopOn.Mismatch = Percent(rapid.IntRange(0, 100).Draw(t, "stop_on"))
	p.Capacity.Factor = Factor(rapid.Int64Range(1000, 1<<40).Draw(t, "factor"))
	p.Live = []LiveSource{{File: File(strings.Trim(word.Draw(t, "file"), "\n") + "x"), Format: Kubernetes, MaxAge: duration("max_age")}}
	if reason := text.Draw(t, "reason"); strings.TrimSpace(reason) != "" {
		p.WaiveGuards = []Waiver{{InodeID: InodeID(rapid.Uint64Min(1).Draw(t, "inode")), Reason: Reason(reason), Expires: Date{2026, time.February, 28}}}
	}
	for range rapid.IntRange(1, 4).Draw(t, "roots") {
		r := DefaultRoot(rapid.SampledFrom([]Layout{JobRun, Run, Savepoints, HAStorage, Children}).Draw(t, "layout"))
		r.Path, r.MinAge, r.ExcludeJobs, r.Ignore = path("root"), duration("min_age"), names("exclude_jobs"), names("ignore")
		switch r.Layout {
		case JobRun, Run:
			if rapid.Bool().Draw(t, "stale") {
				r.StaleCheckpoints = &StaleCheckpoints{count("keep_newest"), duration("older_than")}
				r.UnreferencedShared = &UnreferencedShared{duration("older_than")}
			}
		case Savepoints:
			r.JobMap, r.Keep = File("map "+word.Draw(t, "job_map")), count("keep")
		case Children:
			r.Names = []Glob{Glob("ab" + rapid.SampledFrom([]string{"*", "?", "#", ": ", " &*"}).Draw(t, "names"))}
		case HAStorage:
		}
		p.Roots = append(p.Roots, r)
	}
	if problems := check(&p, nil); len(problems) > 0 {
		t.Fatalf("the test makes no valid policy: %v", problems)
	}
	return &p
}

// TestPrintComesBack: what is printed is read as the same policy, and printed the same.
func TestPrintComesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := draw(t)
		again, err := Parse("", p.canonical())
		if err != nil {
			t.Fatalf("%v\n%s", err, p.canonical())
		}
		if diff := cmp.Diff(p, again, cmp.AllowUnexported(Policy{})); diff != "" {
			t.Fatalf("%s\n%s", diff, p.canonical())
		}
		if again.Digest() != p.Digest() {
			t.Fatal("another digest")
		}
	})
}

// TestDigestSeesEverything: no two policies that differ have one digest.
func TestDigestSeesEverything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t), draw(t)
		if same := cmp.Equal(a, b, cmp.AllowUnexported(Policy{})); same != (a.Digest() == b.Digest()) {
			t.Fatalf("%s\n%s", a.canonical(), b.canonical())
		}
	})
}

// TestSchemaTakesPolicies: no valid policy is refused by the schema.
func TestSchemaTakesPolicies(t *testing.T) {
	t.Parallel()
	s := schematest.Compile(t, string(Schema))
	rapid.Check(t, func(r *rapid.T) {
		p := draw(r)
		if err := validate(t, s, p.canonical()); err != nil {
			r.Fatalf("%s\n%v", p.canonical(), err)
		}
	})
}

// FuzzParsePolicy: any bytes give a policy that comes back from its print, or an
// error that can be read.
func FuzzParsePolicy(f *testing.F) {
	f.Add([]byte(minimal))
	f.Add([]byte(minimal + "belts: {max_bytes: 1.5GiB}\nprotect: ['/a', \"/b\\u0020c\"]\n"))
	f.Add([]byte("a: &a [*a]\n--- !!x |\n  b\n? {c: [d"))
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 1<<14 {
			t.Skip("larger inputs take long and show nothing else")
		}
		p, err := Parse("policy.yaml", src)
		if err != nil {
			if len(err.Error()) > maxProblems*4000+len(src)*3 {
				t.Fatalf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		again, err := Parse("policy.yaml", p.canonical())
		if err != nil || again.Digest() != p.Digest() {
			t.Fatalf("%v\n%s", err, p.canonical())
		}
	})
}
