package main_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// nameNodeTruth is what a NameNode answered, as the rig wrote it down
// (testdata/README.md).
type nameNodeTruth struct {
	inodes      []nameNodeInode            // the live tree, parents first
	directories map[string]nameNodeSummary // by path
	live        map[string]liveCounts      // by directory
}

// liveCounts is what the listing holds at and below a directory.
type liveCounts struct{ directories, files, symlinks, length int64 }

// countLive adds an inode to every directory above it, and to itself.
func (n nameNodeTruth) countLive(in nameNodeInode) {
	for at := in.Path; ; at = at[:max(1, strings.LastIndexByte(at, '/'))] {
		c := n.live[at]
		switch in.Type {
		case "DIRECTORY":
			c.directories++
		case "FILE":
			c.files++
			c.length += in.Size
		case "SYMLINK":
			c.symlinks++
		}
		n.live[at] = c
		if at == "/" {
			return
		}
	}
}

// nameNodeInode is a line of listing.jsonl: HdfsFileStatus and what belongs to it.
type nameNodeInode struct {
	Path          string     `json:"path"`
	PathB64       string     `json:"path_b64"`
	FileID        uint64     `json:"fileId"`
	Type          string     `json:"type"`
	Size          int64      `json:"size"`
	Replication   int64      `json:"replication"`
	BlockSize     int64      `json:"blocksize"`
	MTime         int64      `json:"mtime"`
	ATime         int64      `json:"atime"`
	Owner         string     `json:"owner"`
	Group         string     `json:"group"`
	Permission    string     `json:"perm"`
	StoragePolicy int        `json:"storagePolicy"`
	Encrypted     bool       `json:"encrypted"`
	ECPolicy      string     `json:"ecPolicy"`
	Children      int64      `json:"children"`
	Target        string     `json:"target"`
	ACL           string     `json:"acl"` // AclStatus.getEntries().toString(): [a, b]
	Open          bool       `json:"uc"`
	Blocks        [][3]int64 `json:"blocks"` // id, generation stamp, bytes
}

// nameNodeSummary is a line of quota.jsonl: ContentSummary and, under nn, the
// quota usage that the NameNode computes when it loads an image.
type nameNodeSummary struct {
	Path          string              `json:"path"`
	PathB64       string              `json:"path_b64"`
	InodeID       uint64              `json:"inodeId"`
	DirCount      int64               `json:"dirCount"`
	FileCount     int64               `json:"fileCount"`
	Length        int64               `json:"length"`
	SpaceConsumed int64               `json:"spaceConsumed"`
	NSQuota       int64               `json:"nsQuota"`
	DSQuota       int64               `json:"dsQuota"`
	Types         map[string][2]int64 `json:"types"` // quota, consumed by ContentSummary's rules
	SnapLength    *int64              `json:"snapLength"`
	SnapFiles     *int64              `json:"snapFiles"`
	SnapDirs      *int64              `json:"snapDirs"`
	SnapSpace     *int64              `json:"snapSpace"`
	QuotaUsage    map[string]int64    `json:"nn"`
}

// hadoop3 tells whether the summary comes from a NameNode that shows the
// snapshot parts. Hadoop 2 does not, and leaves some of them out of its sums.
func (s nameNodeSummary) hadoop3() bool { return s.SnapDirs != nil }

// unsetQuota are the two values with which a NameNode says that there is no
// quota: -1, and 2^63-1 for the root's namespace.
func unsetQuota(v int64) bool { return v == -1 || v == 1<<63-1 }

func (s nameNodeSummary) hasQuota() bool {
	if !unsetQuota(s.NSQuota) || !unsetQuota(s.DSQuota) {
		return true
	}
	for _, v := range s.Types {
		if !unsetQuota(v[0]) {
			return true
		}
	}
	return false
}

func readTruth(t *testing.T, dir string) nameNodeTruth {
	t.Helper()
	truth := nameNodeTruth{directories: map[string]nameNodeSummary{}, live: map[string]liveCounts{}}
	isDirectory := map[string]bool{}
	eachLine(t, readTruthFile(t, dir, "listing.jsonl"), func(line []byte) {
		var in nameNodeInode
		mustUnmarshal(t, line, &in)
		in.Path = exactPath(t, in.Path, in.PathB64)
		isDirectory[in.Path] = in.Type == "DIRECTORY"
		truth.inodes = append(truth.inodes, in)
		truth.countLive(in)
	})
	eachLine(t, readTruthFile(t, dir, "quota.jsonl"), func(line []byte) {
		var s nameNodeSummary
		mustUnmarshal(t, line, &s)
		s.Path = exactPath(t, s.Path, s.PathB64)
		if isDirectory[s.Path] {
			truth.directories[s.Path] = s
		}
	})
	if len(truth.directories) == 0 || len(truth.inodes) != len(isDirectory) {
		t.Fatalf("%s: %d inodes at %d paths, %d directories: no truth", dir, len(truth.inodes), len(isDirectory), len(truth.directories))
	}
	return truth
}

// readTruthFile reads name or name.gz in dir.
func readTruthFile(t *testing.T, dir, name string) []byte {
	t.Helper()
	file := filepath.Join(dir, name)
	if _, err := os.Stat(file); err != nil {
		file += ".gz"
	}
	return readMaybeGzipped(t, file)
}

func exactPath(t *testing.T, path, b64 string) string {
	t.Helper()
	if b64 == "" {
		return path
	}
	b, err := base64.StdEncoding.DecodeString(b64)
	if err != nil {
		t.Fatalf("path_b64 of %q: %v", path, err)
	}
	return string(b)
}

func mustUnmarshal(t *testing.T, b []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%v in %.200s", err, b)
	}
}

func eachLine(t *testing.T, b []byte, fn func(line []byte)) {
	t.Helper()
	r := bufio.NewReader(bytes.NewReader(b))
	for {
		line, err := r.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return
		}
		if err != nil {
			t.Fatalf("last line does not end: %.200q", line)
		}
		fn(line)
	}
}

// row is one output record, flattened: {"type_used":{"SSD":5}} is
// type_used.SSD = 5. Numbers keep their text, arrays become canonical JSON, so
// a row of NDJSON and one of CSV compare as they are.
type row map[string]string

// path is the row's exact path. Only a path that is not UTF-8 has a path_b64.
func (r row) path(t *testing.T) string {
	t.Helper()
	p := exactPath(t, r["path"], r["path_b64"])
	if r["path_b64"] != "" && utf8.ValidString(p) {
		t.Errorf("%q is valid UTF-8 and has a path_b64 all the same", p)
	}
	return p
}

func parseNDJSON(t *testing.T, b []byte) []row {
	t.Helper()
	var rows []row
	eachLine(t, b, func(line []byte) {
		// encoding/json would read U+FFFD for a wrong byte and say nothing.
		if !utf8.Valid(line) {
			t.Fatalf("not UTF-8: %.200q", line)
		}
		rows = append(rows, flatten(t, line))
	})
	return rows
}

func flatten(t *testing.T, object []byte) row {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %.200s", err, object)
	}
	r := row{}
	flattenInto(t, r, "", v)
	return r
}

func flattenInto(t *testing.T, r row, prefix string, object map[string]any) {
	t.Helper()
	for key, value := range object {
		switch v := value.(type) {
		case nil:
		case map[string]any:
			flattenInto(t, r, prefix+key+".", v)
		case []any:
			if len(v) > 0 {
				r[prefix+key] = canonical(t, v)
			}
		case json.Number:
			r[prefix+key] = v.String()
		case bool:
			r[prefix+key] = strconv.FormatBool(v)
		case string:
			r[prefix+key] = v
		}
	}
}

// canonical is v as JSON with the keys sorted.
func canonical(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// aclEntries splits what Java prints for a list: "[a, b]".
func aclEntries(s string) []string {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	if s == "" {
		return nil
	}
	return strings.Split(s, ", ")
}

// policyNames are the storage policies that every NameNode has
// (HdfsConstants.StoragePolicy). 0 is unspecified.
var policyNames = map[int]string{
	1: "PROVIDED", 2: "COLD", 5: "WARM", 7: "HOT", 10: "ONE_SSD", 12: "ALL_SSD", 14: "ALL_NVDIMM", 15: "LAZY_PERSIST",
}
