package rig

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"os"
	"regexp"
	"testing"
)

// token is how one of Kerberos or SPNEGO begins, in base64: 60 82 and a length.
var token = regexp.MustCompile(`YI[GIJ][A-Za-z0-9+/]{40}`)

// Leaks looks in what is read by people for the keys of all keytabs, as bytes, in hex and in base64, and
// for tokens. It says what it found.
func (c *Cluster) Leaks(t testing.TB, b []byte) []string {
	t.Helper()
	var found []string
	for _, key := range c.Secrets(t) {
		for what, form := range map[string][]byte{
			"a key":           key,
			"a key in hex":    []byte(hex.EncodeToString(key)),
			"a key in base64": []byte(base64.StdEncoding.EncodeToString(key)),
		} {
			if bytes.Contains(bytes.ToLower(b), bytes.ToLower(form)) {
				found = append(found, what)
			}
		}
	}
	if token.Match(b) || bytes.Contains(b, []byte("Negotiate ")) {
		found = append(found, "a token")
	}
	return found
}

// keysOf reads the keys of a keytab: 05 02, then entries behind their length, each of which
// is a principal, four bytes of type, four of time, one of version, two of the kind of key, two
// of length, the key.
func keysOf(t testing.TB, file string) [][]byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil || len(b) < 2 || b[0] != 5 || b[1] != 2 {
		t.Fatalf("rig: %s is no keytab: %v", file, err)
	}
	be := binary.BigEndian
	var keys [][]byte
	for b = b[2:]; len(b) >= 4; {
		n := int32(be.Uint32(b))
		b = b[4:]
		if n < 0 { // a hole
			b = b[-n:]
			continue
		}
		e := b[:n]
		b = b[n:]
		parts := int(be.Uint16(e)) + 1 // the realm, too
		e = e[2:]
		for range parts {
			e = e[2+be.Uint16(e):]
		}
		e = e[4+4+1+2:]
		keys = append(keys, e[2:2+be.Uint16(e)])
	}
	return keys
}
