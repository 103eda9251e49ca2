package journal

import (
	"crypto/sha256"
	"encoding/hex"

	"fsweep/proto/internal/canonical"
)

// Hash is the SHA-256 of a line with its newline; zeros before the first line.
type Hash [sha256.Size]byte

// String gives 64 lower-case hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText is [Hash.String].
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what [Hash.String] writes, and nothing else.
func (h *Hash) UnmarshalText(text []byte) error {
	if !canonical.ParseHex(h[:], text) {
		return invalidf("%q is not 64 lower-case hexadecimal digits", text)
	}
	return nil
}

// ClientID is what a client calls itself towards NameNodes.
type ClientID [16]byte

// String gives 32 lower-case hexadecimal digits.
func (c ClientID) String() string { return hex.EncodeToString(c[:]) }

// MarshalText is [ClientID.String].
func (c ClientID) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what [ClientID.String] writes, and nothing else.
func (c *ClientID) UnmarshalText(text []byte) error {
	if !canonical.ParseHex(c[:], text) {
		return invalidf("%q is not 32 lower-case hexadecimal digits", text)
	}
	return nil
}
