package check

import (
	"slices"
	"strings"

	"fsweep/proto/pathtext"
	"fsweep/proto/planfile"
)

// Rule is the reason why an item stays: a stable word.
type Rule string

// The rules, the first that applies is the one that is shown.
const (
	// What the plan says.
	Deferred Rule = "deferred" // by a belt, or it cannot be deleted
	Observed Rule = "observe"  // its root is only observed
	NotText  Rule = "not-text" // its path is not UTF-8: nothing could be moved to, or back to, a path that nobody can ask for

	// What the cluster is now.
	Restored       Rule = "restored"        // an earlier process moved it, and it is back
	RootChanged    Rule = "root-changed"    // its root is gone, or another inode
	Gone           Rule = "gone"            // nothing stands at its path
	Replaced       Rule = "replaced"        // another inode stands at its path
	MovedAway      Rule = "moved-away"      // it is elsewhere now
	Marked         Rule = "marked"          // a keep marker at it or above
	Changed        Rule = "changed"         // it, or a directory in it, is not as in the image
	TotalsChanged  Rule = "totals-changed"  // a content summary counts something else
	TreeChanged    Rule = "tree-changed"    // its fingerprint is another
	OpenFile       Rule = "open-file"       // somebody writes
	Snapshottable  Rule = "snapshottable"   // it, or a directory in it
	EncryptionZone Rule = "encryption-zone" // it is the root of one
	NotVisible     Rule = "not-visible"     // the user may not look at all of it

	// Who needs it.
	Live          Rule = "live"               // a live list names it
	Pinned        Rule = "pinned"             // a list names it, or something in it or above
	NewRun        Rule = "new-run"            // its job has a run that the plan does not know
	MayBeRestored Rule = "may-be-restored"    // a run without a checkpoint of its own may start from it
	ReferredTo    Rule = "referenced"         // a guard refers to it
	SaidToBe      Rule = "named-by-a-guard"   // a guard that cannot be decoded has its name
	BlindGuard    Rule = "guard-not-readable" // nobody knows what a guard refers to

	// What became of it.
	NotMoved Rule = "not-moved" // it, or another part of its run, could not be moved
)

var ranks = []Rule{
	Deferred, Observed, NotText, Restored, RootChanged, Gone, Replaced, MovedAway, Marked, Changed, TotalsChanged, TreeChanged, OpenFile,
	Snapshottable, EncryptionZone, NotVisible, Live, Pinned, NewRun, MayBeRestored, ReferredTo, SaidToBe, BlindGuard, NotMoved,
}

func (r Rule) rank() int { return slices.Index(ranks, r) }

// partly tells whether a rule is about one part of a run and says nothing of others.
func (r Rule) partly() bool { return r == Deferred || r == Observed || r == Gone || r == MovedAway }

// undoes tells whether a rule brings back what was moved: somebody may need it.
func (r Rule) undoes() bool {
	return r == MayBeRestored || r == ReferredTo || r == SaidToBe || r == BlindGuard
}

// text makes a fact of words. Those of a file system can be no text, and then no journal would
// take them.
func text(name, value string) planfile.Fact {
	return planfile.Fact{Name: name, Text: strings.ToValidUTF8(value, "\uFFFD")}
}

// shown makes a fact of a path or a name, in its text form, as plans have it: names are bytes.
func shown(name, value string) planfile.Fact {
	return planfile.Fact{Name: name, Text: string(pathtext.Append(nil, value))}
}

func number(name string, value int64) planfile.Fact { return planfile.Fact{Name: name, Number: value} }

// differs gives what the plan says and what there is.
func differs(name string, plan, now int64) []planfile.Fact {
	return []planfile.Fact{number(name+"_in_plan", plan), number(name+"_now", now)}
}
