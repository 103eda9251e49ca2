package main

import (
	"fmt"
	"time"

	"fsweep/execute/check"
	"fsweep/proto/live"
	"fsweep/proto/planfile"
	"fsweep/proto/policy"
)

// readList reads the live lists and lists of pins of a plan again, as they are now. Names
// that are relative are so to dir.
func readList(h planfile.Header, dir string) func(planfile.Input, bool) (*check.Named, error) {
	o := live.Options{Nameservice: policy.Nameservice(h.Nameservice)}
	for _, a := range h.ForeignAuthorities {
		o.Foreign = append(o.Foreign, policy.Authority(a))
	}
	return func(in planfile.Input, pins bool) (*check.Named, error) {
		f, err := openInput(inDirectory(dir, in.File))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		fi, err := f.Stat()
		if err != nil {
			return nil, err
		}
		list := live.Input{Name: in.File, Reader: f, ModTime: fi.ModTime()}
		maxAge := policy.Duration(time.Duration(in.MaxAgeMs) * time.Millisecond)
		o.Now = time.Now()
		if pins {
			paths, err := live.ReadPins(list, policy.PinFile{File: policy.File(in.File), MaxAge: maxAge}, o.Nameservice, o.Now)
			return &check.Named{Paths: texts(paths)}, err
		}
		set, err := live.Read(list, policy.LiveSource{File: policy.File(in.File), Format: policy.Format(in.Format), MaxAge: maxAge}, o)
		if err != nil {
			return nil, fmt.Errorf("%w", err)
		}
		return &check.Named{IDs: set.IDs, Clusters: set.Clusters, Paths: texts(set.Paths), HAConfigMaps: set.HAConfigMaps}, nil
	}
}
