package cleanup

import "fsweep/proto/planfile"

// What reports of an execution show in the same form as plans.

// Sentence puts facts into a sentence, as rules have them: {name} stands for a fact, in
// the form that its name asks for; {n|file is|files are} for a number with what fits it.
// What is in brackets is left out where a fact in it is missing.
func Sentence(says string, facts []planfile.Fact) string {
	text, _ := expand(says, facts)
	return text
}

// ShowFact gives the value of a fact in the form that its name asks for.
func ShowFact(f *planfile.Fact) string { return show(f) }

// Clock shows a time, in milliseconds since 1970, in UTC, to the second.
func Clock(ms int64) string { return clock(ms) }

// Span shows a length of time in milliseconds with its two largest units.
func Span(ms int64) string { return span(ms) }

// Age shows how old something was when the image was saved; times in milliseconds.
func Age(mtimeMs, imageMs int64) string { return age(mtimeMs, imageMs) }

// Count shows a number with commas.
func Count(n int64) string { return count(n) }

// Size shows bytes rounded, without a blank.
func Size(n int64) string { return size(n) }

// Pad fills up to a width of columns, of which wide characters take two.
func Pad(s string, width int) string { return pad(s, width) }

// Escape gives the text form of a name.
func Escape[T ~string](name T) string { return escape(name) }

// Printable makes a sentence safe that may have anything in it: a backslash stays.
func Printable(s string) string { return printable(s) }
