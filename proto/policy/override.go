package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Overrides are what flags change in a policy. The zero value changes nothing.
type Overrides struct {
	// Roots restricts the plan to these roots of the policy, as paths or URIs.
	Roots []string
	// Jobs restricts every selected root to these first-level names. Where the
	// policy lists jobs itself, they must be among them.
	Jobs []string
	// ExcludeJobs adds to what every selected root excludes.
	ExcludeJobs []string
	// MinAge replaces min_age of every selected root.
	MinAge *Duration
	// Keep replaces keep of every selected root that groups by job.
	Keep *int
	// Now and ImageTime are only compared here: neither is part of a policy. Zero
	// times are not looked at.
	Now, ImageTime time.Time
}

// flagProblem makes a problem that has no place in the file.
func flagProblem(flag, format string, args ...any) Problem {
	return Problem{Key: "--" + flag, Message: fmt.Sprintf(format, args...)}
}

// With gives the policy that is in force with flags. p stays as it is. The result
// is checked like a file; an error is a [*Error] without places.
//
// Flags may allow more than the file does (a smaller min_age or keep): they stand
// in the digest of the policy, and [Policy.Notes] says them.
func (p *Policy) With(o Overrides) (*Policy, error) {
	out := *p
	out.notes = slices.Clone(p.notes)
	problems := out.selectRoots(o.Roots)
	if !o.Now.IsZero() && o.ImageTime.After(o.Now) {
		problems = append(problems, flagProblem("image-time", "%s is after --now %s",
			o.ImageTime.UTC().Format(time.RFC3339Nano), o.Now.UTC().Format(time.RFC3339Nano)))
	}
	for i := range out.Roots {
		problems = append(problems, out.narrow(&out.Roots[i], o)...)
	}
	problems = append(problems, out.loosen(o)...)
	if len(problems) == 0 {
		problems = check(&out, nil)
	}
	if len(problems) > 0 {
		return nil, newSource(p.name, "").failed(problems...)
	}
	return &out, nil
}

// selectRoots gives the policy its own roots, without those that are not selected.
func (p *Policy) selectRoots(paths []string) (problems []Problem) {
	declared := p.Roots
	p.Roots = nil
	selected := map[Path]bool{}
	for _, s := range paths {
		clean, err := CleanPath(s, p.Nameservice, true)
		if err != nil {
			problems = append(problems, flagProblem("root", "%v", err))
			continue
		}
		selected[Path(clean)] = true
	}
	var all []string
	for _, r := range declared {
		all = append(all, string(r.Path))
		if len(paths) == 0 || selected[r.Path] {
			p.Roots = append(p.Roots, r)
		}
		delete(selected, r.Path)
	}
	for path := range selected {
		problems = append(problems, flagProblem("root", "%s is no root of the policy; those are %s", path, strings.Join(all, ", ")))
	}
	slices.SortFunc(problems, func(a, b Problem) int { return strings.Compare(a.Message, b.Message) })
	return problems
}

// narrow applies to one root what can only make a plan smaller.
func (p *Policy) narrow(r *Root, o Overrides) (problems []Problem) {
	names := func(flag string, list []string) (out []Name) {
		for _, s := range list {
			if err := CheckName(s); err != nil {
				problems = append(problems, flagProblem(flag, "%v", err))
			}
			if !slices.Contains(out, Name(s)) { // typed twice: the same once
				out = append(out, Name(s))
			}
		}
		return out
	}
	excluded := slices.Clone(r.ExcludeJobs)
	for _, n := range names("exclude-job", o.ExcludeJobs) {
		if !slices.Contains(excluded, n) {
			excluded = append(excluded, n)
		}
	}
	r.ExcludeJobs = excluded
	jobs := names("job", o.Jobs)
	for _, n := range jobs {
		if len(r.Jobs) > 0 && !slices.Contains(r.Jobs, n) {
			problems = append(problems, flagProblem("job", "%q is not among the jobs that the policy lists for %s", n, r.Path))
		}
	}
	if len(jobs) > 0 {
		r.Jobs = jobs
	}
	return problems
}

// loosen applies ages and numbers to keep, and notes where they allow more.
func (p *Policy) loosen(o Overrides) (problems []Problem) {
	grouped := false
	for i := range p.Roots {
		r := &p.Roots[i]
		if o.MinAge != nil {
			if *o.MinAge < r.MinAge {
				p.notes = append(p.notes, fmt.Sprintf("%s: min_age is %s by a flag, less than %s in the policy", r.Path, *o.MinAge, r.MinAge))
			}
			r.MinAge = *o.MinAge
		}
		if o.Keep != nil && r.Groups() {
			grouped = true
			if keep := Count(*o.Keep); keep < r.Keep {
				p.notes = append(p.notes, fmt.Sprintf("%s: keep is %d by a flag, less than %d in the policy", r.Path, keep, r.Keep))
			}
			r.Keep = Count(*o.Keep)
		}
	}
	if o.Keep != nil && !grouped && len(p.Roots) > 0 {
		problems = append(problems, flagProblem("keep", "no selected root groups by job, so there is nothing to count"))
	}
	return problems
}
