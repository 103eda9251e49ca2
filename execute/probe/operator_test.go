package probe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fsweep/execute"
)

// TestNamedJobs: jobs that the policy names are asked about wherever they stand, and no
// part of a listing is taken for the whole.
func TestNamedJobs(t *testing.T) {
	t.Parallel()
	s := healthy()
	s.drop("/cp/orders")
	s.drop("/cp/users")
	for i := range 2*maxParents + 10 {
		s.put(fmt.Sprintf("/cp/a-%04d", i), "flink", 0o644).Kind = execute.File
	}
	s.put("/cp/last", "root", 0o755)
	s.mayNot["/cp/last"] = ""
	o := wants()
	o.Roots = o.Roots[:1]
	r, err := Look(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	if got := found(r); !slices.Equal(got, []string{"warning movable_not_known /cp of /cp"}) || r.Roots[0].Parents != 0 || !r.Roots[0].More {
		t.Errorf("not named: %q, %+v", got, r.Roots[0])
	}
	o.Roots[0].Jobs = []string{"last"}
	if r, err = Look(t.Context(), s, o); err != nil {
		t.Fatal(err)
	}
	if got := found(r); !slices.Equal(got, []string{"refusal not_movable /cp/last of /cp"}) || r.Roots[0].More || r.Outcome() != Refused {
		t.Errorf("named: %q, %+v", got, r.Roots[0])
	}
}

// failingOver has no ACTIVE NameNode until one is waited for.
type failingOver struct{ *stub }

func (f failingOver) Active(ctx context.Context) (execute.NameNode, error) {
	f.nodes[0].Role = execute.ActiveRole
	return f.stub.Active(ctx)
}

// TestFailover: a plan for another cluster is seen although no NameNode was ACTIVE at first.
func TestFailover(t *testing.T) {
	t.Parallel()
	s, o := healthy(), wants()
	s.nodes[0].Role = execute.StandbyRole
	o.Plan = &PlanOptions{Executable: true, ExpiresAt: o.Now.Add(1), ClusterID: "CID-2", NamespaceID: 7}
	r, err := Look(t.Context(), failingOver{s}, o)
	if err != nil {
		t.Fatal(err)
	}
	if got := found(r); !slices.Equal(got, []string{"refusal another_cluster"}) || r.ClusterID != "CID-1" || r.NameNodes[0].Role != execute.ActiveRole {
		t.Errorf("%q, %+v", got, r.NameNodes)
	}
}

// TestMessages: what a sentence must say beyond its code.
func TestMessages(t *testing.T) {
	t.Parallel()
	s, o := healthy(), wants()
	s.put("/cp/third", "root", 0o755)
	s.mayNot["/cp/third"], s.mayNot["/cp/users"] = "", ""
	r, err := Look(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Findings[0].Message; !strings.Contains(got, "out of it and of 1 more, 2 of 3 directories") {
		t.Errorf("%q", got)
	}
	link := &execute.RemoteError{Class: "x", Message: "/ops/fsweep", Kind: execute.ErrSymlink}
	if got := reason(link); !strings.Contains(got, "symbolic link") || !strings.Contains(got, `"/ops/fsweep"`) {
		t.Errorf("%q", got)
	}
}
