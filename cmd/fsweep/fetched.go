package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"fsweep/analyze"
	"fsweep/cmd/internal/cli"
	"fsweep/cmd/internal/sidecar"
)

// fetchedNames are the files that may say when an image was saved: beside the image, or
// beside what a link leads to.
func (im *image) fetchedNames() []string {
	names := []string{im.name + sidecar.FetchedSuffix}
	if target, err := filepath.EvalSymlinks(im.name); err == nil && target != im.name {
		names = append(names, target+sidecar.FetchedSuffix)
	}
	return names
}

// fetched reads the first of them that there is; nil if there is none.
func (im *image) fetched() (f *sidecar.Fetched, name string, err error) {
	for _, name := range im.fetchedNames() {
		f, err := readFetched(name)
		switch {
		case err == nil:
			return f, name, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, "", cli.WithHint(err, "it says when the image was saved; fetch the image again, or remove the file")
		}
	}
	return nil, "", nil
}

// date gives the source of a report the time that the file beside the image has, if there is one. A
// file that is of no use is a warning: nothing is decided by a report.
func (im *image) date(env *cli.Env, s *analyze.Source) {
	f, name, err := im.fetched()
	from := &origin{fetched: f, name: name}
	if err == nil && f != nil {
		err = errors.Join(from.sameTxID(s.Txid), from.sameMD5(im))
	}
	switch {
	case err != nil:
		env.Warn("%v; the image time is a guess", err)
	case f != nil:
		s.ImageTimeMs, s.ImageTimeSource = f.ImageTimeMs, from.says()
	}
}

// says is the source of the time in the file beside the image.
func (from *origin) says() string {
	return fmt.Sprintf("%s: %s", shown(filepath.Base(from.name)), from.fetched.Source)
}

// sameMD5 holds the file beside the image against the image's .md5.
func (from *origin) sameMD5(im *image) error {
	f := from.fetched
	if f == nil || f.MD5 == "" || im.want == nil || f.MD5 == im.want.String() {
		return nil
	}
	return cli.WithHint(fmt.Errorf("%s is of an image with the MD5 %s, and %s says %s", from.name, f.MD5, im.md5File, im.want),
		"fetch the image again, with both files")
}
