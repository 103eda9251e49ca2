package rig

import (
	"encoding/binary"
	"os"
	"testing"
)

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
