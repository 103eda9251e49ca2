package main

import (
	"fmt"

	"fsweep/cmd/internal/cli"
	"fsweep/execute"
	"fsweep/execute/guardfiles"
	"fsweep/proto/guardset"
)

// reader reads guards: from the cluster, and then from what was fetched by hand.
func (e *task) reader(c *cluster) (r execute.Reader, closeReader func(), err error) {
	r, err = c.client.Reader()
	if err != nil || e.guards == "" {
		return r, func() {}, err
	}
	files, err := guardfiles.Open(e.guards, r, c)
	if err != nil {
		return nil, nil, cli.WithHint(fmt.Errorf("--guards-dir: %w", err), "docs/format/guards.md says what %s holds", guardset.Name)
	}
	return files, files.Close, nil
}
