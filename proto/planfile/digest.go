package planfile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"fsweep/proto/internal/canonical"
)

const digestPrefix = "sha256:"

// Digest is the SHA-256 of all bytes of a file: of a plan, the thing a person
// approves.
type Digest [sha256.Size]byte

// String gives "sha256:" and 64 lower-case hexadecimal digits.
func (d Digest) String() string { return digestPrefix + hex.EncodeToString(d[:]) }

// MarshalText is [Digest.String].
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText is [ParseDigest].
func (d *Digest) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDigest(string(text))
	return err
}

// ParseDigest reads what [Digest.String] writes, and nothing else: not without the
// prefix, not in upper case, not shortened. The error wraps [ErrDigest].
func ParseDigest(s string) (Digest, error) {
	var d Digest
	digits, ok := strings.CutPrefix(s, digestPrefix)
	if !ok || !canonical.ParseHex(d[:], digits) {
		return Digest{}, fmt.Errorf("%w: %q is not %s and %d lower-case hexadecimal digits", ErrDigest, s, digestPrefix, 2*len(d))
	}
	return d, nil
}

// TreeHash is the fingerprint of a subtree, see [Sum].
type TreeHash [sha256.Size]byte

// String gives 64 lower-case hexadecimal digits.
func (h TreeHash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText is [TreeHash.String].
func (h TreeHash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what [TreeHash.String] writes, and nothing else.
func (h *TreeHash) UnmarshalText(text []byte) error {
	if !canonical.ParseHex(h[:], string(text)) {
		return invalidf("%q is not a fingerprint", text)
	}
	return nil
}
