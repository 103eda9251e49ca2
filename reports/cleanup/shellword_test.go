package cleanup

import "testing"

func TestShellWord(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"a/b.jsonl": "a/b.jsonl", "my plan": "'my plan'", "it's": `'it'\''s'`, "-": "PLAN", "a\nb": "PLAN", "$(x)": "'$(x)'", "plän": "'plän'"} {
		if got := shellWord(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}
