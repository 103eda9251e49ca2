package cleanup

import (
	"bufio"
	"io"
	"iter"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// The words that lines start with.
const (
	rootLine   = "ROOT"
	jobLine    = "JOB"
	keepLine   = "KEEP"
	deleteLine = "WOULD-DELETE"
	errorLine  = "ERROR"
)

// lineWords are those words in the order in which left out lines are counted.
var lineWords = [...]string{errorLine, jobLine, keepLine, deleteLine}

const (
	wordWidth = len(deleteLine) + 2
	// fieldWidth is that of names in head, summary and explanations.
	fieldWidth = 20
	// maxPathWidth: what is behind a longer path is not aligned, so that one of them
	// does not make all lines long.
	maxPathWidth = 120
	// blockLines are aligned with each other: more would have to wait in memory.
	blockLines = 256
)

// line is one line of a list.
type line struct {
	word string
	path string // in text form
	cols [5]string
	text string           // the reason
	more iter.Seq[string] // lines below it; nil: there are none
}

// printer writes text. The first error stays, and ends all writing.
type printer struct {
	w       *bufio.Writer
	o       TextOptions
	imageMs int64

	block   []line
	printed map[string]int
	omitted map[string]int64
}

func newPrinter(w io.Writer, o TextOptions, imageMs int64) *printer {
	return &printer{w: bufio.NewWriter(w), o: o, imageMs: imageMs, printed: map[string]int{}, omitted: map[string]int64{}}
}

func (p *printer) print(parts ...string) {
	for _, s := range parts {
		_, _ = p.w.WriteString(s) // bufio keeps the error for Flush
	}
	_ = p.w.WriteByte('\n')
}

// failed tells whether something could not be written, so that going on is of no use.
func (p *printer) failed() bool {
	_, err := p.w.Write(nil)
	return err != nil
}

// field is a line of head or summary.
func (p *printer) field(name, value string) { p.print("  ", pad(name, fieldWidth), value) }

// room tells whether one more line of a kind may be printed, and counts it.
func (p *printer) room(word string) bool {
	if p.o.MaxListLines > 0 && p.printed[word] >= p.o.MaxListLines {
		p.omitted[word]++
		return false
	}
	p.printed[word]++
	return true
}

// list puts a line into the block that is aligned together.
func (p *printer) list(l line) {
	p.block = append(p.block, l)
	if len(p.block) >= blockLines {
		p.flush()
	}
}

// flush prints the block.
func (p *printer) flush() {
	pathWidth, widths := 0, [len(line{}.cols)]int{}
	for i := range p.block {
		if w := text.StringWidthWithoutEscSequences(p.block[i].path); w <= maxPathWidth {
			pathWidth = max(pathWidth, w)
		}
		for c, s := range p.block[i].cols {
			widths[c] = max(widths[c], len(s)) // only ASCII
		}
	}
	var b strings.Builder
	for i := range p.block {
		l := &p.block[i]
		b.Reset()
		b.WriteString(pad(l.word, wordWidth))
		b.WriteString(pad(l.path, pathWidth))
		for c, s := range l.cols {
			if widths[c] > 0 {
				b.WriteString("  ")
				b.WriteString(padLeft(s, widths[c]))
			}
		}
		b.WriteString("  ")
		b.WriteString(l.text)
		p.print(strings.TrimRight(b.String(), " "))
		if l.more == nil {
			continue
		}
		for s := range l.more {
			p.print(strings.Repeat(" ", wordWidth+2), s)
		}
	}
	p.block = p.block[:0]
}

// left says how many lines were not printed.
func (p *printer) left() {
	for _, word := range lineWords {
		if n := p.omitted[word]; n > 0 {
			p.print("… ", plural(n, "more "+word+" line is", "more "+word+" lines are"), " not printed (--max-list-lines ", count(int64(p.o.MaxListLines)), "); JSON has all")
		}
	}
}
