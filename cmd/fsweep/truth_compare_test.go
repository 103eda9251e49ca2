package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// compareDirectories requires a row for exactly the NameNode's directories,
// and in each the NameNode's figures.
func compareDirectories(t *testing.T, truth nameNodeTruth, rows []row) {
	t.Helper()
	d := &differences{t: t, what: "directories"}
	defer d.end()
	got := rowsByPath(d, rows)
	for _, in := range truth.inodes {
		if in.Type != "DIRECTORY" {
			continue
		}
		r, ok := got[in.Path]
		if !ok {
			d.note("missing: %q", in.Path)
			continue
		}
		delete(got, in.Path)
		s := truth.directories[in.Path]
		compareRow(d, in.Path, r, attributes(t, in))
		compareRow(d, in.Path, r, quotaFigures(s))
		if s.hadoop3() {
			compareSummary(d, r, s, truth.live[in.Path])
		}
	}
	for path := range got {
		d.note("not in the NameNode: %q", path)
	}
}

// compareInodes does the same for every inode's attributes.
func compareInodes(t *testing.T, truth nameNodeTruth, rows []row) {
	t.Helper()
	d := &differences{t: t, what: "inodes"}
	defer d.end()
	got := rowsByPath(d, rows)
	for _, in := range truth.inodes {
		r, ok := got[in.Path]
		if !ok {
			d.note("missing: %q", in.Path)
			continue
		}
		delete(got, in.Path)
		want := attributes(t, in)
		want["type"] = in.Type
		want["atime_ms"] = decimal(in.ATime)
		want["under_construction"] = strconv.FormatBool(in.Open)
		want["length"] = decimal(in.Size)
		want["replication"] = decimal(in.Replication)
		want["block_size"] = decimal(in.BlockSize)
		want["children"] = decimal(in.Children)
		want["symlink_target"] = in.Target
		want["blocks"] = blockList(t, in.Blocks)
		// What a kind of inode does not have, the NameNode answers as 0.
		if in.Type != "FILE" {
			dropZeros(r, want, "length", "replication", "block_size")
		}
		if in.Type != "DIRECTORY" {
			dropZeros(r, want, "children")
		} else {
			dropZeros(r, want, "atime_ms")
		}
		compareRow(d, in.Path, r, want)
	}
	for path := range got {
		d.note("not in the NameNode: %q", path)
	}
}

// attributes are the keys that rows of inodes and of directories share.
func attributes(t *testing.T, in nameNodeInode) row {
	t.Helper()
	want := row{
		"inode_id":              strconv.FormatUint(in.FileID, 10),
		"owner":                 in.Owner,
		"group":                 in.Group,
		"permission":            in.Permission,
		"mtime_ms":              decimal(in.MTime),
		"erasure_coding_policy": in.ECPolicy,
		"encrypted":             strconv.FormatBool(in.Encrypted),
		"storage_policy":        policyNames[in.StoragePolicy],
		"acl":                   "",
		"path_b64":              "",
	}
	if want["storage_policy"] == "" && in.StoragePolicy != 0 {
		t.Fatalf("storage policy %d of %q has no name in this test", in.StoragePolicy, in.Path)
	}
	if entries := aclEntries(in.ACL); entries != nil {
		want["acl"] = canonical(t, entries)
	}
	if !utf8.ValidString(in.Path) {
		delete(want, "path_b64") // row.path decoded it
	}
	return want
}

// quotaFigures are limits and what is charged against them.
func quotaFigures(s nameNodeSummary) row {
	want := row{
		"inode_id": strconv.FormatUint(s.InodeID, 10),
		"ns_used":  decimal(s.QuotaUsage["ns"]),
		"ds_used":  decimal(s.QuotaUsage["ds"]),
		"ns_quota": quotaText(s.NSQuota),
		"ds_quota": quotaText(s.DSQuota),
	}
	for storageType, v := range s.Types {
		want["type_used."+storageType] = decimal(s.QuotaUsage["t_"+storageType])
		want["type_quota."+storageType] = quotaText(v[0])
	}
	return want
}

func quotaText(v int64) string {
	if unsetQuota(v) {
		return ""
	}
	return decimal(v)
}

// compareSummary compares with the ContentSummary. Its file count includes the
// symlinks, live and in snapshots; its snapshot file count includes none. So
// the symlinks of snapshots are what is left when those and the live ones go.
func compareSummary(d *differences, r row, s nameNodeSummary, live liveCounts) {
	d.t.Helper()
	snapshotSymlinks := s.FileCount - *s.SnapFiles - live.files - live.symlinks
	compareRow(d, s.Path, r, row{
		"directories":          decimal(s.DirCount),
		"files":                decimal(live.files + *s.SnapFiles),
		"symlinks":             decimal(live.symlinks + snapshotSymlinks),
		"length":               decimal(s.Length),
		"space_consumed":       decimal(s.SpaceConsumed),
		"snapshot_directories": decimal(*s.SnapDirs),
		"snapshot_files":       decimal(*s.SnapFiles),
		"snapshot_symlinks":    decimal(snapshotSymlinks),
		"snapshot_length":      decimal(*s.SnapLength),
		"snapshot_space":       decimal(*s.SnapSpace),
	})
}

// compareReport compares the totals, the quota list and the image's identity.
func compareReport(t *testing.T, truth nameNodeTruth, image string, report []byte) {
	t.Helper()
	d := &differences{t: t, what: "report"}
	defer d.end()
	var doc struct {
		Source         json.RawMessage   `json:"source"`
		Totals         json.RawMessage   `json:"totals"`
		SnapshotTotals json.RawMessage   `json:"snapshot_totals"`
		Quotas         []json.RawMessage `json:"quotas"`
	}
	mustUnmarshal(t, report, &doc)
	compareRow(d, "source", flatten(t, doc.Source), sourceOf(t, image))
	compareTotals(d, truth, flatten(t, doc.Totals), flatten(t, doc.SnapshotTotals))

	rows := make([]row, len(doc.Quotas))
	for i, q := range doc.Quotas {
		rows[i] = flatten(t, q)
	}
	got := rowsByPath(d, rows)
	for _, in := range truth.inodes {
		path := in.Path
		s, ok := truth.directories[path]
		if !ok || !s.hasQuota() {
			continue
		}
		r, ok := got[path]
		if !ok {
			d.note("quota missing: %q", path)
			continue
		}
		delete(got, path)
		compareRow(d, path, r, quotaFigures(s))
	}
	for path := range got {
		d.note("a quota that the NameNode does not have: %q", path)
	}
}

// compareTotals requires that live and snapshot parts make the root's
// ContentSummary, and that the live part is the sum of the NameNode's listing.
func compareTotals(d *differences, truth nameNodeTruth, live, snapshots row) {
	d.t.Helper()
	count := truth.live["/"]
	compareRow(d, "totals", live, row{
		"directories": decimal(count.directories),
		"files":       decimal(count.files),
		"symlinks":    decimal(count.symlinks),
		"length":      decimal(count.length),
	})
	root := truth.directories["/"]
	if !root.hadoop3() {
		return
	}
	compareRow(d, "snapshot_totals", snapshots, row{
		"directories":    decimal(*root.SnapDirs),
		"files":          decimal(*root.SnapFiles),
		"symlinks":       decimal(root.FileCount - *root.SnapFiles - count.files - count.symlinks),
		"length":         decimal(*root.SnapLength),
		"space_consumed": decimal(*root.SnapSpace),
	})
	// The NameNode's sums wrap around, so the difference does.
	compareRow(d, "totals", live, row{"space_consumed": decimal(root.SpaceConsumed - *root.SnapSpace)})
}

// sourceOf is what the names and files beside an image say about it.
func sourceOf(t *testing.T, image string) row {
	t.Helper()
	_, digits, _ := strings.Cut(filepath.Base(image), "_")
	txid, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", image, err)
	}
	sum, _, _ := strings.Cut(string(readMaybeGzipped(t, image+".md5")), " ")
	want := row{"txid": decimal(txid), "md5": sum, "verified": "true"}
	version, err := os.ReadFile(filepath.Join(filepath.Dir(image), "VERSION"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(version)) {
		if layout, ok := strings.CutPrefix(strings.TrimSpace(line), "layoutVersion="); ok {
			want["layout_version"] = layout
		}
	}
	return want
}

// rowsByPath indexes rows; a path that comes twice is a difference.
func rowsByPath(d *differences, rows []row) map[string]row {
	d.t.Helper()
	m := make(map[string]row, len(rows))
	for _, r := range rows {
		path := r.path(d.t)
		if m[path] != nil {
			d.note("twice: %q", path)
		}
		m[path] = r
	}
	return m
}

// compareRow compares the keys of want. "" wants the key absent; false and
// absent are the same.
func compareRow(d *differences, path string, got, want row) {
	d.t.Helper()
	for _, key := range sortedKeys(want) {
		if notFalse(got[key]) != notFalse(want[key]) {
			d.add(path, key, got[key], want[key])
		}
	}
}

// dropZeros forgets the keys that are wanted as 0 and are absent.
func dropZeros(got, want row, keys ...string) {
	for _, key := range keys {
		if want[key] == "0" && got[key] == "" {
			delete(want, key)
		}
	}
}

func blockList(t *testing.T, blocks [][3]int64) string {
	t.Helper()
	if len(blocks) == 0 {
		return ""
	}
	list := make([]map[string]int64, len(blocks))
	for i, b := range blocks {
		list[i] = map[string]int64{"id": b[0], "generation_stamp": b[1], "bytes": b[2]}
	}
	return canonical(t, list)
}

func sortedKeys(r row) []string {
	keys := make([]string, 0, len(r))
	for key := range r {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func notFalse(s string) string {
	if s == "false" {
		return ""
	}
	return s
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
