package plaintable

import (
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"
)

// TestNew: numbers to the right, names to the left, no blanks at the end of a line.
func TestNew(t *testing.T) {
	t.Parallel()
	w := New("<name", "n", "<path")
	w.AppendRow(table.Row{"a", "1,000", "/x"})
	w.AppendRow(table.Row{"long", "1", ""})
	want := "  name      n  path\n  a     1,000  /x\n  long      1"
	if got := w.Render(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
