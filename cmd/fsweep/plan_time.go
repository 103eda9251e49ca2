package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"fsweep/analyze"
	"fsweep/analyze/cleanup"
	"fsweep/cmd/internal/cli"
	"fsweep/cmd/internal/sidecar"
	"fsweep/proto/pathtext"
	"fsweep/proto/planfile"
)

const (
	// byFlag is the source of an image time that somebody typed.
	byFlag = "--image-time"
	// byFile is that of one that the file system has.
	byFile = "the image file's own time, which is before the newest time of any inode"
	// skew is how far clocks of two machines are apart that nobody would call wrong.
	skew = 5 * time.Minute
)

// origin is what is known of an image beside its contents.
type origin struct {
	time   time.Time // zero: only the image's own times tell
	source string    // of the time
	// guessed: nobody said when the image was saved.
	guessed bool
	// saved is when the file was written here: the image is not younger.
	saved time.Time
	// fetched is what the file beside the image says; nil: there is none.
	fetched *sidecar.Fetched
	name    string // of that file
}

// readOrigin looks for the file beside the image, or beside what a link leads to.
func (o *cleanupOptions) readOrigin(im *image, in *inputs) (*origin, error) {
	fi, err := os.Stat(im.name)
	if err != nil {
		return nil, err
	}
	from := &origin{saved: fi.ModTime().UTC().Truncate(time.Millisecond)}
	in.files = append(in.files, im.fetchedNames()...)
	if from.fetched, from.name, err = im.fetched(); err != nil {
		return nil, cli.WithHint(err, "--image-time can say it, too")
	}
	if err := from.check(im, in.policy); err != nil {
		return nil, err
	}
	switch {
	case !o.imageTime.IsZero():
		from.time, from.source = o.imageTime.Time, byFlag
	case from.fetched != nil:
		from.time = time.UnixMilli(from.fetched.ImageTimeMs).UTC()
		from.source = from.says()
	}
	in.warnings = append(in.warnings, from.contradictions(im)...)
	return from, nil
}

// contradictions says where the file beside the image differs from what was typed,
// and where it could not be held against the image.
func (from *origin) contradictions(im *image) (out []string) {
	f := from.fetched
	if f == nil {
		return nil
	}
	name, says := shown(filepath.Base(from.name)), time.UnixMilli(f.ImageTimeMs)
	if from.time.Sub(says).Abs() > skew {
		out = append(out, fmt.Sprintf("%s is %s, and %s says %s (%s): which is right?", from.source, stamp(from.time), name, stamp(says), f.Source))
	}
	if f.MD5 != "" && im.want == nil {
		out = append(out, fmt.Sprintf("%s has an MD5, which was not compared with the image: %s", name, im.reason))
	}
	return out
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
	if err := from.sameMD5(im); err != nil {
		return err
	}
	if f := from.fetched; f != nil && f.Nameservice != "" && f.Nameservice != string(p.Nameservice) {
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

// dated gives the times of the image and of the present; typed is --now.
func (c *ruling) dated(typed time.Time) error {
	from := c.from
	if from.time.IsZero() {
		if c.source.ImageTimeMs <= 0 {
			return cli.WithHint(errors.New("nothing in the image has a time, so it is not known when it was saved"), "give --image-time")
		}
		from.guess(time.UnixMilli(c.source.ImageTimeMs).UTC(), c.source.ImageTimeSource)
	}
	if ahead := from.time.Sub(c.in.now); typed.IsZero() && from.source != byFlag && 0 < ahead && ahead <= skew {
		c.in.now = from.time // the NameNode's clock is ahead of ours
	}
	c.in.given.ImageTime, c.in.given.Now = from.time, c.in.now
	return nil
}

// guess takes the newest time in the image, which is a lower bound unless a client
// set a time in the future, as touch and distcp do. So it takes the time of the file
// if that is before: an image that is written down is not younger.
func (from *origin) guess(newest time.Time, source string) {
	from.time, from.source, from.guessed = newest, source, true
	if from.saved.UnixMilli() > 0 && from.saved.Before(newest) {
		from.time, from.source = from.saved, byFile
	}
}

// unsure warns of a guessed image time where somebody could carry the plan out. It
// stands in the plan, so that whoever approves the digest has seen it.
func (c *ruling) unsure() {
	executes := func(r cleanup.Root) bool { return r.Mode == cleanup.Execute }
	if c.from.guessed && slices.ContainsFunc(c.in.policy.Roots, executes) {
		c.warn("nobody said when the image was saved, so its time is a guess; if it was saved earlier, what was in use then can look old: " +
			"give --image-time, or fetch images with the time that they were saved")
	}
}

// checkTimes refuses an image whose time rules a plan out. A time that is not known
// yet rules out nothing.
func (c *ruling) checkTimes(typed time.Time) error {
	if err := c.checkTime(typed); err != nil {
		return err
	}
	if err := c.checkAge(); err != nil {
		return err
	}
	if err := c.expired(); err != nil {
		return cli.WithHint(&cli.RefusedError{Err: err}, "fetch a newer image; plan_ttl in the policy is how long a plan can be executed, counted from the image time")
	}
	return nil
}

// checkTime refuses an image that is from the future. typed is --now, zero if the clock says what the present is.
func (c *ruling) checkTime(typed time.Time) error {
	from, now := c.from, c.in.now
	if !from.time.After(now) {
		return nil
	}
	if typed.IsZero() && from.source != byFlag && from.time.Sub(now) <= skew {
		return nil // dated takes it as the present
	}
	err := fmt.Errorf("the image is from %s (%s), which is after %s", stamp(from.time), from.source, stamp(now))
	if !typed.IsZero() {
		return cli.WithHint(&cli.RefusedError{Err: fmt.Errorf("--now: %w", err)}, "ages count to the time of the image, so the present cannot be before it")
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

// expired tells that nobody could execute a plan that is made now, if it is so.
func (c *ruling) expired() error {
	from, ttl := c.from, c.in.policy.PlanTTL
	if from.time.IsZero() || from.time.Add(time.Duration(ttl)).After(c.in.now) {
		return nil
	}
	return fmt.Errorf("the image is from %s (%s), so a plan that is made at %s has expired: plan_ttl is %s",
		stamp(from.time), from.source, stamp(c.in.now), ttl)
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
	newest, allowed := time.UnixMilli(newestMs).UTC(), time.Duration(0)
	if from.guessed {
		allowed = skew // the file's time is of another clock
	}
	switch {
	case newest.Sub(from.time) > allowed:
		return fmt.Sprintf("the image has a time of %s, after the image time %s (%s): that is wrong, or a client set a time in the future", stamp(newest), stamp(from.time), from.source)
	case from.time.Sub(newest) > quiet:
		return fmt.Sprintf("the newest time in the image is %s, long before the image time %s (%s): is that right?", stamp(newest), stamp(from.time), from.source)
	}
	return ""
}

// shown is a file name as outputs show it, which are UTF-8.
func shown(name string) string { return string(pathtext.Append(nil, name)) }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// sourceOf describes the image in a plan; call it after verified.
func sourceOf(src *analyze.Source, from *origin) planfile.Source {
	s := planfile.Source{
		Image: shown(filepath.Base(src.Image)), MD5: src.MD5, SizeBytes: src.SizeBytes, Verified: src.Verified, TxID: int64(src.Txid),
		NamespaceID: int64(src.NamespaceID), LayoutVersion: int64(src.LayoutVersion),
		ImageTimeMs: from.time.UnixMilli(), ImageTimeSource: from.source,
	}
	if from.fetched != nil {
		s.ClusterID = from.fetched.ClusterID
	}
	return s
}
