package main

import (
	"context"
	"iter"
	"slices"
	"time"

	"fsweep/execute/act"
	"fsweep/execute/check"
	"fsweep/proto/planfile"
	"fsweep/reports/execution"
)

// checker hands the verdicts of a check to whoever acts, and shows what forbids all.
type checker struct {
	s      *check.Session
	report *execution.Report
}

// Preflight implements act.Checker.
func (c *checker) Preflight(ctx context.Context) error {
	problems, err := c.s.Preflight(ctx)
	if err != nil {
		return err
	}
	for _, p := range problems {
		c.report.Problem(execution.Problem{Code: p.Code, Path: p.Path, Facts: p.Facts})
	}
	if len(problems) > 0 {
		return &act.Refusal{Rule: problems[0].Code, Text: "the plan must not be carried out here now: " + codes(problems)}
	}
	return nil
}

func codes(problems []check.Problem) string {
	s, seen := "", map[string]bool{}
	for _, p := range problems {
		if seen[p.Code] {
			continue
		}
		if len(seen) > 0 {
			s += ", "
		}
		seen[p.Code] = true
		s += p.Code
	}
	return s
}

// Check implements act.Checker.
func (c *checker) Check(ctx context.Context) error { return c.s.Check(ctx) }

// Held implements act.Checker.
func (c *checker) Held(ctx context.Context) (planfile.Path, error) { return c.s.Held(ctx) }

// heldBack tells whether the plan itself says that an item stays.
func heldBack(v *check.Verdict) bool {
	return !v.Move && (v.Rule == check.Deferred || v.Rule == check.Observed)
}

func verdict(v *check.Verdict) act.Verdict {
	out := act.Verdict{Move: v.Move, Rule: string(v.Rule), Facts: v.Facts, Listed: heldBack(v), At: time.UnixMilli(v.AtMs)}
	if v.Guard != "" {
		out.Facts = append(slices.Clip(out.Facts), planfile.Fact{Name: guardFact, Text: escaped(v.Guard)})
	}
	switch v.Rule {
	case check.RootChanged, check.Gone, check.Replaced, check.MovedAway, check.Changed, check.TotalsChanged, check.TreeChanged:
		out.Drift = true
	case check.Restored:
		out.Restored = true
	case check.Deferred, check.Observed, check.NotText, check.Marked, check.OpenFile, check.Snapshottable, check.EncryptionZone, check.NotVisible,
		check.Live, check.Pinned, check.NewRun, check.MayBeRestored, check.ReferredTo, check.SaidToBe, check.BlindGuard,
		check.NotMoved:
	}
	return out
}

// guardFact is the fact in the journal that names the guard that decides.
const guardFact = "guard"

// Items implements act.Checker.
func (c *checker) Items() iter.Seq2[*planfile.Item, act.Verdict] {
	return func(yield func(*planfile.Item, act.Verdict) bool) {
		for i, v := range c.s.Items() {
			if !yield(i, verdict(&v)) {
				return
			}
		}
	}
}

// Failed implements act.Checker.
func (c *checker) Failed() error { return c.s.Err() }

// Again implements act.Checker.
func (c *checker) Again(ctx context.Context, item *planfile.Item) (act.Verdict, error) {
	v, err := c.s.Again(ctx, item)
	return verdict(&v), err
}

// Moved implements act.Checker.
func (c *checker) Moved(item *planfile.Item) { c.s.Moved(item) }

// Stays implements act.Checker.
func (c *checker) Stays(item *planfile.Item) { c.s.Stays(item) }

// Guards implements act.Checker.
func (c *checker) Guards(ctx context.Context, all bool) ([]*planfile.Item, error) {
	return c.s.Guards(ctx, all)
}

// kept is what a check says of an item that stays.
func kept(i *planfile.Item, v *check.Verdict, atMs int64) execution.Item {
	return execution.Item{
		Outcome: execution.Kept, Path: i.Path, Item: i, Rule: string(v.Rule), Facts: v.Facts, Guard: v.Guard, AtMs: atMs,
	}
}
