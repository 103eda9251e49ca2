package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fsweep/analyze"
	"fsweep/cmd/internal/cli"
	"fsweep/fsimage"
)

// image is an opened fsimage whose MD5 is being compared with that of its .md5
// file, on a goroutine of its own, while it is decoded.
type image struct {
	*fsimage.File
	name    string
	md5File string       // empty: none
	want    *fsimage.MD5 // nil: there is nothing to compare with
	reason  string       // why not

	done chan struct{} // closed when err has its value
	err  error
}

// openImage opens an image; errors carry hints.
func openImage(name string, noVerify bool) (*image, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	im := &image{name: name, done: make(chan struct{})}
	if noVerify {
		im.reason = "--no-verify was given"
	} else if err := im.readMD5(); err != nil {
		return nil, err
	}
	f, err := fsimage.OpenFile(name)
	if err != nil {
		return nil, imageHint(err)
	}
	im.File = f
	if diffs, _ := f.Section(fsimage.SectionSnapshotDiff); diffs.Length < f.Size()/100 {
		limitGarbage(littleGarbage)
	}
	return im, nil
}

// checkName gives better advice than opening would for what is no file.
func checkName(name string) error {
	fi, err := os.Stat(name)
	switch {
	case err != nil:
		if name == "-" {
			return cli.WithHint(err, "an image is read at many places and cannot come from a pipe; save it to a file first")
		}
		return err
	case fi.IsDir():
		return cli.WithHint(fmt.Errorf("%s is a directory, not an image", name), "%s", directoryHint(name))
	case !fi.Mode().IsRegular():
		return cli.WithHint(fmt.Errorf("%s is not a regular file", name),
			"an image is read at many places; save it to a file first")
	}
	return nil
}

// directoryHint names the images in a directory, or in current/ below it, where
// a NameNode keeps them.
func directoryHint(dir string) string {
	for _, d := range []string{dir, filepath.Join(dir, "current")} {
		entries, _ := os.ReadDir(d) // what cannot be read holds no image to name
		var newest string
		for _, e := range entries {
			if n := e.Name(); strings.HasPrefix(n, "fsimage_") && filepath.Ext(n) == "" && !e.IsDir() && n > newest {
				newest = n
			}
		}
		if newest != "" {
			return fmt.Sprintf("name the file; the newest image there is %s", filepath.Join(d, newest))
		}
	}
	return "name the file, such as fsimage_0000000000000012345"
}

// gzipMagic is how the start of a gzipped file looks in an error.
const gzipMagic = `"\x1f\x8b`

// imageHint adds advice to an error about the contents of an image.
func imageHint(err error) error {
	switch {
	case errors.Is(err, fsimage.ErrNotImage) && strings.Contains(err.Error(), gzipMagic):
		return cli.WithHint(err, "the file is gzipped; gunzip it first")
	case errors.Is(err, fsimage.ErrNotImage):
		return cli.WithHint(err, "an image is what the NameNode saves as fsimage_N; it starts with HDFSIMG1")
	case errors.Is(err, fsimage.ErrTruncated):
		return cli.WithHint(err, "was it copied completely? Compare its size, or copy it again")
	}
	return err
}

// readMD5 finds the .md5 file beside the image, or beside the file that a link
// leads to.
func (im *image) readMD5() error {
	names := []string{im.name + ".md5"}
	if target, err := filepath.EvalSymlinks(im.name); err == nil && target != im.name {
		names = append(names, target+".md5")
	}
	for _, name := range names {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		fi, err := os.Stat(name) // a link that leads nowhere is an error
		if err == nil && !fi.Mode().IsRegular() {
			err = fmt.Errorf("%s: %w: not a regular file", name, fsimage.ErrCorrupt)
		}
		var sum fsimage.MD5
		if err == nil {
			sum, err = fsimage.ReadMD5File(name)
		}
		if err != nil {
			return cli.WithHint(err, "copy it again, or give --no-verify to read the image unverified")
		}
		im.md5File, im.want = name, &sum
		return nil
	}
	im.reason = "there is no .md5 file beside the image"
	return nil
}

// with reads the image with fn while its MD5 is verified. A wrong MD5 does not
// end fn: where decoding fails is worth knowing too, and the message is the same
// in every run.
func (im *image) with(ctx context.Context, fn func(context.Context) error) error {
	defer im.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer close(im.done)
		if im.want == nil {
			return
		}
		im.err = cli.Guard(func() error { return im.Verify(ctx, *im.want) })
	}()
	err := fn(ctx)
	_, isOutput := errors.AsType[*cli.OutputError](err)
	_, isBug := errors.AsType[*cli.PanicError](err)
	_, isUsage := errors.AsType[*cli.UsageError](err)
	if isOutput || isBug || isUsage {
		return err // says nothing about the image
	}
	<-im.done
	if changed := im.unchanged(); changed != nil && !errors.Is(err, context.Canceled) {
		return changed // whatever else was found belongs to no image
	}
	return im.explain(err)
}

// unchanged gives an error if somebody wrote to the image meanwhile: its MD5 may
// be that of other bytes than those that were decoded.
func (im *image) unchanged() error {
	err := im.Unchanged()
	if err == nil {
		return nil
	}
	return cli.WithHint(fmt.Errorf("%s: %w", im.name, err), "copy an image under another name and rename it when it is complete")
}

// explain puts what decoding and what verifying the image gave together.
func (im *image) explain(err error) error {
	if errors.Is(im.err, fsimage.ErrChecksum) {
		sum := cli.WithHint(fmt.Errorf("%s: %w", im.name, im.err),
			"the file was damaged or replaced after the NameNode saved it, or %s belongs to another; copy both again", im.md5File)
		if _, ok := errors.AsType[*fsimage.FormatError](err); ok {
			return errors.Join(sum, err)
		}
		return sum
	}
	if im.err != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return im.err
	}
	if _, ok := errors.AsType[*fsimage.FormatError](err); !ok {
		return err
	}
	err = imageHint(fmt.Errorf("%s: %w", im.name, err))
	if im.want != nil && im.err == nil {
		err = cli.WithHint(err, "its MD5 is that of %s, so a copy would be no better", im.md5File)
	}
	return err
}

// verified waits until the MD5 was compared.
func (im *image) verified(ctx context.Context) error {
	select {
	case <-im.done:
		return im.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// describe tells whether the image was verified; call it after verified.
func (im *image) describe(s *analyze.Source) {
	s.VerifiedReason = im.reason
	if im.want != nil && im.err == nil {
		s.MD5, s.Verified = im.want.String(), true
		s.VerifiedReason = "the MD5 equals that of " + im.md5File
	}
}

// warn says on stderr that an output without room for it is unverified.
func (im *image) warn(env *cli.Env) {
	if im.want == nil {
		env.Warn("%s was not verified: %s", im.name, im.reason)
	}
}

// inputs are the files that no output may replace.
func (im *image) inputs() []string { return []string{im.name, im.name + ".md5", im.md5File} }
