package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"fsweep/analyze/cleanup"
	"fsweep/analyze/flink"
	"fsweep/proto/pathtext"
	"fsweep/proto/planfile"
)

// Limits of lists in the header, which is one line.
const (
	maxStops    = 100 // misfits of a root
	maxWarnings = 1000
)

// header says what the plan was made from and under which conditions it may be
// executed.
func (b *builder) header() planfile.Header {
	p, in := b.r.Policy, &b.r.Inputs
	h := planfile.Header{
		Format: planfile.Format, Tool: b.r.Tool, Version: b.r.Version, Source: b.r.Source,
		Policy: planfile.Policy{Name: b.r.PolicyName, Digest: p.Digest()},
		NowMs:  in.Now.UnixMilli(), ExpiresMs: in.ImageTime.UnixMilli() + milliseconds(p.PlanTTL), Nameservice: string(p.Nameservice),
		Preflight: string(p.Preflight), Removal: planfile.RemovalTrash,
		UnreadableGuard: string(p.UnreadableGuard), GuardAgeMs: milliseconds(p.GuardAge),
		LockDir: b.at.lock.Place, HoldPaths: listed(b.at.holds), Anchors: b.anchors(), Protect: listed(b.at.protect),
		Belts: limits(&p.Belts), Pace: pace(&p.Pace), Live: b.r.Live, Pins: b.r.Pins,
	}
	h.Source.ImageTimeMs = in.ImageTime.UnixMilli()
	if b.at.quarantine != nil {
		h.Removal, h.Quarantine = planfile.RemovalQuarantine, []planfile.Place{b.at.quarantine.Place}
	}
	for _, a := range p.ForeignAuthorities {
		h.ForeignAuthorities = append(h.ForeignAuthorities, string(a))
	}
	acting := 0
	h.Complete = true
	for _, r := range b.r.Decider.Decision().Roots {
		root := planfile.Root{
			Path: planfile.Path(r.Policy.Path), InodeID: r.Root.INodeID, Layout: planfile.Layout(r.Policy.Layout), Mode: planfile.ModeObserve,
			Inodes: inodes(&r.Root.Totals), Stopped: stops(r),
		}
		if r.Executable {
			root.Mode = planfile.ModeExecute
		}
		switch {
		case len(root.Stopped) > 0:
			h.Complete = false
		case r.Executable:
			acting++
		}
		h.Roots = append(h.Roots, root)
	}
	h.Executable = acting > 0 && (h.Complete || p.Preflight != cleanup.PreflightAll)
	h.Warnings = warnings(b.r.Warnings, p.Notes(), b.unusable(), b.warnings)
	return h
}

func inodes(t *flink.Totals) int64 { return max(0, t.Directories+t.Files+t.Symlinks) }

func limits(b *cleanup.Belts) planfile.Belts {
	return planfile.Belts{
		MaxItems: int64(b.MaxItems), MaxInodesPerMove: int64(b.MaxInodesPerMove), MaxInodes: int64(b.MaxInodes), MaxBytes: int64(b.MaxBytes),
		MaxPercentOfRoot: int64(b.MaxPercentOfRoot), MinTrashIntervalMs: milliseconds(b.MinTrashInterval),
	}
}

func pace(p *cleanup.Pace) planfile.Pace {
	out := planfile.Pace{
		BetweenItemsMs: milliseconds(p.BetweenItems), Batch: int64(p.Batch), BetweenBatchesMs: milliseconds(p.BetweenBatches),
		BetweenRootsMs: milliseconds(p.BetweenRoots), RPCTimeoutMs: milliseconds(p.RPCTimeout), StopOn: "anomaly",
	}
	if w := p.Window; w != (cleanup.Window{}) {
		out.Window = fmt.Sprintf("%02d:%02d-%02d:%02d", w.From/60, w.From%60, w.To/60, w.To%60)
	}
	if p.StopOn.Mismatch != 0 {
		out.StopOn = fmt.Sprintf("mismatch:%d%%", p.StopOn.Mismatch)
	}
	return out
}

// stops says why a root is stopped. Misfits are listed one by one.
func stops(r *cleanup.RootDecision) (out []planfile.Stop) {
	for i := range r.Stopped {
		f := &r.Stopped[i]
		if f.Rule != cleanup.Misfits {
			out = append(out, planfile.Stop{Reason: because(string(f.Rule), f.Text), Path: planfile.Path(f.Path)})
			continue
		}
		list := r.Root.Misfits[:min(len(r.Root.Misfits), maxStops)]
		for _, m := range list {
			out = append(out, planfile.Stop{Reason: because(string(m.Reason), m.Detail), Path: planfile.Path(m.Path), InodeID: m.INodeID})
		}
		if more := r.Root.NumMisfits - int64(len(list)); more > 0 || len(list) == 0 {
			out = append(out, planfile.Stop{Reason: because(string(cleanup.Misfits), fmt.Sprintf("%d more", more))})
		}
	}
	return out
}

// because joins a stable word and what people want to know beside it.
func because(word, detail string) string {
	if detail == "" {
		return word
	}
	return word + ": " + printable(detail)
}

func printable(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string(pathtext.Append(nil, s))
}

// warnings are those of the caller, of the policy and our own, each once.
func warnings(lists ...[]string) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range slices.Concat(lists...) {
		if s = printable(strings.TrimSpace(s)); s != "" && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	if more := len(out) - maxWarnings; more > 0 {
		out = append(out[:maxWarnings], fmt.Sprintf("%d more warnings", more))
	}
	return out
}
