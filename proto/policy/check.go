package policy

import (
	"fmt"
	"strings"
)

// checker collects what is wrong with a policy as a whole. source is nil for one
// that flags have changed: then places in the file would mislead.
type checker struct {
	p        *Policy
	source   *source
	problems []Problem
}

// check finds everything in a policy that is dangerous or makes no sense.
func check(p *Policy, s *source) []Problem {
	c := checker{p: p, source: s}
	c.head()
	c.belts()
	c.pace()
	c.places()
	c.lists()
	c.sources()
	for i := range p.Roots {
		c.root(i)
	}
	c.overlaps()
	return c.problems
}

func (c *checker) fail(key, format string, args ...any) {
	var at position
	if c.source != nil {
		at = c.source.find(key)
	}
	c.problems = append(c.problems, at.problem(key, fmt.Sprintf(format, args...)))
}

// positive refuses zero: for these it would not mean "no limit" but "nothing" or
// "no protection".
func (c *checker) positive(key string, n int64) {
	if n < 1 {
		c.fail(key, "must be more than zero")
	}
}

func (c *checker) notNegative(key string, n int64) {
	if n < 0 {
		c.fail(key, "must not be negative")
	}
}

func (c *checker) head() {
	p := c.p
	if p.Version != Version {
		c.fail("version", "version %d is unknown; this program reads version %d", p.Version, Version)
	}
	c.positive("image_max_age", int64(p.ImageMaxAge))
	c.positive("plan_ttl", int64(p.PlanTTL))
	c.positive("guard_age", int64(p.GuardAge))
	if w := p.Watermarks; w.Warn >= w.High || w.High >= w.Critical {
		c.fail("watermarks", "warn, high and critical must rise; they are %d%%, %d%% and %d%%", w.Warn, w.High, w.Critical)
	}
	if p.Capacity.Factor < 1000 {
		c.fail("capacity.factor", "must be at least 1: less than the state itself never fits")
	}
	c.notNegative("capacity.extra_retained", int64(p.Capacity.ExtraRetained))
}

func (c *checker) belts() {
	b := c.p.Belts
	c.positive("belts.max_items", int64(b.MaxItems))
	c.positive("belts.max_inodes_per_move", int64(b.MaxInodesPerMove))
	c.positive("belts.max_inodes", int64(b.MaxInodes))
	c.positive("belts.min_trash_interval", int64(b.MinTrashInterval))
	if b.MaxInodes > 0 && b.MaxInodesPerMove > b.MaxInodes {
		c.fail("belts.max_inodes_per_move", "%d is more than max_inodes allows for all moves together, %d", b.MaxInodesPerMove, b.MaxInodes)
	}
}

func (c *checker) pace() {
	c.positive("pace.batch", int64(c.p.Pace.Batch))
	c.positive("pace.rpc_timeout", int64(c.p.Pace.RPCTimeout))
}

// places checks where the executor writes: nothing of that may lie where it moves
// things away, nor the other way round.
func (c *checker) places() {
	p := c.p
	quarantine := p.Removal.Quarantine
	if inTrash(p.LockDir) {
		c.fail("lock_dir", "%s is in the trash, which empties itself: locks, and what tells that a plan was carried out, would be lost", p.LockDir)
	}
	if inTrash(quarantine) {
		c.fail("removal", "the quarantine %s is in the trash, which empties itself; what stands there must stay until somebody removes it", quarantine)
	}
	for i, hold := range p.HoldPaths {
		if inTrash(hold) {
			c.fail(fmt.Sprintf("hold_paths[%d]", i), "%s is in the trash, which empties itself; nothing would be held any more", hold)
		}
	}
	for i := range p.Roots {
		root := p.Roots[i].Path
		if root.Holds(p.LockDir) || p.LockDir.Holds(root) {
			c.fail("lock_dir", "%s overlaps the root %s; locks must not be where things are moved away", p.LockDir, root)
		}
		if quarantine != "" && (root.Holds(quarantine) || quarantine.Holds(root)) {
			c.fail("removal", "the quarantine %s overlaps the root %s; what was moved away would be looked at again", quarantine, root)
		}
	}
	if quarantine != "" && quarantine.Holds(p.LockDir) {
		c.fail("removal", "the quarantine %s holds the lock directory %s; emptying it would remove locks", quarantine, p.LockDir)
	}
}

// inTrash tells whether a path is a trash or in one: a .Trash can be in any home, and
// in every snapshottable directory and encryption zone.
func inTrash(p Path) bool { return strings.Contains(string(p)+"/", "/.Trash/") }

// sources checks that what some layouts cannot do without is there.
func (c *checker) sources() {
	kubernetes := false
	for _, l := range c.p.Live {
		kubernetes = kubernetes || l.Format == Kubernetes
	}
	for i, l := range c.p.Live {
		c.positive(fmt.Sprintf("live[%d].max_age", i), int64(l.MaxAge))
	}
	c.positive("live_memory", int64(c.p.LiveMemory))
	if c.p.LiveMemory > MaxLiveMemory {
		c.fail("live_memory", "%s is more than the state remembers, %s", c.p.LiveMemory, MaxLiveMemory)
	}
	if c.p.LiveState == "-" {
		c.fail("live_state", "\"-\" is no file, but standard output; nothing would be remembered")
	}
	for i, f := range c.p.Pins {
		c.positive(fmt.Sprintf("pins[%d].max_age", i), int64(f.MaxAge))
	}
	for i, r := range c.p.Roots {
		key := fmt.Sprintf("roots[%d].layout", i)
		switch {
		case r.Layout == Run && len(c.p.Live) == 0:
			c.fail(key, "layout run needs a source under live: its runs have no job, so only a list tells which exist")
		case r.Layout == HAStorage && !kubernetes:
			c.fail(key, "layout ha-storage needs a source of format kubernetes under live, with ConfigMaps: only they tell which clusters exist")
		}
	}
}

// lists refuses doubled entries: one of the two was meant to be something else.
func (c *checker) lists() {
	p := c.p
	planned(c, "foreign_authorities", p.ForeignAuthorities, func(a Authority) string { return string(a) })
	planned(c, "hold_paths", p.HoldPaths, func(a Path) string { return string(a) })
	planned(c, "protect", p.Protect, func(a Path) string { return string(a) })
	planned(c, "pins", p.Pins, func(f PinFile) string { return string(f.File) })
	planned(c, "live", p.Live, func(f LiveSource) string { return string(f.File) })
	distinct(c, "waive_guards", p.WaiveGuards, func(w Waiver) string { return w.InodeID.yaml() })
	planned(c, "roots", p.Roots, func(r Root) string { return string(r.Path) })
	for i := range p.Roots {
		key, r := fmt.Sprintf("roots[%d].", i), &p.Roots[i]
		distinct(c, key+"names", r.Names, func(g Glob) string { return string(g) })
		name := func(n Name) string { return string(n) }
		distinct(c, key+"exclude_jobs", r.ExcludeJobs, name)
		distinct(c, key+"jobs", r.Jobs, name)
		distinct(c, key+"ignore", r.Ignore, name)
	}
	if len(p.Roots) == 0 {
		c.fail("roots", "there is no root; an empty policy plans nothing")
	}
}

// maxList is how long those lists of a policy may be that stand in a plan as well.
const maxList = 10_000

// planned is a list that stands in the plan, without doubles and not too long for it.
func planned[T any](c *checker, key string, list []T, id func(T) string) {
	distinct(c, key, list, id)
	if len(list) > maxList {
		c.fail(fmt.Sprintf("%s[%d]", key, maxList), "there are %d of %s; a plan has room for %d", len(list), key, maxList)
	}
}

func distinct[T any](c *checker, key string, list []T, id func(T) string) {
	seen := map[string]int{}
	for i, v := range list {
		if first, ok := seen[id(v)]; ok {
			c.fail(fmt.Sprintf("%s[%d]", key, i), "%q is already at %s[%d]", id(v), key, first)
			continue
		}
		seen[id(v)] = i
	}
}

// systemParents are directories whose children belong to somebody else than Flink:
// homes, warehouses, HBase. They can hold roots, never be one.
var systemParents = []Path{"/user", "/home", "/apps", "/hbase", "/system"}

func (c *checker) root(i int) {
	r := &c.p.Roots[i]
	key := fmt.Sprintf("roots[%d].", i)
	for _, s := range systemParents {
		if r.Path == s {
			c.fail(key+"path", "%s is a directory of the whole cluster; a root is below it", r.Path)
		}
	}
	if inTrash(r.Path) {
		c.fail(key+"path", "%s is in the trash, which empties itself", r.Path)
	}
	if r.Layout == Children && len(r.Names) == 0 {
		c.fail(key+"names", "there is no name; an empty list would match nothing")
	}
	c.ages(key, r)
	for j, name := range r.Jobs {
		if r.Excludes(string(name)) {
			c.fail(fmt.Sprintf("%sjobs[%d]", key, j), "%q is also under exclude_jobs", name)
		}
	}
}

func (c *checker) ages(key string, r *Root) {
	c.positive(key+"min_age", int64(r.MinAge))
	if r.Groups() {
		c.notNegative(key+"keep", int64(r.Keep))
		if r.Keep == 0 && r.KeepWithin == 0 {
			c.fail(key+"keep", "keep 0 with keep_within 0h would leave nothing to restore from")
		}
	}
	if r.Layout == JobRun || r.Layout == Run {
		c.positive(key+"incomplete_checkpoints.older_than", int64(r.IncompleteCheckpoints.OlderThan))
	}
	if s := r.StaleCheckpoints; s != nil {
		c.positive(key+"stale_checkpoints.keep_newest", int64(s.KeepNewest))
		c.positive(key+"stale_checkpoints.older_than", int64(s.OlderThan))
	}
	if u := r.UnreferencedShared; u != nil {
		c.positive(key+"unreferenced_shared.older_than", int64(u.OlderThan))
	}
}

// overlaps allows a root in another only where the outer one leaves it alone.
func (c *checker) overlaps() {
	for i := range c.p.Roots {
		outer := &c.p.Roots[i]
		for j := range c.p.Roots {
			inner := &c.p.Roots[j]
			if outer.Path == inner.Path || !outer.Path.Holds(inner.Path) {
				continue
			}
			if first := outer.Path.below(inner.Path); !outer.Excludes(first) {
				c.fail(fmt.Sprintf("roots[%d].path", j), "%s is inside the root %s, which must exclude %q under exclude_jobs", inner.Path, outer.Path, first)
			}
		}
	}
}
