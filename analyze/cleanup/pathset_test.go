package cleanup

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestPathSetBelow compares the search with a look at all paths, among names that begin
// alike: what lies in /a does not stand at once behind it where there is an /a-b.
func TestPathSetBelow(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 6))
	parts := []string{"a", "a-b", "a!", "ab", "a0", "\xff", "b"}
	path := func() string {
		var p strings.Builder
		for range 1 + r.IntN(3) {
			p.WriteString("/" + parts[r.IntN(len(parts))])
		}
		return p.String()
	}
	for range 3000 {
		var list []Path
		for range r.IntN(8) {
			list = append(list, Path(path()))
		}
		s := newPathSet(list)
		p := path()
		want := ""
		for _, x := range list {
			if strings.HasPrefix(string(x), p+"/") && (want == "" || string(x) < want) {
				want = string(x)
			}
		}
		if got, ok := s.below(Path(p)); string(got) != want || ok != (want != "") {
			t.Fatalf("%q has %q below %q, want %q", list, got, p, want)
		}
	}
}
