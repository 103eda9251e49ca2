package sidecar

import (
	"encoding/hex"
	"encoding/json"
	"strings"
)

// FetchedSuffix is what the name of the file has behind that of its image.
const FetchedSuffix = ".fetched.json"

// MaxFetchedBytes is more than any such file has.
const MaxFetchedBytes = 64 << 10

// fetchedFormat is the only version there is.
const fetchedFormat = 1

// Fetched is what was known of an image when it was fetched, and what the image
// itself does not say.
type Fetched struct {
	Format      int64  `json:"format"`
	ImageTimeMs int64  `json:"image_time_ms"` // when the NameNode saved it, since 1970 UTC
	Source      string `json:"source"`        // how that is known: a word or a sentence
	TxID        int64  `json:"txid"`          // of the image, so that none has the file of another
	MD5         string `json:"md5,omitempty"` // of the image: 32 lower-case hexadecimal digits
	ClusterID   string `json:"cluster_id,omitempty"`
	Nameservice string `json:"nameservice,omitempty"` // that it was fetched from
}

// ParseFetched reads a file. Errors wrap [ErrInvalid].
func ParseFetched(data []byte) (*Fetched, error) {
	var f Fetched
	if len(data) > MaxFetchedBytes {
		return nil, invalidf("more than %d bytes", MaxFetchedBytes)
	}
	if err := decode(data, &f); err != nil {
		return nil, err
	}
	if err := checkKeys(data, "format", "image_time_ms", "source", "txid", "md5", "cluster_id", "nameservice"); err != nil {
		return nil, err
	}
	return &f, f.check()
}

func (f *Fetched) check() error {
	sum, err := hex.DecodeString(f.MD5)
	switch {
	case f.Format != fetchedFormat:
		return invalidf("format %d; this program reads format %d", f.Format, fetchedFormat)
	case f.ImageTimeMs <= 0 || f.ImageTimeMs > maxTimeMs:
		return invalidf("image_time_ms %d is no time", f.ImageTimeMs)
	case strings.TrimSpace(f.Source) == "":
		return invalidf("no source: nothing says where the time comes from")
	case f.TxID <= 0:
		return invalidf("txid %d: nothing says of which image this is", f.TxID)
	case f.MD5 != "" && (err != nil || len(sum) != 16 || strings.ToLower(f.MD5) != f.MD5):
		return invalidf("md5 %q is not 32 lower-case hexadecimal digits", f.MD5)
	}
	return nil
}

// maxTimeMs is the end of the year 9999.
const maxTimeMs = 253_402_300_799_999

// Encode gives the bytes of the file. It is an error if [ParseFetched] would refuse
// them.
func (f *Fetched) Encode() ([]byte, error) {
	c := *f
	c.Format = fetchedFormat
	if err := c.check(); err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(&c, "", "  ")
	return append(data, '\n'), err
}
