package kerberos

import (
	"bytes"
	"encoding/asn1"
	"errors"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/asnAppTag"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

var day = time.Date(2026, 3, 4, 5, 6, 7, 123456789, time.UTC)

// opened gives a context that waits for the server's answer, and the authenticator that the server
// reads in the token.
func opened(t testing.TB) (*Context, types.Authenticator) {
	t.Helper()
	et, err := crypto.GetEtype(kinds[1])
	if err != nil {
		t.Fatal(err)
	}
	session := types.EncryptionKey{KeyType: kinds[1], KeyValue: bytes.Repeat([]byte{9}, et.GetKeyByteSize())}
	tk := &ticket{key: session, start: day, end: day.Add(time.Hour)}
	tk.Ticket = messages.Ticket{TktVNO: 5, Realm: "LAB.TEST", SName: Principal{Parts: []string{"hdfs", "localhost"}}.service(), EncPart: types.EncryptedData{EType: kinds[1], KVNO: 1, Cipher: []byte("opaque")}}
	c, token, err := request(Principal{Parts: []string{"alice"}, Realm: "LAB.TEST"}, tk, flagMutual|flagInteg, day)
	if err != nil {
		t.Fatal(err)
	}
	body, ok := unframed(oidKerberos, token)
	if !ok || body[0] != 1 || body[1] != 0 {
		t.Fatalf("token %x", token)
	}
	var ap messages.APReq
	if err := ap.Unmarshal(body[2:]); err != nil {
		t.Fatal(err)
	}
	if err := ap.DecryptAuthenticator(session); err != nil {
		t.Fatal(err)
	}
	a := ap.Authenticator
	if a.CRealm != "LAB.TEST" || a.CName.PrincipalNameString() != "alice" || !a.CTime.Equal(day.Truncate(time.Second)) || a.Cusec != 123456 {
		t.Errorf("authenticator of %s@%s at %v, %d", a.CName.PrincipalNameString(), a.CRealm, a.CTime, a.Cusec)
	}
	if want := append(append([]byte{16, 0, 0, 0}, make([]byte, 16)...), 2|32, 0, 0, 0); a.Cksum.CksumType != 0x8003 || !bytes.Equal(a.Cksum.Checksum, want) {
		t.Errorf("checksum %x %x, want %x", a.Cksum.CksumType, a.Cksum.Checksum, want)
	}
	if ap.APOptions.Bytes[0] != 0x20 { // mutual-required
		t.Errorf("options %x", ap.APOptions.Bytes)
	}
	return c, a
}

// reply is the token of a server that could read the ticket.
func reply(t testing.TB, c *Context, part messages.EncAPRepPart, session types.EncryptionKey) []byte {
	t.Helper()
	b, err := asn1.Marshal(part)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := crypto.GetEncryptedData(asn1tools.AddASNAppTag(b, asnAppTag.EncAPRepPart), session, 12, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err = asn1.Marshal(messages.APRep{PVNO: 5, MsgType: 15, EncPart: sealed})
	if err != nil {
		t.Fatal(err)
	}
	return framed(oidKerberos, append([]byte{2, 0}, asn1tools.AddASNAppTag(b, asnAppTag.APREP)...))
}

func TestEstablish(t *testing.T) {
	t.Parallel()
	c, a := opened(t)
	right := messages.EncAPRepPart{CTime: a.CTime, Cusec: a.Cusec, SequenceNumber: 77}
	if err := c.Establish(reply(t, c, right, c.session)); err != nil || c.expect != 77 || c.acceptorKey || !bytes.Equal(c.key.KeyValue, a.SubKey.KeyValue) {
		t.Errorf("%v: next %d", err, c.expect)
	}
	if c.Establish(reply(t, c, right, c.session)) == nil {
		t.Error("twice")
	}
	other, _ := opened(t)
	chosen := types.EncryptionKey{KeyType: kinds[0], KeyValue: bytes.Repeat([]byte{3}, 16)}
	withKey := right
	withKey.Subkey = chosen
	if err := other.Establish(reply(t, other, withKey, other.session)); err != nil || !other.acceptorKey || other.kind.GetETypeID() != kinds[0] || !bytes.Equal(other.key.KeyValue, chosen.KeyValue) {
		t.Errorf("key of the server: %v", err)
	}
	for name, token := range map[string]func(c *Context) []byte{
		"another key": func(c *Context) []byte {
			return reply(t, c, right, types.EncryptionKey{KeyType: kinds[1], KeyValue: make([]byte, 32)})
		},
		"another time": func(c *Context) []byte {
			p := right
			p.CTime = p.CTime.Add(time.Second)
			return reply(t, c, p, c.session)
		},
		"another microsecond": func(c *Context) []byte { p := right; p.Cusec++; return reply(t, c, p, c.session) },
		"a short key": func(c *Context) []byte {
			p := right
			p.Subkey = types.EncryptionKey{KeyType: kinds[1], KeyValue: []byte{1}}
			return reply(t, c, p, c.session)
		},
		"a key of RC4": func(c *Context) []byte {
			p := right
			p.Subkey = types.EncryptionKey{KeyType: 23, KeyValue: make([]byte, 16)}
			return reply(t, c, p, c.session)
		},
		"nothing":        func(*Context) []byte { return nil },
		"no reply":       func(*Context) []byte { return framed(oidKerberos, []byte{1, 0}) },
		"another OID":    func(c *Context) []byte { return framed(oidSPNEGO, []byte{2, 0, 1}) },
		"a short cipher": func(c *Context) []byte { return reply(t, c, right, c.session)[:60] },
	} {
		c, _ := opened(t)
		if err := c.Establish(token(c)); !errors.Is(err, ErrServer) || c.established {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, _ = opened(t)
	e := messages.NewKRBError(types.PrincipalName{}, "LAB.TEST", 37, "")
	b, err := e.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Establish(framed(oidKerberos, append([]byte{3, 0}, b...))); !errors.Is(err, ErrSkew) {
		t.Errorf("an error of the server: %v", err)
	}
}

// FuzzEstablish: no server without the key establishes anything, and none makes it panic.
func FuzzEstablish(f *testing.F) {
	c, a := opened(f)
	good := reply(f, c, messages.EncAPRepPart{CTime: a.CTime, Cusec: a.Cusec}, types.EncryptionKey{KeyType: kinds[1], KeyValue: make([]byte, 32)})
	f.Add(good)
	f.Add(framed(oidKerberos, []byte{3, 0, 0x7e, 0}))
	f.Add([]byte{0x60, 0x84, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, token []byte) {
		c, _ := opened(t)
		if c.Establish(token) == nil {
			t.Error("established without the key")
		}
		_ = refusal(token) // must not panic either
	})
}
