package cleanup

import (
	"math"
	"slices"
	"strings"

	"fsweep/proto/planfile"
)

// Reason is a rule with what it saw. Paths and names in facts are in text form.
type Reason struct {
	Rule  string
	Facts []planfile.Fact
}

// String says the rule in words, with its facts. A fact that is missing is left out
// or, where the sentence needs it, a question mark. A rule that is not known stands
// for itself, with its facts behind it.
func (r Reason) String() string {
	words, ok := rules[r.Rule]
	if !ok {
		return r.raw()
	}
	text, _ := expand(words.says, r.Facts)
	return text
}

// Change says what would have to be otherwise for the rule not to hold; empty for
// rules that are not known.
func (r Reason) Change() string {
	text, _ := expand(rules[r.Rule].change, r.Facts)
	return text
}

// Known tells whether there is a sentence for the rule.
func (r Reason) Known() bool { return rules[r.Rule].says != "" }

func (r Reason) raw() string {
	parts := make([]string, len(r.Facts))
	for i := range r.Facts {
		parts[i] = printable(r.Facts[i].Name) + " " + show(&r.Facts[i])
	}
	if len(parts) == 0 {
		return printable(r.Rule)
	}
	return printable(r.Rule) + ": " + strings.Join(parts, ", ")
}

// ItemReason says why an item is in the plan, and if it is deferred or moves only
// under a condition, that too.
func ItemReason(i planfile.Item) string {
	return itemReason(&Item{Item: i})
}

// words are what a rule means.
type words struct {
	// says is the sentence, without a full stop. {name} stands for a fact, in the
	// form that its name asks for; {a+b} for the time a with the length of time b;
	// {n|file is|files are} for a number with what fits it. What is in brackets is
	// left out where a fact in it is missing.
	says string
	// change says what would end it.
	change string
}

// expand puts facts into a sentence; false if one was missing.
func expand(s string, facts []planfile.Fact) (string, bool) {
	var b strings.Builder
	complete := true
	for s != "" {
		at := strings.IndexAny(s, "{[")
		if at < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:at])
		end := "}"
		if s[at] == '[' {
			end = "]"
		}
		inner, rest, _ := strings.Cut(s[at+1:], end)
		if end == "]" {
			if part, ok := expand(inner, facts); ok {
				b.WriteString(part)
			}
		} else {
			part, ok := place(inner, facts)
			complete = complete && ok
			b.WriteString(part)
		}
		s = rest
	}
	return b.String(), complete
}

// place gives what stands in one pair of braces.
func place(name string, facts []planfile.Fact) (string, bool) {
	name, forms, plural := strings.Cut(name, "|")
	name, plus, sum := strings.Cut(name, "+")
	f := find(facts, name)
	if f == nil {
		return "?", false
	}
	switch {
	case sum:
		p := find(facts, plus)
		if p == nil {
			return "?", false
		}
		// The first second at which more than that has passed.
		if total := f.Number + p.Number; p.Number >= 0 && total >= f.Number && total < math.MaxInt64-1000 {
			return clock(total - total%1000 + 1000), true
		}
		return "?", false
	case plural:
		one, many, _ := strings.Cut(forms, "|")
		if f.Number == 1 {
			return "1 " + one, true
		}
		return count(f.Number) + " " + many, true
	}
	return show(f), true
}

func find(facts []planfile.Fact, name string) *planfile.Fact {
	if i := slices.IndexFunc(facts, func(f planfile.Fact) bool { return f.Name == name }); i >= 0 {
		return &facts[i]
	}
	return nil
}

// show gives the value of a fact in the form that its name asks for: names of times
// end in time_ms, those of lengths of time in _ms.
func show(f *planfile.Fact) string {
	switch {
	case f.Text != "":
		return printable(f.Text)
	case strings.HasSuffix(f.Name, "time_ms"):
		return clock(f.Number)
	case strings.HasSuffix(f.Name, "_ms"):
		return span(f.Number)
	case strings.HasSuffix(f.Name, "bytes"):
		return size(f.Number)
	case f.Name == "checkpoint", strings.HasSuffix(f.Name, "_checkpoint"), strings.HasSuffix(f.Name, "_id"):
		return exact(f.Number) // the digits of a name
	}
	return count(f.Number)
}

// named is the rule and the sentence: what scripts look for, and what people read.
func (r Reason) named() string {
	s := r.String()
	if strings.HasPrefix(s, printable(r.Rule)) {
		return s
	}
	return r.Rule + ": " + s
}

// allNamed gives the first reason in words, the others by name.
func allNamed(list []Reason) string {
	if len(list) == 0 {
		return ""
	}
	var others []string
	for _, r := range list[1:] {
		if name := printable(r.Rule); name != list[0].Rule && !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	s := list[0].named()
	if len(others) > 0 {
		s += "; also " + strings.Join(others, ", ")
	}
	return s
}

func (i *Item) deferred() bool { return i.Deferred != "" || len(i.Deferrals) > 0 }

// proofNeeded ends the reason of what only the executor can decide about.
const proofNeeded = "; if no guard refers to it"

func itemReason(i *Item) string {
	s := Reason{Rule: i.Rule, Facts: i.Evidence}.named()
	if i.SplitOf != 0 {
		s += "; a part of run " + escape(i.Run)
	}
	switch {
	case len(i.Deferrals) > 0:
		var why []string
		for _, r := range i.Deferrals {
			why = append(why, r.String())
		}
		return "deferred: " + strings.Join(why, ", ") + "; " + s
	case i.Deferred != "":
		return "deferred: " + Reason{Rule: i.Deferred}.String() + "; " + s
	case i.NeedsReferenceProof || i.Conditional:
		s += proofNeeded
	}
	return s
}
