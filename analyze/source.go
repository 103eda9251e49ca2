package analyze

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"fsweep/analyze/namespace"
	"fsweep/fsimage"
)

// Source says what the numbers come from.
type Source struct {
	Image          string // file name as given
	SizeBytes      int64
	Txid           uint64 // last transaction in the image
	LayoutVersion  int32
	NamespaceID    uint32
	Codec          string // Java class name; empty: not compressed
	MD5            string // of the image's bytes, empty unless it was computed
	Verified       bool   // MD5 equals the one in the .md5 file
	VerifiedReason string // why, or why not
	// ImageTimeMs is the newest time of any inode: an image does not say when it
	// was saved, but it was not before that.
	ImageTimeMs     int64
	ImageTimeSource string
}

// imageTimeSource says what ImageTimeMs is.
const imageTimeSource = "newest time of any inode: a lower bound, unless a client set a time in the future"

// NewSource describes an image; whether it was verified is for the caller to
// say.
func NewSource(image string, im *fsimage.Image, t *namespace.Tree) Source {
	sum := im.Summary()
	return Source{
		Image:           image,
		SizeBytes:       im.Size(),
		Txid:            t.NameSystem().GetTransactionId(),
		LayoutVersion:   sum.LayoutVersion,
		NamespaceID:     t.NameSystem().GetNamespaceId(),
		Codec:           sum.Codec,
		VerifiedReason:  "not checked",
		ImageTimeMs:     t.NewestMs(),
		ImageTimeSource: imageTimeSource,
	}
}

// NameFinding tells when a file is named fsimage_N and its contents are of
// another transaction: somebody renamed it.
func NameFinding(image string, txid uint64) (namespace.Finding, bool) {
	name, ok := strings.CutPrefix(filepath.Base(image), "fsimage_")
	if !ok {
		return namespace.Finding{}, false
	}
	digits := name
	if i := strings.IndexFunc(name, func(r rune) bool { return r < '0' || '9' < r }); i >= 0 {
		digits = name[:i]
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || n == txid {
		return namespace.Finding{}, false
	}
	return namespace.Finding{
		Code: "file_name_txid", Count: 1,
		Message: fmt.Sprintf("The file is named after transaction %d, but its contents end with transaction %d: it was renamed.", n, txid),
	}, true
}
