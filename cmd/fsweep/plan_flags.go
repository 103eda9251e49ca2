package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fsweep/analyze/cleanup"
	"fsweep/cmd/internal/cli"
)

// moment is a flag that takes a point in time.
type moment struct{ time.Time }

// String, Set and Type implement pflag.Value.
func (m *moment) String() string {
	if m.IsZero() {
		return ""
	}
	return m.UTC().Format(time.RFC3339Nano)
}

// lastYear leaves room for what is counted from a time, such as when a plan expires:
// a plan has no time after the year 9999.
const lastYear = 9000

// Set takes a time of RFC 3339, to the millisecond. Without an offset it would be
// anybody's guess which one is meant.
func (m *moment) Set(s string) error {
	t, err := time.Parse(time.RFC3339, s)
	t = t.UTC().Truncate(time.Millisecond)
	switch {
	case err != nil, strings.Contains(s, ","): // which Go takes for a point
		return errors.New("write a time such as 2026-11-29T21:30:00Z, with Z for UTC or an offset such as +02:00")
	case t.UnixMilli() <= 0 || t.Year() > lastYear:
		return fmt.Errorf("must be after 1970 and not beyond the year %d", lastYear)
	}
	m.Time = t
	return nil
}

// Type is shown in the help.
func (m *moment) Type() string { return "TIME" }

// cleanupOptions are the flags of the commands that decide by a policy.
type cleanupOptions struct {
	readOptions
	policy      string
	overrides   cleanup.Overrides
	minAgeHours int
	keep        int
	now         moment
	imageTime   moment
	acceptFewer bool
}

// policyFlags are the names of the flags that need a policy.
var policyFlags = []string{"policy", "root", "job", "exclude-job", "min-age-hours", "keep", "now", "image-time", "accept-fewer-live"}

func (o *cleanupOptions) addPolicyFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.policy, "policy", "", "`file` that says what may be planned (docs/policy.md)")
	// Names may have commas in them, so that a flag is one name.
	flags.StringArrayVar(&o.overrides.Roots, "root", nil, "only this `path` among the policy's roots; repeatable")
	flags.StringArrayVar(&o.overrides.Jobs, "job", nil, "only this exact first-level `name` in every selected root; repeatable")
	flags.StringArrayVar(&o.overrides.ExcludeJobs, "exclude-job", nil, "leave this exact first-level `name` alone; repeatable")
	flags.IntVar(&o.minAgeHours, "min-age-hours", 0, "in place of min_age of every selected root")
	flags.IntVar(&o.keep, "keep", 0, "in place of keep of every selected root that groups by job")
	flags.Var(&o.now, "now", "the present, in place of the clock: 2026-11-29T21:30:00Z")
	flags.Var(&o.imageTime, "image-time", "when the image was saved; ages count to it")
	flags.BoolVar(&o.acceptFewer, "accept-fewer-live", false, "do not compare live lists with what they named the last time; the plan says so")
}

// maxHours is a hundred years.
const maxHours = 876_000

func (o *cleanupOptions) validate(cmd *cobra.Command) error {
	flags := cmd.Flags()
	if flags.Changed("min-age-hours") {
		if o.minAgeHours < 1 || o.minAgeHours > maxHours {
			return cli.Usage(cmd, fmt.Errorf("--min-age-hours %d: must be 1 to %d", o.minAgeHours, maxHours))
		}
		age := cleanup.Duration(time.Duration(o.minAgeHours) * time.Hour)
		o.overrides.MinAge = &age
	}
	if flags.Changed("keep") {
		if o.keep < 0 {
			return cli.Usage(cmd, errors.New("--keep must not be negative"))
		}
		o.overrides.Keep = &o.keep
	}
	o.overrides.Now, o.overrides.ImageTime = o.now.Time, o.imageTime.Time
	return o.readOptions.validate(cmd)
}

// needPolicy is for commands that can do nothing without.
func (o *cleanupOptions) needPolicy(cmd *cobra.Command) error {
	if o.policy != "" {
		return nil
	}
	return cli.WithHint(cli.Usage(cmd, errors.New("--policy is required: nothing is planned without one")),
		"docs/policies has samples, and \"fsweep plan --suggest IMAGE\" writes a first one")
}
