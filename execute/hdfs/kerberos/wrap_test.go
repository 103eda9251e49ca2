package kerberos

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/types"
)

// kinds are those whose messages are understood.
var kinds = []int32{
	etypeID.AES128_CTS_HMAC_SHA1_96, etypeID.AES256_CTS_HMAC_SHA1_96,
	etypeID.AES128_CTS_HMAC_SHA256_128, etypeID.AES256_CTS_HMAC_SHA384_192,
}

// pair gives a context, and what the server has to know of it.
func pair(t testing.TB, kind int32, acceptorKey bool) (*Context, *acceptor) {
	t.Helper()
	et, err := crypto.GetEtype(kind)
	if err != nil {
		t.Fatal(err)
	}
	key := types.EncryptionKey{KeyType: kind, KeyValue: bytes.Repeat([]byte{7}, map[int32]int{17: 16, 18: 32, 19: 16, 20: 32}[kind])}
	c := &Context{key: key, kind: et, acceptorKey: acceptorKey, established: true, next: 11, expect: 22}
	return c, &acceptor{c: c, next: 22}
}

// acceptor is the other side, written by RFC 4121 alone: its tokens are made of pieces, rotated to
// the right by rrc as the RFC says it.
type acceptor struct {
	c    *Context
	next uint64
}

func (a *acceptor) wrap(t testing.TB, payload []byte, seal bool, filling, rrc int) []byte {
	t.Helper()
	flags := byte(1)
	if seal {
		flags |= 2
	}
	if a.c.acceptorKey {
		flags |= 4
	}
	head := func(ec, rrc int) []byte {
		h := []byte{0x05, 0x04, flags, 0xff, byte(ec >> 8), byte(ec), byte(rrc >> 8), byte(rrc)}
		for i := range 8 {
			h = append(h, byte(a.next>>(56-8*i)))
		}
		return h
	}
	var body []byte
	var err error
	ec := filling
	if seal {
		plain := append(append(bytes.Clone(payload), bytes.Repeat([]byte{'x'}, filling)...), head(filling, 0)...)
		_, body, err = a.c.kind.EncryptMessage(a.c.key.KeyValue, plain, 22)
	} else {
		var sum []byte
		sum, err = a.c.kind.GetChecksumHash(a.c.key.KeyValue, append(bytes.Clone(payload), head(0, 0)...), 22)
		body = append(bytes.Clone(payload), sum...)
		ec = len(sum)
	}
	if err != nil {
		t.Fatal(err)
	}
	for range rrc { // one byte to the right, so many times
		body = append([]byte{body[len(body)-1]}, body[:len(body)-1]...)
	}
	token := append(head(ec, rrc), body...)
	a.next++
	return token
}

// unwrap is what a server reads.
func (a *acceptor) unwrap(t testing.TB, token []byte, number uint64) []byte {
	t.Helper()
	var flags byte
	if a.c.acceptorKey {
		flags = 4
	}
	want := []byte{5, 4, token[2], 0xff, token[4], token[5], 0, 0, 0, 0, 0, 0, 0, 0, 0, byte(number)}
	if !bytes.Equal(token[:16], want) || token[2]&^2 != flags {
		t.Fatalf("header %x, want %x", token[:16], want)
	}
	if token[2]&2 != 0 {
		text, err := a.c.kind.DecryptMessage(a.c.key.KeyValue, token[16:], 24)
		if err != nil || !bytes.Equal(text[len(text)-16:], token[:16]) {
			t.Fatalf("%x, %v", text, err)
		}
		return text[:len(text)-16]
	}
	n := int(token[4])<<8 | int(token[5])
	payload, sum := token[16:len(token)-n], token[len(token)-n:]
	if !a.c.kind.VerifyChecksum(a.c.key.KeyValue, append(bytes.Clone(payload), []byte{5, 4, token[2], 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, byte(number)}...), sum, 24) {
		t.Fatal("checksum")
	}
	return payload
}

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		for _, seal := range []bool{false, true} {
			for _, own := range []bool{false, true} {
				c, a := pair(t, kind, own)
				for i, size := range []int{0, 1, 15, 16, 17, 4096, 1 << 20} {
					payload := bytes.Repeat([]byte{byte(size)}, size)
					token, err := c.Wrap(payload, seal)
					if err != nil {
						t.Fatal(err)
					}
					if len(token) > size+Overhead {
						t.Errorf("kind %d: %d bytes more", kind, len(token)-size)
					}
					if got := a.unwrap(t, token, uint64(11+i)); !bytes.Equal(got, payload) {
						t.Errorf("kind %d, %d bytes: not the same", kind, size)
					}
					for _, rrc := range []int{0, 1, 12, 28, 60} {
						token := a.wrap(t, payload, seal, 0, rrc)
						kept := bytes.Clone(token)
						got, sealed, err := c.Unwrap(token)
						if err != nil || sealed != seal || !bytes.Equal(got, payload) || !bytes.Equal(token, kept) {
							t.Fatalf("kind %d, %d bytes, rotated by %d: %v", kind, size, rrc, err)
						}
					}
				}
				if seal { // filling is for ciphers of blocks; a server may have some
					if got, _, err := c.Unwrap(a.wrap(t, []byte("hallo"), true, 11, 28)); err != nil || string(got) != "hallo" {
						t.Errorf("with filling: %q, %v", got, err)
					}
				}
			}
		}
	}
}

// A token of which any bit is another one, that is cut, that comes twice or too late, is refused.
func TestUnwrapRefuses(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		for _, seal := range []bool{false, true} {
			for _, rrc := range []int{0, 28} {
				c, a := pair(t, kind, true)
				token := a.wrap(t, []byte("a message"), seal, 0, rrc)
				for bit := range 8 * len(token) {
					bad := bytes.Clone(token)
					bad[bit/8] ^= 1 << (bit % 8)
					if bit/8 == 6 || bit/8 == 7 {
						continue // the rotation: any multiple of the length is the same
					}
					if _, _, err := c.Unwrap(bad); !errors.Is(err, ErrServer) {
						t.Fatalf("kind %d, sealed %v: bit %d may be changed: %v", kind, seal, bit, err)
					}
				}
				for n := range token {
					if _, _, err := c.Unwrap(token[:n]); err == nil {
						t.Fatalf("%d bytes are enough", n)
					}
				}
				own, err := c.Wrap([]byte("back"), seal)
				if err != nil {
					t.Fatal(err)
				}
				if _, _, err := c.Unwrap(own); err == nil {
					t.Error("a message of our own comes back")
				}
				if _, _, err := c.Unwrap(token); err != nil {
					t.Fatal(err)
				}
				if _, _, err := c.Unwrap(token); err == nil {
					t.Error("a message comes twice")
				}
				a.next++
				if _, _, err := c.Unwrap(a.wrap(t, nil, seal, 0, rrc)); err == nil {
					t.Error("one was lost")
				}
				c.established = false
				if _, _, err := c.Unwrap(token); err == nil {
					t.Error("before the server has proven who it is")
				}
				if _, err := c.Wrap(nil, seal); err == nil {
					t.Error("to a server that has not proven who it is")
				}
			}
		}
	}
}

// FuzzUnwrap: whatever comes, there is an error or what was sent, and no panic.
func FuzzUnwrap(f *testing.F) {
	_, a := pair(f, kinds[0], false)
	f.Add(a.wrap(f, []byte("x"), true, 0, 0))
	a.next--
	f.Add(a.wrap(f, []byte("x"), true, 3, 28))
	a.next--
	f.Add(a.wrap(f, []byte("x"), false, 0, 12))
	for _, s := range []string{"", "0504", "05040300000000000000000000000000", "050403ff0000ffff0000000000000016", "050401ffffff00010000000000000016aa"} {
		b, err := hex.DecodeString(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, token []byte) {
		for _, kind := range kinds {
			c, _ := pair(t, kind, false)
			got, _, err := c.Unwrap(token)
			if err == nil && string(got) != "x" {
				t.Errorf("a token with %x was made without the key", got)
			}
		}
	})
}
