package plan

import (
	"strconv"
	"strings"

	"fsweep/analyze/cleanup"
	"fsweep/proto/planfile"
)

// enclosing are the paths, of those that came in order, that the next one can lie in.
type enclosing []planfile.Path

// apart tells whether a path is none of those before and in none of them. What is not
// has a name that something else has, too.
func (e *enclosing) apart(p planfile.Path) bool {
	for len(*e) > 0 && !strings.HasPrefix(string(p), string((*e)[len(*e)-1])) {
		*e = (*e)[:len(*e)-1]
	}
	for _, o := range *e {
		if p == o || p.Below(o) {
			return false
		}
	}
	*e = append(*e, p)
	return true
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// belts are the limits once more, in the numbers of the plan's lines, to which the plan
// is held by whoever reads it. Those of the decision count units as discovery did: an
// item can be left out, or have other numbers in its line.
type belts struct {
	limits                 planfile.Belts
	items, entries, length int64
	roots                  map[*cleanup.RootDecision]int64
	// What was deferred here, as [cleanup.Decide] has it: a unit for what is older in its
	// group, a part for those behind it.
	newer, part cleanup.Path
}

func (b *builder) newBelts() belts {
	return belts{limits: limits(&b.r.Policy.Belts), roots: map[*cleanup.RootDecision]int64{}}
}

// job and unit say that another one follows.
func (k *belts) job()  { k.newer = "" }
func (k *belts) unit() { k.part = "" }

// weigh counts an item that the decision does not defer, or gives why it is deferred.
func (k *belts) weigh(i *cleanup.Item, w *weight) []cleanup.Fact {
	why := k.behind(i)
	switch {
	case len(why) > 0:
	case w.undeletable():
		why = []cleanup.Fact{{Rule: Undeletable}}
	default:
		why = k.admit(i, w.entries(), w.length())
	}
	if len(why) > 0 && i.Unit.Verdict == cleanup.Candidate {
		if k.part = i.Path; k.newer == "" {
			k.newer = i.Unit.Path
		}
	}
	return why
}

// admit counts an item, or gives all belts that it would break.
func (k *belts) admit(i *cleanup.Item, entries, length int64) (why []cleanup.Fact) {
	if !i.Root.Executable {
		return nil
	}
	over := func(rule cleanup.Rule, used, more, limit int64) {
		if more > limit-used { // a sum could overflow
			why = append(why, cleanup.Fact{Rule: rule, N: used + more, Limit: limit})
		}
	}
	l, t := &k.limits, &i.Root.Root.Totals
	over(cleanup.BeltItems, k.items, 1, l.MaxItems)
	over(cleanup.BeltInodesMove, 0, entries, l.MaxInodesPerMove)
	over(cleanup.BeltInodes, k.entries, entries, l.MaxInodes)
	over(cleanup.BeltPercent, k.roots[i.Root], entries, (t.Directories+t.Files+t.Symlinks)*l.MaxPercentOfRoot/100)
	if l.MaxBytes > 0 {
		over(cleanup.BeltBytes, k.length, length, l.MaxBytes)
	}
	if len(why) == 0 {
		k.items++
		k.entries += entries
		k.length += length
		k.roots[i.Root] += entries
	}
	return why
}

// behind tells whether something that must go before an item was deferred. Debris in a
// unit that stays, and units that nothing groups, stand for themselves.
func (k *belts) behind(i *cleanup.Item) []cleanup.Fact {
	switch {
	case i.Unit.Verdict != cleanup.Candidate:
	case k.newer != "" && k.newer != i.Unit.Path && i.Job.Name != "":
		return []cleanup.Fact{{Rule: cleanup.NewerDeferred, Path: k.newer}}
	case k.part != "":
		return []cleanup.Fact{{Rule: cleanup.EarlierPartStays, Path: k.part}}
	}
	return nil
}

// Undeletable defers an item with an erasure coded file that a snapshot shows as well:
// NameNodes up to now fail to delete such a file once it was renamed, so it must never
// get into the trash.
const Undeletable cleanup.Rule = "undeletable"
