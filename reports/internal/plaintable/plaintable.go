// Package plaintable makes the tables of all texts that people read, so that they
// look alike.
package plaintable

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// New makes a table without lines. Columns are aligned to the right; one whose
// name starts with "<" to the left.
func New(columns ...string) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.Style().Box.PaddingLeft = "  "
	t.Style().Box.PaddingRight = ""
	t.Style().Format.Header = text.FormatDefault
	t.SuppressTrailingSpaces()
	head := make(table.Row, len(columns))
	configs := make([]table.ColumnConfig, len(columns))
	for i, c := range columns {
		align := text.AlignRight
		if name, left := strings.CutPrefix(c, "<"); left {
			c, align = name, text.AlignLeft
		}
		head[i] = c
		configs[i] = table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align}
	}
	t.AppendHeader(head)
	t.SetColumnConfigs(configs)
	return t
}
