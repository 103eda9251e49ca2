package imagetest_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsweep/fsimage/imagetest"
	pb "fsweep/proto/fsimage"
)

func specs() map[string]imagetest.Spec {
	s := map[string]imagetest.Spec{
		"smallest":       {Inodes: imagetest.MinInodes},
		"usual":          {Inodes: 20_000, Seed: 1},
		"half":           {Inodes: 10_000, Seed: 2, DirPercent: 50},
		"directories":    {Inodes: 10_000, Seed: 3, DirPercent: 100},
		"files":          {Inodes: 10_000, Seed: 4, DirPercent: 1},
		"sparse":         {Inodes: 10_000, Seed: 5, Sparse: 300},
		"snapshots":      {Inodes: 10_000, Seed: 6, SnapshotCells: 200},
		"no snapshots":   {Inodes: 10_000, Seed: 7, SnapshotCells: -1},
		"sub-sections":   {Inodes: 10_000, Seed: 8, SubSections: 12, SnapshotCells: 30},
		"small table":    {Inodes: 10_000, Seed: 9, Sparse: 4, Buckets: 64},
		"ids up to 2^63": {Inodes: 10_000, Seed: 10, Sparse: 4},
	}
	high := s["ids up to 2^63"]
	high.FirstID = high.LastFirstID()
	s["ids up to 2^63"] = high
	for _, codec := range imagetest.WritableCodecs {
		s[codec[strings.LastIndexByte(codec, '.')+1:]] = imagetest.Spec{Inodes: 5000, Codec: codec}
	}
	return s
}

// TestWrite takes written images apart and counts everything again.
func TestWrite(t *testing.T) {
	for name, spec := range specs() {
		t.Run(name, func(t *testing.T) {
			var file, again bytes.Buffer
			truth, err := imagetest.Write(&file, spec)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := imagetest.Write(&again, spec); err != nil || !bytes.Equal(file.Bytes(), again.Bytes()) {
				t.Errorf("not the same bytes again (%v)", err)
			}
			p := parseImage(t, file.Bytes())
			checkInodes(t, p, spec, truth)
			checkTruth(t, p, truth)
			checkSubSections(t, p, spec)
		})
	}
}

func checkInodes(t *testing.T, p *parsed, spec imagetest.Spec, truth *imagetest.Truth) {
	t.Helper()
	if len(p.inodes) != spec.Inodes || p.header.GetNumInodes() != uint64(spec.Inodes) || truth.Inodes != int64(spec.Inodes) {
		t.Errorf("%d inodes, header %d, truth %d", len(p.inodes), p.header.GetNumInodes(), truth.Inodes)
	}
	last, dirs := uint64(0), int64(0)
	for _, in := range p.inodes {
		last = max(last, in.GetId())
		if in.GetType() == pb.INodeSection_INode_DIRECTORY {
			dirs++
		}
	}
	if last != p.header.GetLastInodeId() {
		t.Errorf("last id %d, header %d", last, p.header.GetLastInodeId())
	}
	if spec.FirstID > 1<<62 && last < 1<<63-1<<20 {
		t.Errorf("last id %d is not near 2^63", last)
	}
	percent := max(spec.DirPercent, 1)
	if spec.DirPercent == 0 {
		percent = 13
	}
	if want := int64(spec.Inodes) * int64(percent) / 100; dirs != truth.Directories || dirs > want || dirs < want-want/10 {
		t.Errorf("%d directories, truth %d, want %d", dirs, truth.Directories, want)
	}
	checkTableOrder(t, p, spec)
}

// checkTableOrder requires buckets in order and the newest first in each.
func checkTableOrder(t *testing.T, p *parsed, spec imagetest.Spec) {
	t.Helper()
	buckets := uint64(spec.Buckets)
	if buckets == 0 {
		for buckets = 1; buckets*2 <= uint64(spec.Inodes); buckets *= 2 {
			continue
		}
	}
	for k := 1; k < len(p.inodes); k++ {
		a, b := p.inodes[k-1].GetId(), p.inodes[k].GetId()
		ba, bb := uint64(uint32(a^a>>32))%buckets, uint64(uint32(b^b>>32))%buckets
		if ba > bb || ba == bb && a < b {
			t.Fatalf("inode %d follows %d", b, a)
		}
	}
}

// checkSubSections requires about as many as were asked for. A directory of many
// children makes one of INODE_DIR longer, so there can be fewer of those.
func checkSubSections(t *testing.T, p *parsed, spec imagetest.Spec) {
	t.Helper()
	if spec.SubSections < 2 {
		return
	}
	count := map[string]int{}
	for _, s := range p.summary.GetSections() {
		count[s.GetName()]++
	}
	if n := count[imagetest.INodeSub]; n != spec.SubSections && n != spec.SubSections+1 {
		t.Errorf("%d sub-sections of INODE, want %d", n, spec.SubSections)
	}
	if n := count[imagetest.INodeDirSub]; n > spec.SubSections+1 || n < spec.SubSections*2/3 {
		t.Errorf("%d sub-sections of INODE_DIR, want %d", n, spec.SubSections)
	}
}

// checkTruth counts the live tree below every row by paths. What only snapshots
// hold is compared with the inodes that no live path leads to.
func checkTruth(t *testing.T, p *parsed, truth *imagetest.Truth) {
	t.Helper()
	type node struct {
		in    *pb.INodeSection_INode
		total imagetest.Totals
	}
	live := map[string]*node{}
	for _, r := range truth.Rows {
		live[r.Path] = &node{}
	}
	seen := 0
	p.walk(t, func(path string, in *pb.INodeSection_INode) {
		seen++
		if n := live[path]; n != nil {
			n.in = in
		}
		for at := path; ; at = filepath.Dir(at) {
			if n := live[at]; n != nil {
				count(&n.total, in)
			}
			if at == "/" {
				return
			}
		}
	})
	for _, r := range truth.Rows {
		n := live[r.Path]
		if n.in.GetId() != r.InodeID {
			t.Errorf("%s is %d, truth %d", r.Path, n.in.GetId(), r.InodeID)
			continue
		}
		r.Live.SpaceConsumed = 0
		if diff := cmp.Diff(r.Live, n.total); diff != "" {
			t.Errorf("%s: -truth +counted\n%s", r.Path, diff)
		}
		d := n.in.GetDirectory()
		if int64(d.GetNsQuota()) != r.NSQuota || int64(d.GetDsQuota()) != r.DSQuota || len(d.GetTypeQuotas().GetQuotas()) != len(r.TypeQuota) {
			t.Errorf("%s: quotas differ", r.Path)
		}
	}
	// A renamed file counts in both places, so every cell adds one.
	cells := truth.SnapshotTouched / 12
	held := truth.SnapshotTotals.Directories + truth.SnapshotTotals.Files
	if int64(seen)+held != truth.Inodes+cells || truth.Rows[0].NSUsed != truth.Inodes+cells {
		t.Errorf("%d live and %d held inodes of %d, %d used by the root", seen, held, truth.Inodes, truth.Rows[0].NSUsed)
	}
}

func count(t *imagetest.Totals, in *pb.INodeSection_INode) {
	switch in.GetType() {
	case pb.INodeSection_INode_DIRECTORY:
		t.Directories++
	case pb.INodeSection_INode_SYMLINK:
		t.Symlinks++
	case pb.INodeSection_INode_FILE:
		t.Files++
		for _, b := range in.GetFile().GetBlocks() {
			t.Length += int64(b.GetNumBytes())
		}
	}
}

// TestSpecErrors lists what cannot be written.
func TestSpecErrors(t *testing.T) {
	for _, spec := range []imagetest.Spec{
		{},
		{Inodes: imagetest.MaxInodes + 1},
		{Inodes: 1000, DirPercent: 101},
		{Inodes: 1000, FirstID: imagetest.RootID},
		{Inodes: 1000, FirstID: 1<<63 - 1000},
		{Inodes: 1000, Buckets: 1000},
		{Inodes: 1000, SnapshotCells: 100},
		{Inodes: 1000, Codec: imagetest.CodecLzo},
		{Inodes: 1000, Codec: imagetest.CodecGzip, SubSections: 4},
	} {
		if _, err := imagetest.Write(&bytes.Buffer{}, spec); err == nil {
			t.Errorf("%+v: no error", spec)
		}
	}
}

func TestBareDecode(t *testing.T) {
	dir := t.TempDir()
	path, truth, err := imagetest.WriteFile(dir, imagetest.Spec{Inodes: 30_000, Seed: 1, Sparse: 300}, true)
	if err != nil {
		t.Fatal(err)
	}
	first, err := imagetest.BareDecode(path)
	if err != nil {
		t.Fatal(err)
	}
	if first.Inodes != truth.Inodes || first.Checksum == 0 {
		t.Errorf("%+v, want %d inodes", first, truth.Inodes)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{500, 5000, 100_000, 2_000_000} {
		bad := append([]byte{}, b...)
		copy(bad[at:], bytes.Repeat([]byte{0xff}, 300)) // a record begins in there
		file := filepath.Join(dir, fmt.Sprint(at))
		if err := os.WriteFile(file, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := imagetest.BareDecode(file); err == nil {
			t.Errorf("garbled at %d: %+v", at, got)
		}
	}
}

// TestInflate requires the size of the sections, and errors where there is no codec
// or the data is bad.
func TestInflate(t *testing.T) {
	for _, codec := range []string{imagetest.CodecDefault, imagetest.CodecGzip, imagetest.CodecZstd} {
		path, _, err := imagetest.WriteFile(t.TempDir(), imagetest.Spec{Inodes: 5000, Codec: codec}, false)
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, section := range parseImage(t, file).sections {
			want += len(section)
		}
		if n, err := imagetest.Inflate(path); err != nil || n != int64(want) {
			t.Errorf("%s: %d bytes, want %d (%v)", codec, n, want, err)
		}
		copy(file[10_000:], bytes.Repeat([]byte{0xff}, 300))
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := imagetest.Inflate(path); err == nil {
			t.Errorf("%s: no error for bad data", codec)
		}
	}
	path, _, err := imagetest.WriteFile(t.TempDir(), imagetest.Spec{Inodes: 5000}, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := imagetest.Inflate(path); err == nil {
		t.Error("no error without a codec")
	}
}
