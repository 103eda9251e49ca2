package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"fsweep/analyze"
	"fsweep/analyze/cleanup"
	"fsweep/cmd/internal/cli"
	"fsweep/cmd/internal/sidecar"
	"fsweep/proto/planfile"
)

// byFlag is the source of an image time that somebody typed.
const byFlag = "--image-time"

// origin is what is known of an image beside its contents.
type origin struct {
	time   time.Time // zero: only the image's own times tell
	source string    // of the time
	// fetched is what the file beside the image says; nil: there is none.
	fetched *sidecar.Fetched
	name    string // of that file
}

// readOrigin looks for the file beside the image, or beside what a link leads to.
func (o *cleanupOptions) readOrigin(im *image, in *inputs) (*origin, error) {
	from := &origin{}
	names := []string{im.name + sidecar.FetchedSuffix}
	if target, err := filepath.EvalSymlinks(im.name); err == nil && target != im.name {
		names = append(names, target+sidecar.FetchedSuffix)
	}
	for _, name := range names {
		fetched, err := readFetched(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, cli.WithHint(err, "it says when the image was saved; fetch the image again, or remove the file and give --image-time")
		}
		from.fetched, from.name = fetched, name
		break
	}
	in.files = append(in.files, names...)
	if err := from.check(im, in.policy); err != nil {
		return nil, err
	}
	switch {
	case !o.imageTime.IsZero():
		from.time, from.source = o.imageTime.Time, byFlag
	case from.fetched != nil:
		from.time = time.UnixMilli(from.fetched.ImageTimeMs).UTC()
		from.source = fmt.Sprintf("%s: %s", filepath.Base(from.name), from.fetched.Source)
	}
	return from, nil
}

func readFetched(name string) (*sidecar.Fetched, error) {
	f, err := openInput(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, sidecar.MaxFetchedBytes+1))
	if err != nil {
		return nil, err
	}
	fetched, err := sidecar.ParseFetched(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return fetched, nil
}

// check holds the file against the policy and the image's own .md5.
func (from *origin) check(im *image, p *cleanup.Policy) error {
	f := from.fetched
	switch {
	case f == nil:
	case f.MD5 != "" && im.want != nil && f.MD5 != im.want.String():
		return cli.WithHint(fmt.Errorf("%s is of an image with the MD5 %s, and %s says %s", from.name, f.MD5, im.md5File, im.want),
			"fetch the image again, with both files")
	case f.Nameservice != "" && f.Nameservice != string(p.Nameservice):
		return &cli.RefusedError{Err: fmt.Errorf("the image was fetched from nameservice %q (%s), and the policy is for %q", f.Nameservice, from.name, string(p.Nameservice))}
	}
	return nil
}

// sameTxID tells whether the file beside the image is of that image.
func (from *origin) sameTxID(txid uint64) error {
	if f := from.fetched; f != nil && uint64(f.TxID) != txid {
		return cli.WithHint(fmt.Errorf("%s is of an image that ends with transaction %d, and this one ends with %d", from.name, f.TxID, txid),
			"the image was replaced or renamed; fetch it again, or remove the file and give --image-time")
	}
	return nil
}

// dated gives the times of the image and of the present. Without another source the
// newest time in the image is taken, which is never later than the truth.
func (c *ruling) dated() error {
	from := c.from
	if from.time.IsZero() {
		if c.source.ImageTimeMs <= 0 {
			return cli.WithHint(errors.New("nothing in the image has a time, so it is not known when it was saved"), "give --image-time")
		}
		from.time, from.source = time.UnixMilli(c.source.ImageTimeMs).UTC(), c.source.ImageTimeSource
	}
	c.in.given.ImageTime, c.in.given.Now = from.time, c.in.now
	return nil
}

// checkTimes refuses an image whose time rules a plan out. A time that is not known
// yet rules out nothing.
func (c *ruling) checkTimes(typed time.Time) error {
	if err := c.checkTime(typed); err != nil {
		return err
	}
	return c.checkAge()
}

// checkTime refuses an image that is from the future. typed is --now, zero if the clock says what the present is.
func (c *ruling) checkTime(typed time.Time) error {
	from, now := c.from, c.in.now
	if !from.time.After(now) {
		return nil
	}
	err := fmt.Errorf("the image is from %s (%s), which is after %s", stamp(from.time), from.source, stamp(now))
	if !typed.IsZero() {
		return cli.WithHint(fmt.Errorf("--now: %w", err), "ages count to the time of the image, so the present cannot be before it")
	}
	return cli.WithHint(&cli.RefusedError{Err: err}, "is a clock wrong, or did a client set a time in the future? Give --image-time if you know when the image was saved")
}

// tooOld tells that the image is older than the policy allows, if it is.
func (c *ruling) tooOld() error {
	from := c.from
	if from.time.IsZero() {
		return nil
	}
	age := c.in.now.Sub(from.time)
	if age <= time.Duration(c.in.policy.ImageMaxAge) {
		return nil
	}
	return fmt.Errorf("the image is from %s (%s), %s before %s; image_max_age is %s",
		stamp(from.time), from.source, cleanup.Duration((age + time.Second - 1).Truncate(time.Second)), stamp(c.in.now), c.in.policy.ImageMaxAge)
}

// checkAge refuses an image that is too old.
func (c *ruling) checkAge() error {
	err := c.tooOld()
	switch {
	case err == nil:
		return nil
	case c.from.fetched == nil && c.from.source != byFlag:
		return cli.WithHint(&cli.RefusedError{Err: err}, "fetch a newer image; if this one was saved later than that, give --image-time")
	}
	return cli.WithHint(&cli.RefusedError{Err: err}, "fetch a newer image")
}

// doubts says where the image's own times make the given one look wrong.
func (from *origin) doubts(newestMs int64) string {
	const quiet = 24 * time.Hour
	newest := time.UnixMilli(newestMs).UTC()
	switch {
	case newestMs > from.time.UnixMilli():
		return fmt.Sprintf("the image has a time of %s, after the image time %s (%s): that is wrong, or a client set a time in the future", stamp(newest), stamp(from.time), from.source)
	case from.time.Sub(newest) > quiet:
		return fmt.Sprintf("the newest time in the image is %s, long before the image time %s (%s): is that right?", stamp(newest), stamp(from.time), from.source)
	}
	return ""
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// sourceOf describes the image in a plan; call it after verified.
func sourceOf(src *analyze.Source, from *origin) planfile.Source {
	s := planfile.Source{
		Image: filepath.Base(src.Image), MD5: src.MD5, SizeBytes: src.SizeBytes, Verified: src.Verified, TxID: int64(src.Txid),
		NamespaceID: int64(src.NamespaceID), LayoutVersion: int64(src.LayoutVersion),
		ImageTimeMs: from.time.UnixMilli(), ImageTimeSource: from.source,
	}
	if from.fetched != nil {
		s.ClusterID = from.fetched.ClusterID
	}
	return s
}
