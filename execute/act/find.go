package act

import (
	"context"
	"time"

	"fsweep/proto/journal"
	"fsweep/proto/planfile"
)

// Whereabouts is what a journal knows of an item, and where that is now.
type Whereabouts struct {
	Journal string        // the name of it
	From    planfile.Path // the item
	InodeID uint64
	At      time.Time // when it was moved
	To      planfile.Path
	State   State
	Path    planfile.Path // where it is now; "" if that is not known
	// The emptier deletes it between these; zero of what is not in a trash.
	PurgedFrom, PurgedUntil time.Time
}

// Where tells what a journal moved that holds a path, or lies below it, and where it is now;
// with the path "", all that it moved. Only a run moves anything away: of other journals it gives
// nothing. It changes nothing; of Params it needs Look and Clock. With an error it gives what was
// found before.
func Where(ctx context.Context, p *Params, j *journal.Reader, file string, at planfile.Path) ([]Whereabouts, error) {
	if j.Header().Command != journal.CommandRun {
		return nil, nil
	}
	a := newActor(p)
	var out []Whereabouts
	var interval time.Duration
	for m, err := range j.Moved() {
		if err != nil {
			return out, err
		}
		from := m.Intent.Path
		if at != "" && from != at && !from.Below(at) && !at.Below(from) {
			continue
		}
		item := movedBy(m.Intent, m.Chain)
		f, err := a.find(ctx, item)
		if err != nil {
			return out, err
		}
		w := Whereabouts{
			Journal: file, From: from, InodeID: item.id, At: time.UnixMilli(m.AtMs).UTC(), To: item.to, State: f.State, Path: f.Path,
		}
		if f.State == InTrash && item.trash != "" {
			if interval == 0 {
				d, err := p.Look.Defaults(ctx)
				if err != nil {
					return out, err
				}
				interval = d.TrashInterval
			}
			w.PurgedFrom, w.PurgedUntil = w.At.Add(interval), w.At.Add(2*interval)
		}
		out = append(out, w)
	}
	return out, nil
}
