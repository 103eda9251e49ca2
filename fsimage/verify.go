package fsimage

import (
	"context"
	"crypto/md5" //nolint:gosec // the NameNode's choice
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// MD5 is a checksum as it stands in an .md5 file.
type MD5 [md5.Size]byte

// String gives the 32 hex digits.
func (m MD5) String() string { return hex.EncodeToString(m[:]) }

// ReadMD5File reads the file that a NameNode writes beside an image: one line of
// 32 hex digits, a blank, an asterisk (or a blank, as md5sum writes) and the name
// of the image. An error wraps
// ErrCorrupt when the contents are something else, and fs.ErrNotExist when
// there is no such file.
func ReadMD5File(name string) (MD5, error) {
	var sum MD5
	f, err := os.Open(name)
	if err != nil {
		return sum, err
	}
	b, err := io.ReadAll(io.LimitReader(f, 4097))
	if err = errors.Join(err, f.Close()); err != nil {
		return sum, err
	}
	line, rest, _ := strings.Cut(string(b), "\n")
	hexa, image, ok := strings.Cut(strings.TrimSuffix(line, "\r"), " ")
	n, err := hex.Decode(sum[:], []byte(hexa[:min(len(hexa), 2*len(sum))]))
	if err != nil || n != len(sum) || len(hexa) != 2*len(sum) || !ok || len(image) < 2 || image[0] != '*' && image[0] != ' ' || strings.TrimSpace(rest) != "" || len(b) > 4096 {
		return sum, fmt.Errorf("%s: %w: want one line of 32 hex digits, a blank, and * with the image's name", name, ErrCorrupt)
	}
	return sum, nil
}

// Checksum computes the MD5 of the whole file with a sequential reader of its
// own, so that it can run beside the decoding.
func (im *Image) Checksum(ctx context.Context) (MD5, error) {
	defer im.hash.begin()()
	h := md5.New() //nolint:gosec // see above
	buf := make([]byte, 128<<10)
	var sum MD5
	for at := int64(0); at < im.size; {
		if err := ctx.Err(); err != nil {
			return sum, err
		}
		n, err := im.r.ReadAt(buf[:min(int64(len(buf)), im.size-at)], at)
		h.Write(buf[:n])
		at += int64(n)
		if err != nil && at < im.size {
			return sum, readError("", at, err)
		}
	}
	h.Sum(sum[:0])
	return sum, nil
}

// hashing tells that a checksum is being computed, one at a time: with several the
// first to end counts, which costs time and nothing else. Nothing can make that faster
// than one core is, so whoever decodes meanwhile leaves it one.
type hashing struct {
	mu   sync.Mutex
	over chan struct{} // closed at the end; nil: there is none
}

// begin starts one and returns what ends it.
func (h *hashing) begin() func() {
	over := make(chan struct{})
	h.set(over)
	return func() {
		h.set(nil)
		close(over)
	}
}

func (h *hashing) set(over chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = over
}

// wait returns when no checksum is being computed, or when done is closed.
func (h *hashing) wait(done <-chan struct{}) {
	h.mu.Lock()
	over := h.over
	h.mu.Unlock()
	if over == nil {
		return
	}
	select {
	case <-over:
	case <-done:
	}
}

// Verify compares the file's MD5 with want. An error wraps ErrChecksum.
func (im *Image) Verify(ctx context.Context, want MD5) error {
	got, err := im.Checksum(ctx)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%w: the file has MD5 %s, its .md5 file says %s", ErrChecksum, got, want)
	}
	return nil
}
