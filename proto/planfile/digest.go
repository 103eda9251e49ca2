package planfile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
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
	if !ok || !parseHex(d[:], digits) {
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
	if !parseHex(h[:], string(text)) {
		return invalidf("%q is not a fingerprint", text)
	}
	return nil
}

// parseHex fills dst from exactly as many lower-case digits.
func parseHex[T string | []byte](dst []byte, s T) bool {
	if len(s) != 2*len(dst) {
		return false
	}
	bad := byte(0)
	for i := range dst {
		hi, lo := unhex[s[2*i]], unhex[s[2*i+1]]
		dst[i] = hi<<4 | lo&15
		bad |= hi | lo
	}
	return bad < 16
}

const hexDigits = "0123456789abcdef"

// unhex has the value of each digit, 255 for any other byte.
var unhex = func() (table [256]byte) {
	for i := range table {
		table[i] = 255
	}
	for i, c := range []byte(hexDigits) {
		table[c] = byte(i)
	}
	return table
}()
