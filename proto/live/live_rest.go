package live

import (
	"encoding/json"
	"errors"
	"io"
)

// restAnswer is one answer of Flink's REST interface: /jobs/overview, /jobs, or
// /jobs/ID/checkpoints.
type restAnswer struct {
	Jobs *[]struct {
		JID string `json:"jid"` // of /jobs/overview
		ID  string `json:"id"`  // of /jobs
	} `json:"jobs"`
	Latest *struct {
		Completed *restCheckpoint `json:"completed"`
		Savepoint *restCheckpoint `json:"savepoint"`
		Restored  *restCheckpoint `json:"restored"`
	} `json:"latest"`
	Errors []string `json:"errors"`
}

type restCheckpoint struct {
	ExternalPath string `json:"external_path"`
}

// rest takes any number of answers, one after the other: people join those of
// several clusters with cat. One at least must list jobs.
func (l *liveReader) rest(d *json.Decoder, m *meter) error {
	listed := false
	for n := 1; ; n++ {
		var a restAnswer
		err := m.value(d, &a)
		if errors.Is(err, io.EOF) && n > 1 {
			break
		}
		if err != nil {
			return err
		}
		if err := l.answer(&a, n); err != nil {
			return err
		}
		listed = listed || a.Jobs != nil
	}
	if !listed {
		return listErrorf("no answer lists jobs; save that of /jobs/overview")
	}
	return nil
}

func (l *liveReader) answer(a *restAnswer, n int) error {
	switch {
	case len(a.Errors) > 0:
		return listErrorf("answer %d is an error: %q", n, a.Errors[0])
	case a.Jobs == nil && a.Latest == nil:
		return listErrorf("answer %d has neither jobs nor checkpoints", n)
	}
	if a.Jobs != nil {
		for i, j := range *a.Jobs {
			if j.JID == "" && j.ID == "" {
				return listErrorf("answer %d: job %d has no id", n, i+1)
			}
			if err := errors.Join(l.id(j.JID), l.id(j.ID)); err != nil {
				return err
			}
		}
	}
	if a.Latest == nil {
		return nil
	}
	for _, c := range []*restCheckpoint{a.Latest.Completed, a.Latest.Savepoint, a.Latest.Restored} {
		if c == nil || c.ExternalPath == "" || c.ExternalPath == notOnDisk {
			continue
		}
		if err := l.path(c.ExternalPath); err != nil {
			return err
		}
	}
	return nil
}

// notOnDisk is what Flink answers for checkpoints that are not retained.
const notOnDisk = "<checkpoint-not-externally-addressable>"
