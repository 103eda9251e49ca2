// Package guardset is the format of a manifest: which local file holds the contents of which
// file of an HDFS, for guards that somebody fetched by hand. It is described in
// docs/format/guards.md and in guardset.schema.json. The package opens no file.
package guardset

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Schema is the JSON Schema of a manifest.
//
//go:embed guardset.schema.json
var Schema string

const (
	// Name of the manifest in its directory.
	Name = "guards.json"
	// MaxBytes is the size of some hundred thousand entries.
	MaxBytes = 64 << 20

	format = 1
)

// ErrInvalid is wrapped by all errors about the contents of a manifest.
var ErrInvalid = errors.New("not understood")

func invalidf(f string, args ...any) error {
	return fmt.Errorf("%w: "+f, append([]any{ErrInvalid}, args...)...)
}

// Guard is one file of the HDFS, and where its contents are.
type Guard struct {
	Path    string `json:"path"`     // in the HDFS, for people; the id decides
	InodeID int64  `json:"inode_id"` // of the file
	Length  int64  `json:"length"`   // bytes
	MTimeMs int64  `json:"mtime_ms"` // milliseconds since 1970
	File    string `json:"file"`     // its contents: a path below the directory of the manifest
}

// manifest is the whole.
type manifest struct {
	Format int64   `json:"format"`
	Guards []Guard `json:"guards"`
}

// Parse reads a manifest strictly: unknown, missing and doubled keys are errors, as are
// two entries of one inode. Errors wrap [ErrInvalid].
func Parse(data []byte) ([]Guard, error) {
	if len(data) > MaxBytes {
		return nil, invalidf("more than %d bytes", MaxBytes)
	}
	if !utf8.Valid(data) {
		return nil, invalidf("it is not UTF-8")
	}
	var top map[string]json.RawMessage
	if err := object(data, &top, "format", "guards"); err != nil {
		return nil, err
	}
	var m manifest
	if err := value(top["format"], &m.Format); err != nil || m.Format != format {
		return nil, invalidf("format %s; this program reads format %d", top["format"], format)
	}
	var list []json.RawMessage
	if err := value(top["guards"], &list); err != nil || list == nil {
		return nil, invalidf("guards is no list")
	}
	seen := make(map[int64]bool, len(list))
	for i, raw := range list {
		g, err := parseGuard(raw)
		if err == nil && seen[g.InodeID] {
			err = invalidf("inode %d was there before", g.InodeID)
		}
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
		seen[g.InodeID] = true
		m.Guards = append(m.Guards, *g)
	}
	return m.Guards, nil
}

func parseGuard(raw json.RawMessage) (*Guard, error) {
	var keys map[string]json.RawMessage
	if err := object(raw, &keys, "path", "inode_id", "length", "mtime_ms", "file"); err != nil {
		return nil, err
	}
	var g Guard
	for key, to := range map[string]any{"path": &g.Path, "inode_id": &g.InodeID, "length": &g.Length, "mtime_ms": &g.MTimeMs, "file": &g.File} {
		if err := value(keys[key], to); err != nil {
			return nil, invalidf("%s is %s", key, keys[key])
		}
	}
	switch {
	case !strings.HasPrefix(g.Path, "/"):
		return nil, invalidf("path %q is not absolute", g.Path)
	case g.InodeID <= 0:
		return nil, invalidf("inode_id %d", g.InodeID)
	case g.Length < 0:
		return nil, invalidf("length %d", g.Length)
	case !filepath.IsLocal(g.File) || strings.ContainsRune(g.File, 0) || filepath.Clean(g.File) == ".":
		return nil, invalidf("file %q is not below the directory", g.File)
	}
	return &g, nil
}

// object reads one object with exactly these keys, each once, and nothing behind it.
// Package encoding/json takes the last one of two, and does not look at the case of letters.
func object(data []byte, to *map[string]json.RawMessage, keys ...string) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return invalidf("it is no JSON object")
	}
	*to = make(map[string]json.RawMessage, len(keys))
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return invalidf("%v", err)
		}
		key, _ := t.(string)
		if !slices.Contains(keys, key) {
			return invalidf("the key %q is unknown", key)
		}
		if _, twice := (*to)[key]; twice {
			return invalidf("the key %q is there twice", key)
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return invalidf("%v", err)
		}
		(*to)[key] = v
	}
	if _, err := d.Token(); err != nil { // the end of the object
		return invalidf("it ends in the middle")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return invalidf("something follows the object")
	}
	for _, key := range keys {
		if _, ok := (*to)[key]; !ok {
			return invalidf("the key %q is missing", key)
		}
	}
	return nil
}

// value decodes what is not null, which encoding/json takes for nothing.
func value(raw json.RawMessage, to any) error {
	if string(raw) == "null" {
		return ErrInvalid
	}
	return json.Unmarshal(raw, to)
}
