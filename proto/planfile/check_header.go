package planfile

import (
	"slices"
	"strings"

	"fsweep/proto/internal/canonical"
)

// maxTimeMs is the end of the year 9999.
const maxTimeMs = 253_402_300_799_999

func (k *checker) header(h *Header) error {
	k.h = h
	k.planned = make([]Sums, len(h.Roots))
	for _, check := range []func(*Header) error{headerWords, headerNumbers, headerPlaces, headerInputs, headerRoots, headerState} {
		if err := check(h); err != nil {
			return err
		}
	}
	return nil
}

func oneOf(name, value string, words ...string) error {
	if !slices.Contains(words, value) {
		return invalidf("%s %q is none of %s", name, value, strings.Join(words, ", "))
	}
	return nil
}

func headerWords(h *Header) error {
	for _, v := range [][2]string{
		{"tool", h.Tool},
		{"version", h.Version},
		{"image", h.Source.Image},
		{"image_time_source", h.Source.ImageTimeSource},
		{"policy name", h.Policy.Name},
		{"nameservice", h.Nameservice},
		{"stop_on", h.Pace.StopOn},
	} {
		if v[1] == "" {
			return invalidf("no %s", v[0])
		}
	}
	var md5 [16]byte
	switch {
	case strings.Contains(h.Source.Image, "/"):
		return invalidf("image %q is more than a file name", h.Source.Image)
	case h.Source.MD5 != "" && !canonical.ParseHex(md5[:], h.Source.MD5):
		return invalidf("md5 %q is not 32 lower-case hexadecimal digits", h.Source.MD5)
	case h.Source.Verified && h.Source.MD5 == "":
		return invalidf("verified without an md5")
	case h.Policy.Digest == Digest{}:
		return invalidf("no policy digest")
	}
	if err := oneOf("preflight", h.Preflight, PreflightRoot, PreflightAll); err != nil {
		return err
	}
	if err := oneOf("unreadable_guard", h.UnreadableGuard, UnreadableOwnerAndRoot, UnreadableEverything); err != nil {
		return err
	}
	return oneOf("removal", h.Removal, RemovalTrash, RemovalQuarantine)
}

func headerNumbers(h *Header) error {
	switch {
	case h.Format != Format:
		return invalidf("format %d", h.Format)
	case h.NowMs <= 0 || h.NowMs > maxTimeMs:
		return invalidf("now_ms %d", h.NowMs)
	case h.Source.ImageTimeMs <= 0 || h.Source.ImageTimeMs > maxTimeMs:
		return invalidf("image_time_ms %d", h.Source.ImageTimeMs)
	case h.ExpiresMs <= h.Source.ImageTimeMs || h.ExpiresMs > maxTimeMs:
		return invalidf("expires_ms %d is not after the image's time", h.ExpiresMs)
	case h.Belts.MaxPercentOfRoot > 100:
		return invalidf("max_percent_of_root %d", h.Belts.MaxPercentOfRoot)
	}
	b, p := &h.Belts, &h.Pace
	for _, v := range []int64{
		h.Source.SizeBytes, h.Source.TxID, h.GuardAgeMs,
		b.MaxItems, b.MaxInodesPerMove, b.MaxInodes, b.MaxBytes, b.MaxPercentOfRoot, b.MinTrashIntervalMs,
		p.BetweenItemsMs, p.Batch, p.BetweenBatchesMs, p.BetweenRootsMs, p.RPCTimeoutMs,
	} {
		if v < 0 {
			return invalidf("a negative number in the header: %d", v)
		}
	}
	return nil
}

func headerPlaces(h *Header) error {
	if len(h.Anchors) == 0 && h.Executable {
		return invalidf("no anchors: nothing would tell this cluster from another")
	}
	if (h.Removal == RemovalQuarantine) != (len(h.Quarantine) == 1) || len(h.Quarantine) > 1 {
		return invalidf("one quarantine path goes with removal %s", RemovalQuarantine)
	}
	for _, a := range h.Anchors {
		if a.InodeID == 0 {
			return invalidf("anchor %q has no inode id", a.Path)
		}
	}
	for _, p := range slices.Concat(h.Anchors, h.Protect, h.HoldPaths) {
		if err := p.Path.Clean(); err != nil {
			return err
		}
	}
	for _, p := range slices.Concat([]Place{h.LockDir}, h.Quarantine) {
		if err := p.Path.Clean(); err != nil {
			return err
		}
		for _, r := range h.Roots {
			if p.Path == r.Path || p.Path.Below(r.Path) || r.Path.Below(p.Path) {
				return invalidf("%q and root %q hold one another", p.Path, r.Path)
			}
		}
	}
	return nil
}

func headerInputs(h *Header) error {
	for _, in := range h.Live {
		if err := oneOf("format of a live source", in.Format, "kubernetes", "flink-rest", "lines"); err != nil {
			return err
		}
	}
	for _, in := range slices.Concat(h.Live, h.Pins) {
		if in.File == "" || in.Format == "" || in.MaxAgeMs <= 0 || min(in.IDs, in.Clusters, in.Paths) < 0 {
			return invalidf("input %q: file, format, a maximum age and what it named are needed", in.File)
		}
	}
	for _, in := range h.Pins {
		if in.IDs != 0 || in.Clusters != 0 {
			return invalidf("pins %q: they have paths, no ids or clusters", in.File)
		}
	}
	return nil
}

func headerRoots(h *Header) error {
	if len(h.Roots) == 0 {
		return invalidf("no roots")
	}
	for i := range h.Roots {
		r := &h.Roots[i]
		if err := r.Path.Clean(); err != nil {
			return err
		}
		switch {
		case i > 0 && r.Path <= h.Roots[i-1].Path:
			return invalidf("root %q is there twice, or roots are not sorted by path", r.Path)
		case r.InodeID == 0 && len(r.Stopped) == 0:
			return invalidf("root %q has no inode id", r.Path)
		case r.Inodes < 0:
			return invalidf("root %q has %d inodes", r.Path, r.Inodes)
		}
		if err := oneOf("layout", string(r.Layout), string(LayoutJobRun), string(LayoutRun), string(LayoutSavepoints), string(LayoutHAStorage), string(LayoutChildren)); err != nil {
			return err
		}
		if err := oneOf("mode", string(r.Mode), string(ModeObserve), string(ModeExecute)); err != nil {
			return err
		}
		for _, s := range r.Stopped {
			if s.Reason == "" {
				return invalidf("root %q is stopped without a reason", r.Path)
			}
		}
	}
	return nil
}

// headerState holds complete and executable against the roots.
func headerState(h *Header) error {
	stopped, acting := 0, 0
	for i := range h.Roots {
		if len(h.Roots[i].Stopped) > 0 {
			stopped++
		} else if h.Roots[i].Mode == ModeExecute {
			acting++
		}
	}
	switch {
	case h.Complete && stopped > 0:
		return invalidf("complete, but %d roots are stopped", stopped)
	case h.Executable && acting == 0:
		return invalidf("executable, but every root is stopped or only observed")
	case h.Executable && stopped > 0 && h.Preflight == PreflightAll:
		return invalidf("executable, but preflight is %s and %d roots are stopped", PreflightAll, stopped)
	}
	return nil
}
