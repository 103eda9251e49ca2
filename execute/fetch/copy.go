package fetch

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io"

	"golang.org/x/time/rate"

	"fsweep/execute"
)

// piece is how much is read at once, in bytes.
const piece = 256 << 10

// copy writes the bytes of an image and compares their MD5.
func (f *fetcher) copy(ctx context.Context, to io.Writer, image *execute.Image, server *execute.ImageServer) error {
	fault := func(kind execute.ImageFault, err error, format string, args ...any) error {
		return &execute.ImageError{NameNode: server.NameNode, URL: server.URL, Fault: kind, Text: fmt.Sprintf(format, args...), Err: err}
	}
	size := int64(piece)
	limit := rate.NewLimiter(rate.Inf, piece)
	if f.BytesPerSecond > 0 { // in pieces so small that a slow one does not come in gusts
		size = min(size, max(f.BytesPerSecond/4, 1))
		limit = rate.NewLimiter(rate.Limit(f.BytesPerSecond), int(size))
	}
	sum, buf := md5.New(), make([]byte, size) //nolint:gosec // what Hadoop has
	for done := int64(0); ; {
		n, err := image.Body.Read(buf)
		if done += int64(n); done > image.Length {
			return fault(execute.ImageUnclear, nil, "%s has more than the %d bytes that were announced", image.Name, image.Length)
		}
		sum.Write(buf[:n])
		if _, err := to.Write(buf[:n]); err != nil {
			return err
		}
		if f.Progress != nil && n > 0 {
			f.Progress(image.Name, done, image.Length)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
		case done < image.Length:
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = nil // they say no more
			}
			return fault(execute.ImageNoAnswer, err, "%s was cut after %d of %d bytes", image.Name, done, image.Length)
		case !errors.Is(err, io.EOF):
			return fault(execute.ImageNoAnswer, err, "the end of %s", image.Name)
		case [md5.Size]byte(sum.Sum(nil)) != image.MD5:
			return fault(execute.ImageDamaged, nil, "%s came with the MD5 %x, and the NameNode says %x", image.Name, sum.Sum(nil), image.MD5)
		default:
			return nil
		}
		if err := limit.WaitN(ctx, n); err != nil {
			return err
		}
	}
}
