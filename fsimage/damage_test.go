package fsimage

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"fsweep/fsimage/imagetest"
	pb "fsweep/proto/fsimage"
)

// readDamaged opens and reads an image that may be broken.
func readDamaged(t *testing.T, b []byte) (census, error) {
	t.Helper()
	im, err := Open(bytes.NewReader(b), int64(len(b)), WithBuffer(4<<10), WithMaxRecord(1<<20))
	if err != nil {
		return census{}, err
	}
	return takeCensus(t.Context(), im, 1)
}

// readSection is readDamaged for what a change of one section can affect.
func readSection(t *testing.T, b []byte, name string) (c census, err error) {
	t.Helper()
	im, err := Open(bytes.NewReader(b), int64(len(b)), WithBuffer(4<<10), WithMaxRecord(1<<20))
	if err != nil {
		return c, err
	}
	if read := sectionReaders[name]; read != nil {
		return c, read(&c, t.Context(), im, 1)
	}
	return takeCensus(t.Context(), im, 1)
}

// sectionAt names the section that byte i belongs to; empty: to none.
func sectionAt(im *Image, i int) string {
	for _, s := range im.Summary().Sections {
		if int64(i) >= s.Offset && int64(i) < s.Offset+s.Length && !s.Part() {
			return s.Name
		}
	}
	return ""
}

// smallImages are smallTree's image with each codec that can be written.
func smallImages() map[string][]byte {
	m := smallTree().Image()
	out := map[string][]byte{"plain": m.Bytes()}
	for _, m.Codec = range imagetest.WritableCodecs {
		out[m.Codec[len(codecPackage):]] = m.Bytes()
	}
	return out
}

// TestTruncatedFile: no prefix of an image is an image.
func TestTruncatedFile(t *testing.T) {
	files := smallImages()
	for _, dir := range codecDirs {
		files[dir] = imageBytes(t, dir)
	}
	for name, b := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 0; n < len(b); n += 1 + (len(b)-1)/rounds(60_000) {
				_, err := readDamaged(t, b[:n])
				if n == 0 {
					requireClass(t, err, ErrNotImage)
					continue
				}
				requireClass(t, err, ErrTruncated, ErrCorrupt)
			}
		})
	}
}

// TestShrinkingFile: the file is cut while it is read.
func TestShrinkingFile(t *testing.T) {
	for name, b := range smallImages() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			im := openBytes(t, b, WithBuffer(256))
			want, err := takeCensus(t.Context(), im, 1)
			if err != nil {
				t.Fatal(err)
			}
			step := 1
			if name != "plain" || testing.Short() {
				step = 7
			}
			if name != "plain" && testing.Short() {
				step = 61
			}
			for n := 0; n < len(b); n += step {
				cut := *im
				cut.r = bytes.NewReader(b[:n])
				got, err := takeCensus(t.Context(), &cut, 1)
				if err != nil {
					fe := requireFormatError(t, err, ErrTruncated)
					if fe.Section == "" {
						t.Fatalf("cut at %d: %v names no section", n, err)
					}
				} else if got != want {
					t.Fatalf("cut at %d: read %+v, want %+v", n, got, want)
				}
			}
		})
	}
}

// TestTruncatedSection: the summary gives a section fewer bytes than it has.
// Either reading fails, or fewer inodes are seen than announced.
func TestTruncatedSection(t *testing.T) {
	for codec, b := range smallImages() {
		for _, section := range []string{SectionNameSystem, SectionErasureCoding, SectionINode, SectionSnapshot, SectionSnapshotDiff, SectionStringTable} {
			t.Run(codec+" "+section, func(t *testing.T) {
				t.Parallel()
				im := openBytes(t, b)
				var want census
				if err := sectionReaders[section](&want, t.Context(), im, 1); err != nil {
					t.Fatal(err)
				}
				s, _ := im.Section(section)
				for n := int64(0); n < s.Length; n += 1 + s.Length/int64(rounds(500)) {
					var got census
					err := sectionReaders[section](&got, t.Context(), withLength(im, section, n), 1)
					switch {
					case err != nil:
						requireClass(t, err, ErrTruncated, ErrCorrupt)
					case n == 0 && section != SectionINode: // an empty section is one without records
					case section == SectionINode && got.inodes < got.announced:
					case section == SectionSnapshotDiff && codec == "plain": // whole entries are gone; nothing counts them
					case got != want:
						t.Fatalf("%d of %d bytes: read %+v", n, s.Length, got)
					}
				}
			})
		}
	}
}

// withLength is the image with another length of a section in its summary.
func withLength(im *Image, section string, n int64) *Image {
	cut := *im
	cut.sum.Sections = slices.Clone(im.sum.Sections)
	for i := range cut.sum.Sections {
		if cut.sum.Sections[i].Name == section {
			cut.sum.Sections[i].Length = n
		}
	}
	return &cut
}

// checksummed codecs find every change of their data.
var checksummed = map[string]bool{"DefaultCodec": true, "DeflateCodec": true, "GzipCodec": true, "BZip2Codec": true, "ZStandardCodec": true}

// TestFlippedBits: whatever bit is wrong, there is an error or a decode, soon;
// and with a checksum no wrong decode.
func TestFlippedBits(t *testing.T) {
	files := smallImages()
	files["BZip2Codec"] = imageBytes(t, "3.4.2/BZip2Codec")
	for name, b := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flips := 3000
			if name == "BZip2Codec" {
				flips = 500 // its decoder is slow and its image a large one
			}
			im := openBytes(t, b)
			want := map[string]census{}
			for _, s := range append([]string{""}, slices.Collect(maps.Keys(sectionReaders))...) {
				var err error
				if want[s], err = readSection(t, b, s); err != nil {
					t.Fatal(err)
				}
			}
			end := im.Summary().Offset
			r := newRand(t, 20260302)
			wrong := bytes.Clone(b)
			for range rounds(flips) {
				i, bit := r.IntN(len(b)), byte(1)<<r.IntN(8)
				section := sectionAt(im, i)
				wrong[i] ^= bit
				began := time.Now()
				got, err := readSection(t, wrong, section)
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("byte %d, bit %#x: took %v", i, bit, took)
				}
				requireClassified(t, err)
				if err == nil && checksummed[name] && int64(i) < end && got != want[section] {
					t.Errorf("byte %d, bit %#x: read %+v, want %+v", i, bit, got, want[section])
				}
				wrong[i] ^= bit
			}
		})
	}
}

// TestGarbage: bytes overwritten, inserted and taken out in many places at once.
func TestGarbage(t *testing.T) {
	for name, b := range smallImages() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			end := int(openBytes(t, b).Summary().Offset)
			r := newRand(t, 20260303)
			for range rounds(500) {
				wrong := bytes.Clone(b)
				for range 1 + r.IntN(20) {
					i := len(magic) + r.IntN(end-len(magic))
					n := min(1+r.IntN(16), end-i)
					switch r.IntN(3) {
					case 0:
						for k := range n {
							wrong[i+k] = byte(r.Uint32())
						}
					case 1:
						copy(wrong[i:end], wrong[i+n:end])
					case 2:
						copy(wrong[i+n:end], bytes.Clone(wrong[i:end-n]))
					}
				}
				_, err := readDamaged(t, wrong)
				requireClassified(t, err)
			}
		})
	}
}

// TestChecksumFindsDamage: with its .md5 file no flipped bit is missed.
func TestChecksumFindsDamage(t *testing.T) {
	b := smallTree().Image().Bytes()
	sum, err := openBytes(t, b).Checksum(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	im := openBytes(t, b)
	if err := im.Verify(t.Context(), sum); err != nil {
		t.Fatal(err)
	}
	r := newRand(t, 5)
	for range 100 {
		wrong := bytes.Clone(b)
		wrong[r.IntN(len(b))] ^= 1 << r.IntN(8)
		im.r = bytes.NewReader(wrong)
		if err := im.Verify(t.Context(), sum); !errors.Is(err, ErrChecksum) {
			t.Fatalf("got %v", err)
		}
	}
}

// TestBombs: a few bytes that announce much, or become much, end in an error or
// in counts, with memory for what is there.
func TestBombs(t *testing.T) {
	huge := proto.Uint32(1<<32 - 1)
	for name, build := range map[string]func(*imagetest.Image){
		"strings": func(m *imagetest.Image) { replace(m, imagetest.StringTable, &pb.StringTableSection{NumEntry: huge}) },
		"snapshots": func(m *imagetest.Image) {
			replace(m, imagetest.SnapshotSection, &pb.SnapshotSection{NumSnapshots: huge})
		},
		"diffs": func(m *imagetest.Image) { replace(m, imagetest.SnapshotDiff, diffEntry(1<<32-1)) },
		"file diffs": func(m *imagetest.Image) {
			replace(m, imagetest.SnapshotDiff, diffEntryOf(pb.SnapshotDiffSection_DiffEntry_FILEDIFF, 1<<32-1))
		},
		"created": func(m *imagetest.Image) {
			replace(m, imagetest.SnapshotDiff, diffEntry(1), &pb.SnapshotDiffSection_DirectoryDiff{CreatedListSize: huge})
		},
		"tokens": func(m *imagetest.Image) {
			replace(m, imagetest.SecretManager, &pb.SecretManagerSection{NumKeys: huge, NumTokens: huge})
		},
		"pools": func(m *imagetest.Image) {
			replace(m, imagetest.CacheManager, &pb.CacheManagerSection{NextDirectiveId: proto.Uint64(1), NumPools: huge, NumDirectives: huge})
		},
		"directives": func(m *imagetest.Image) {
			replace(m, imagetest.CacheManager, &pb.CacheManagerSection{NextDirectiveId: proto.Uint64(1), NumPools: proto.Uint32(0), NumDirectives: huge})
		},
		"record": func(m *imagetest.Image) {
			m.Section(imagetest.INodeDir).AddRaw([]byte{0xff, 0xff, 0xff, 0xff, 0x03}) // 1 GiB - 1
		},
	} {
		for _, codec := range []string{"", imagetest.CodecGzip, imagetest.CodecSnappy} {
			t.Run(fmt.Sprint(name, codec), func(t *testing.T) {
				m := smallTree().Image()
				m.Codec = codec
				build(m)
				b := m.Bytes()
				im, err := Open(bytes.NewReader(b), int64(len(b)), WithBuffer(4<<10))
				if err != nil {
					t.Fatal(err)
				}
				used := allocated(func() { _, err = takeCensus(t.Context(), im, 2) })
				requireClass(t, err, ErrTruncated)
				if used > 32<<20 {
					t.Errorf("%d bytes allocated for an image of %d", used, len(b))
				}
			})
		}
	}
}

// TestDecompressionBomb: a section that becomes thousands of times as long as it
// is in the file is no section that a NameNode wrote. Records that are read are
// kept in some form, so this must end in an error before memory does.
func TestDecompressionBomb(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a hundred million records")
	}
	for _, codec := range []string{imagetest.CodecGzip, imagetest.CodecZstd} {
		m := smallTree().Image()
		m.Codec = codec
		m.Section(SectionDirectory).AddRaw(make([]byte, 96<<20)) // as many empty records
		b := m.Bytes()
		var c census
		err := c.readDirectories(t.Context(), openBytes(t, b), 1)
		if err == nil {
			t.Errorf("%s: %d bytes of image gave %d directories", codec, len(b), c.entries)
			continue
		}
		requireClass(t, err, ErrCorrupt, ErrUnsupported)
	}
}

// replace puts other messages into a section.
func replace(m *imagetest.Image, section string, ms ...proto.Message) {
	s := m.Section(section)
	s.Units = nil
	s.Add(ms...)
}

func diffEntry(n uint32) *pb.SnapshotDiffSection_DiffEntry {
	return diffEntryOf(pb.SnapshotDiffSection_DiffEntry_DIRECTORYDIFF, n)
}

func diffEntryOf(k pb.SnapshotDiffSection_DiffEntry_Type, n uint32) *pb.SnapshotDiffSection_DiffEntry {
	return &pb.SnapshotDiffSection_DiffEntry{Type: k.Enum(), InodeId: proto.Uint64(imagetest.RootID), NumOfDiff: proto.Uint32(n)}
}
