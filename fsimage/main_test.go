package fsimage

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"fsweep/fsimage/imagetest"
)

// images are those that real NameNodes saved, each in a directory of its own.
const images = "../testdata/images"

// codecDirs are the re-saves of one namespace: same records, other codecs.
var codecDirs = []string{
	"3.4.2/plain", "3.4.2/parallel", "3.4.2/DefaultCodec", "3.4.2/DeflateCodec", "3.4.2/GzipCodec",
	"3.4.2/BZip2Codec", "3.4.2/SnappyCodec", "3.4.2/Lz4Codec", "3.4.2/ZStandardCodec-SYNTHETIC",
}

// imageBytes gives the image in a directory below testdata/images, unpacked if
// it is stored gzipped.
func imageBytes(t testing.TB, dir string) []byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(images, dir, "fsimage_*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".md5") {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".gz") {
			z, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			if b, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		return b
	}
	t.Fatalf("no image in %s", dir)
	return nil
}

func openBytes(t testing.TB, b []byte, opts ...Option) *Image {
	t.Helper()
	im, err := Open(bytes.NewReader(b), int64(len(b)), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// sectionBytes gives the decompressed bytes of a section.
func sectionBytes(t testing.TB, im *Image, name string) []byte {
	t.Helper()
	s, ok := im.Section(name)
	if !ok {
		return nil
	}
	r, err := im.open(s)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// messages cuts a section into its records without the code under test.
func messages(t testing.TB, section []byte) [][]byte {
	t.Helper()
	var ms [][]byte
	for len(section) > 0 {
		n, k := binary.Uvarint(section)
		if k <= 0 || n > uint64(len(section)-k) {
			t.Fatal("the section does not consist of whole records")
		}
		ms = append(ms, section[k:k+int(n):k+int(n)])
		section = section[k+int(n):]
	}
	return ms
}

// inodeRecords are the INode messages of an image, without the header.
func inodeRecords(t testing.TB, im *Image) [][]byte {
	t.Helper()
	return messages(t, sectionBytes(t, im, SectionINode))[1:]
}

func dirRecords(t testing.TB, im *Image) [][]byte {
	t.Helper()
	return messages(t, sectionBytes(t, im, SectionDirectory))
}

// newRand gives random numbers that are the same in every run unless the
// environment says otherwise; the seed is logged.
func newRand(t testing.TB, seed uint64) *rand.Rand {
	t.Helper()
	if os.Getenv("FSWEEP_RANDOM_SEED") != "" {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// smallTree has one of everything that an image can hold, in a few kilobytes.
func smallTree() *imagetest.Tree {
	t := imagetest.NewTree()
	t.Dir("/data").Quota(100, 1<<40).TypeQuota(2, 1<<30).Own("etl", "etl", 0o750)
	a := t.File("/data/a", 1024, 10)
	a.ACL = []imagetest.ACL{{Type: 0, Name: "carol", Perm: 5}, {Type: 1, Perm: 7}}
	a.XAttr(imagetest.XAttrUser, "note", []byte("x"))
	t.Striped("/data/ec", 1, 4<<20)
	t.Symlink("/link", "/data/a")
	t.File("/data/log", 100).Open = &imagetest.Open{Client: "DFSClient_1", Machine: "host1"}
	d := t.Dir("/snap").SetPolicy(7)
	d.ACL = []imagetest.ACL{{Default: true, Type: 2, Perm: 7}}
	kept, gone := t.File("/snap/kept", 5), t.File("/snap/gone", 7)
	t.Snapshot(d, 1, "s1")
	t.Detach(gone)
	addSmallDiffs(t, d, kept, gone)
	for i := range 20 {
		t.File("/many/file-"+strings.Repeat("x", i), uint64(i))
	}
	return t
}

// requireClass is requireFormatError for who needs no more.
func requireClass(t testing.TB, err error, classes ...error) {
	t.Helper()
	_ = requireFormatError(t, err, classes...)
}

// requireFormatError fails unless err is a FormatError of one of the classes.
func requireFormatError(t testing.TB, err error, classes ...error) *FormatError {
	t.Helper()
	var fe *FormatError
	if !errors.As(err, &fe) {
		t.Fatalf("%v (%T) is no FormatError", err, err)
	}
	if fe.Offset < 0 {
		t.Errorf("%v: offset %d", err, fe.Offset)
	}
	for _, c := range classes {
		if errors.Is(err, c) {
			return fe
		}
	}
	t.Fatalf("%v: want one of %v", err, classes)
	return nil
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// rounds is how often a random test tries: a tenth under -short, which the race
// detector goes with.
func rounds(n int) int {
	if testing.Short() {
		return max(n/10, 1)
	}
	return n
}
