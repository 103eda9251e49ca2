package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"fsweep/cmd/internal/cli"
	"fsweep/cmd/internal/imagedir"
	"fsweep/cmd/internal/sidecar"
	"fsweep/execute"
	"fsweep/execute/fetch"
)

// store puts images into the directory.
type store struct {
	dir         *imagedir.Dir
	nameservice string
	name        string // of the directory, as it was typed
}

// storedError is one of the directory, with its exit code.
type storedError struct{ Err error }

func (e *storedError) Error() string { return e.Err.Error() }
func (e *storedError) Unwrap() error { return e.Err }

// storeError gives an error of the directory its exit code.
func storeError(dir string, err error) error {
	switch {
	case errors.Is(err, imagedir.ErrTaken):
		return cli.WithHint(&cli.RefusedError{Err: fmt.Errorf("%s: %w", dir, err)}, "fetch into another directory, or move away what is there")
	case errors.Is(err, imagedir.ErrBusy):
		return &cli.RefusedError{Err: err}
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok && pe.Path == dir {
		err = pe.Err
	}
	return &cli.OutputError{Name: dir, Err: err}
}

// of says what an image is.
func (s *store) of(f *fetch.Fetched) *imagedir.New {
	return &imagedir.New{TxID: f.TxID, Length: f.Length, MD5: f.MD5, ClusterID: f.From.ClusterID, Nameservice: s.nameservice}
}

// begin implements [fetch.Options.Begin].
func (s *store) begin(f *fetch.Fetched) (fetch.Target, error) {
	n := s.of(f)
	have, err := s.dir.Have(n)
	if err != nil {
		return nil, s.failed(err)
	}
	if have {
		return nil, fetch.ErrPresent
	}
	p, err := s.dir.Create(n)
	if err != nil {
		return nil, s.failed(err)
	}
	return &target{p, s}, nil
}

func (s *store) failed(err error) error {
	if err == nil {
		return nil
	}
	return &storedError{storeError(s.name, err)}
}

// target is one image.
type target struct {
	*imagedir.Pending
	store *store
}

// Write implements [fetch.Target].
func (t *target) Write(b []byte) (int, error) {
	n, err := t.Pending.Write(b)
	return n, t.store.failed(err)
}

// Commit implements [fetch.Target].
func (t *target) Commit(f *fetch.Fetched) error {
	var side *sidecar.Fetched
	if f.SavedMs != 0 {
		side = &sidecar.Fetched{
			ImageTimeMs: f.SavedMs, Source: timeSource(f), TxID: f.TxID, MD5: hex.EncodeToString(f.MD5[:]),
			ClusterID: f.From.ClusterID, Nameservice: t.store.nameservice,
		}
	}
	return t.store.failed(t.Pending.Commit(side))
}

// timeSource says how the time of an image is known, and where the image is from.
func timeSource(f *fetch.Fetched) string {
	text := "last checkpoint of " + server(&f.SavedBy)
	if f.SavedBy.NameNode == f.From.NameNode {
		return text + ", where the image is from"
	}
	return text + "; the image is from " + server(&f.From)
}

func server(s *execute.ImageServer) string {
	return fmt.Sprintf("NameNode %s (%s, %s)", s.Label(), s.Role, s.URL)
}

// fetchedJSON is what --format json shows; docs/OUTPUT.md has the keys.
type fetchedJSON struct {
	Format      int      `json:"format"`
	Image       string   `json:"image"` // path
	TxID        int64    `json:"txid"`
	SizeBytes   int64    `json:"size_bytes"`
	MD5         string   `json:"md5"`
	Present     bool     `json:"present_before"`
	NameNode    string   `json:"namenode"`
	Role        string   `json:"role"`
	URL         string   `json:"url"`
	ClusterID   string   `json:"cluster_id,omitempty"`
	Nameservice string   `json:"nameservice,omitempty"`
	ImageTimeMs int64    `json:"image_time_ms,omitempty"`
	TimeSource  string   `json:"image_time_source,omitempty"`
	Removed     []string `json:"removed"`
}

// show writes where the image is.
func (s *store) show(w io.Writer, f *fetch.Fetched, removed []string, asJSON bool) error {
	path := s.dir.Path(f.Name)
	if !asJSON {
		_, err := fmt.Fprintln(w, path)
		return err
	}
	v := fetchedJSON{
		Format: 1, Image: path, TxID: f.TxID, SizeBytes: f.Length, MD5: hex.EncodeToString(f.MD5[:]), Present: f.Present,
		NameNode: f.From.Label(), Role: f.From.Role.String(), URL: f.From.URL, ClusterID: f.From.ClusterID, Nameservice: s.nameservice,
		Removed: append([]string{}, removed...),
	}
	if side := s.dir.Sidecar(f.Name); side != nil {
		v.ImageTimeMs, v.TimeSource = side.ImageTimeMs, side.Source
	}
	b, err := json.MarshalIndent(&v, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
