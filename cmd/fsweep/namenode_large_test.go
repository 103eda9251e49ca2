package main_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"fsweep/fsimage/imagetest"
)

// TestNameNodeLarge has a real NameNode load synthetic images that are large,
// and requires that its answers, the writer's truth and fsweep are the same for
// the root, every directory in it, and every directory with a quota. That makes
// the writer a witness for images that no NameNode here could hold.
//
// FSWEEP_LARGE_INODES is the number of inodes.
func TestNameNodeLarge(t *testing.T) {
	if os.Getenv("FSWEEP_NAMENODE") != "1" {
		t.Skip("needs a JDK and Maven: scripts/test turns it on (FSWEEP_NAMENODE=1)")
	}
	inodes := largeInodes(t)
	t.Setenv("RIG_HEAP", fmt.Sprintf("%dm", 1024+2*inodes/1000)) // 2 kB an inode
	program := buildProgram(t)
	for name, spec := range map[string]imagetest.Spec{
		"plain":    {},
		"parallel": {SubSections: 12}, // by this name the rig knows to load it so
		"gzip":     {Codec: imagetest.CodecGzip},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			spec.Inodes, spec.Seed = inodes, 1
			image, truth := writeLarge(t, dir, spec)

			began := time.Now()
			nameNode := askSums(t, dir, truth)
			asked := time.Since(began)
			compareWriter(t, truth, nameNode)

			began = time.Now()
			compareLarge(t, program, image, truth, nameNode.directories)
			t.Logf("%d inodes, %d directories compared; NameNode %.1f s, fsweep %.1f s",
				inodes, len(truth.Rows), asked.Seconds(), time.Since(began).Seconds())
		})
	}
}

const defaultLargeInodes = 1_000_000

func largeInodes(t *testing.T) int {
	t.Helper()
	s := os.Getenv("FSWEEP_LARGE_INODES")
	if s == "" {
		return defaultLargeInodes
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("FSWEEP_LARGE_INODES: %v", err)
	}
	return n
}

// writeLarge writes an image with all that a NameNode wants to find beside it.
func writeLarge(t *testing.T, dir string, spec imagetest.Spec) (string, *imagetest.Truth) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	image, truth, err := imagetest.WriteFile(dir, spec, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("written in %.1f s", time.Since(began).Seconds())
	version := fmt.Sprintf("namespaceID=1\nblockpoolID=BP-1-127.0.0.1-1\nstorageType=NAME_NODE\n"+
		"cTime=1\nclusterID=fsweep\nlayoutVersion=%d\n", imagetest.LayoutCurrent)
	if err := os.WriteFile(filepath.Join(dir, "VERSION"), []byte(version), 0o600); err != nil {
		t.Fatal(err)
	}
	return image, truth
}

// largeAnswers are what a NameNode says about some directories, and about all.
type largeAnswers struct {
	directories map[string]nameNodeSummary // by path
	global      struct {
		Inodes    int64 `json:"filesTotal"`
		Snapshots int64 `json:"snapshots"`
	}
}

// askSums starts a NameNode from the image in dir and asks it about every
// directory of the truth.
func askSums(t *testing.T, dir string, truth *imagetest.Truth) largeAnswers {
	t.Helper()
	out := t.TempDir()
	list := filepath.Join(out, "paths")
	var paths strings.Builder
	for _, r := range truth.Rows {
		paths.WriteString(r.Path + "\n")
	}
	if err := os.WriteFile(list, []byte(paths.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	said := runRig(t, "sums", "3.4.2", dir, out, list)
	t.Logf("%s", said)
	parallel := filepath.Base(dir) == "parallel"
	if parallel != bytes.Contains(said, []byte("will be loaded in parallel")) {
		t.Error("the NameNode loaded the image the other way")
	}

	answers := largeAnswers{directories: map[string]nameNodeSummary{}}
	eachLine(t, readTruthFile(t, out, "quota.jsonl"), func(line []byte) {
		var s nameNodeSummary
		mustUnmarshal(t, line, &s)
		answers.directories[exactPath(t, s.Path, s.PathB64)] = s
	})
	mustUnmarshal(t, readTruthFile(t, out, "global.json"), &answers.global)
	return answers
}

// compareWriter requires that the NameNode found in the image what its writer
// says is there.
func compareWriter(t *testing.T, truth *imagetest.Truth, answers largeAnswers) {
	t.Helper()
	d := &differences{t: t, what: "NameNode and writer"}
	defer d.end()
	if answers.global.Inodes != truth.Inodes {
		d.note("%d inodes, the writer says %d", answers.global.Inodes, truth.Inodes)
	}
	if held := truth.SnapshotTotals.Files > 0; held != (answers.global.Snapshots > 0) {
		d.note("%d snapshots", answers.global.Snapshots)
	}
	if len(answers.directories) != len(truth.Rows) {
		d.note("%d directories, the writer says %d", len(answers.directories), len(truth.Rows))
	}
	for _, w := range truth.Rows {
		s, ok := answers.directories[w.Path]
		if !ok {
			d.note("missing: %q", w.Path)
			continue
		}
		if s.hasQuota() != w.Quota {
			d.note("%q has a quota: %v, the writer says %v", w.Path, s.hasQuota(), w.Quota)
		}
		compareRow(d, w.Path, summaryFigures(s), writerFigures(w))
		compareCharged(d, w.Path, s.QuotaUsage)
	}
}

// summaryFigures are the NameNode's, the counts of files with the symlinks.
func summaryFigures(s nameNodeSummary) row {
	r := quotaFigures(s)
	r["directories"] = decimal(s.DirCount)
	r["files"] = decimal(s.FileCount)
	r["length"] = decimal(s.Length)
	r["space_consumed"] = decimal(s.SpaceConsumed)
	r["snapshot_directories"] = decimal(*s.SnapDirs)
	r["snapshot_files"] = decimal(*s.SnapFiles)
	r["snapshot_length"] = decimal(*s.SnapLength)
	r["snapshot_space"] = decimal(*s.SnapSpace)
	return r
}

// writerFigures are the same of the writer.
func writerFigures(w imagetest.TruthRow) row {
	r := row{
		"inode_id":             strconv.FormatUint(w.InodeID, 10),
		"ns_quota":             quotaText(w.NSQuota),
		"ds_quota":             quotaText(w.DSQuota),
		"ns_used":              decimal(w.NSUsed),
		"ds_used":              decimal(w.DSUsed),
		"directories":          decimal(w.Live.Directories + w.Snapshot.Directories),
		"files":                decimal(w.Live.Files + w.Live.Symlinks + w.Snapshot.Files + w.Snapshot.Symlinks),
		"length":               decimal(w.Live.Length + w.Snapshot.Length),
		"space_consumed":       decimal(w.Live.SpaceConsumed + w.Snapshot.SpaceConsumed),
		"snapshot_directories": decimal(w.Snapshot.Directories),
		"snapshot_files":       decimal(w.Snapshot.Files),
		"snapshot_length":      decimal(w.Snapshot.Length),
		"snapshot_space":       decimal(w.Snapshot.SpaceConsumed),
	}
	for storageType, used := range w.TypeUsed {
		r["type_used."+storageType] = decimal(used)
		r["type_quota."+storageType] = ""
	}
	for storageType, quota := range w.TypeQuota {
		r["type_quota."+storageType] = decimal(quota)
	}
	return r
}

// compareCharged requires that what the NameNode computes when it is asked is
// what it charges: it has just loaded the image.
func compareCharged(d *differences, path string, usage map[string]int64) {
	d.t.Helper()
	charged, computed := row{}, row{}
	for key, v := range usage {
		if name, ok := strings.CutPrefix(key, "cached"); ok {
			name = strings.TrimPrefix(strings.ToLower(name[:1])+name[1:], "_")
			charged[name], computed[name] = decimal(v), decimal(usage[name])
		}
	}
	compareRow(d, path, charged, computed)
}

// compareLarge runs the program as a user would.
func compareLarge(t *testing.T, program, image string, truth *imagetest.Truth, want map[string]nameNodeSummary) {
	t.Helper()
	d := &differences{t: t, what: "fsweep"}
	defer d.end()

	rows := parseNDJSON(t, runProgram(t, program, "quota", image, "--format", "ndjson", "-o", "-"))
	quotas := rowsByPath(d, rows)
	if len(quotas) == 0 {
		d.note("no quotas: nothing was compared")
	}
	all := directoryRows(t, d, program, image, want)
	for _, w := range truth.Rows {
		s := want[w.Path]
		live := liveCounts{
			directories: w.Live.Directories, files: w.Live.Files, symlinks: w.Live.Symlinks, length: w.Live.Length,
		}
		r := all[w.Path]
		compareRow(d, w.Path, r, quotaFigures(s))
		compareSummary(d, r, s, live)
		if w.Quota {
			compareRow(d, "quota of "+w.Path, quotas[w.Path], quotaFigures(s))
			delete(quotas, w.Path)
		}
	}
	for path := range quotas {
		d.note("a quota that the NameNode does not have: %q", path)
	}
}

// directoryRows returns the rows of the directories in want; the others are too
// many to keep.
func directoryRows(t *testing.T, d *differences, program, image string, want map[string]nameNodeSummary) map[string]row {
	t.Helper()
	file := filepath.Join(t.TempDir(), "directories.ndjson")
	runProgram(t, program, "inventory", image, "--of", "directories", "--format", "ndjson", "-o", file)
	rows := map[string]row{}
	total := int64(0)
	eachLine(t, readTruthFile(t, filepath.Dir(file), filepath.Base(file)), func(line []byte) {
		total++
		r := flatten(t, line)
		path := r.path(t)
		if _, ok := want[path]; !ok {
			return
		}
		if rows[path] != nil {
			d.note("twice: %q", path)
		}
		rows[path] = r
	})
	if live := want["/"].DirCount - *want["/"].SnapDirs; total != live {
		d.note("%d rows of directories, the NameNode has %d", total, live)
	}
	return rows
}
