package main

import (
	"fmt"
	"os"
	"path/filepath"

	"fsweep/cmd/internal/cli"
	"fsweep/execute/act"
	"fsweep/proto/planfile"
)

// openPlan is a plan that was read to its end and is kept open.
type openPlan struct {
	*planfile.Reader
	file   *os.File
	name   string
	digest planfile.Digest
}

func openPlanFile(name string) (*openPlan, error) {
	f, err := openInput(name)
	if err != nil {
		return nil, err
	}
	r, digest, err := planfile.Open(f)
	if err != nil {
		_ = f.Close() // it was only read
		return nil, cli.WithHint(fmt.Errorf("%s: %w", name, err), "a plan is what fsweep plan -o writes; it must not be edited")
	}
	return &openPlan{r, f, name, digest}, nil
}

func (p *openPlan) close() { _ = p.file.Close() } // it was only read

// mode gives the mode of the root that holds an item.
func (p *openPlan) roots() map[planfile.Path]*planfile.Root {
	h := p.Header()
	m := map[planfile.Path]*planfile.Root{}
	for i := range h.Roots {
		m[h.Roots[i].Path] = &h.Roots[i]
	}
	return m
}

// counted is what is known of the items before anything is asked.
type counted struct {
	movable  int64 // not deferred, of roots in mode execute
	unproven int64 // of these, those that hold state of Flink
}

// count goes over the items once. each is called for those that may be moved.
func (p *openPlan) count(each func(*planfile.Item)) (c counted, err error) {
	roots := p.roots()
	for i, err := range p.Items() {
		if err != nil {
			return c, fmt.Errorf("%s: %w", p.name, err)
		}
		r := roots[i.Root]
		if i.Deferred != "" || r == nil || r.Mode != planfile.ModeExecute {
			continue
		}
		c.movable++
		if r.Layout != planfile.LayoutChildren {
			c.unproven++
		}
		each(&i)
	}
	return c, nil
}

// quotas gives the directories whose quota the plan changes.
func (p *openPlan) quotas() (list []planfile.Quota, err error) {
	for q, err := range p.Quotas() {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		list = append(list, q)
	}
	return list, nil
}

// actPlan is what acting needs to know of it.
func (p *openPlan) actPlan(items int64) act.Plan {
	return act.Plan{File: filepath.Base(p.name), Digest: p.digest, Header: p.Header(), Items: items}
}
