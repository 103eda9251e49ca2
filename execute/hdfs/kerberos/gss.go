package kerberos

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/crypto/etype"
	"github.com/jcmturner/gokrb5/v8/iana/chksumtype"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// Object identifiers with their tag and length (DER): Kerberos 5, SPNEGO.
var (
	oidKerberos = []byte{0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02}
	oidSPNEGO   = []byte{0x06, 0x06, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x02}
)

// Kinds of tokens of RFC 4121, section 4.1.
const (
	tokenRequest = 0x0100
	tokenReply   = 0x0200
	tokenError   = 0x0300
)

// Flags of RFC 4121, section 4.1.1.1. Nothing is delegated: the server cannot act as the user.
const (
	flagMutual   = 2
	flagReplay   = 4
	flagSequence = 8
	flagConf     = 16
	flagInteg    = 32
)

// Context is a conversation with one server. Wrap and Unwrap go with one goroutine at a time each.
type Context struct {
	session types.EncryptionKey // of the ticket
	key     types.EncryptionKey // of messages
	kind    etype.EType
	sent    time.Time // to the second; with cusec it is what the server must know
	cusec   int

	acceptorKey bool // the server chose the key
	established bool
	next        uint64 // number of the next message that is sent
	expect      uint64 // and of the one that comes
}

// Initiate begins a conversation with a server, of which the token is to be sent. The server proves in
// turn that it is the one, see [Context.Establish].
func (l *Login) Initiate(ctx context.Context, server Principal) (*Context, []byte, error) {
	return l.initiate(ctx, server, flagMutual|flagReplay|flagSequence|flagConf|flagInteg)
}

func (l *Login) initiate(ctx context.Context, server Principal, wish uint32) (*Context, []byte, error) {
	t, err := l.ticket(ctx, server)
	if err != nil {
		return nil, nil, err
	}
	var c *Context
	var token []byte
	err = protect(func() error {
		var err error
		c, token, err = request(l.who, t, wish, l.now())
		return err
	})
	if err != nil {
		return nil, nil, errorf(ErrRefused, "the ticket of %s cannot be used", server)
	}
	return c, token, nil
}

// request makes the first token.
func request(who Principal, t *ticket, wish uint32, now time.Time) (*Context, []byte, error) {
	kind, err := crypto.GetEtype(t.key.KeyType)
	if err != nil {
		return nil, nil, err
	}
	auth, err := types.NewAuthenticator(who.Realm, who.user())
	if err != nil {
		return nil, nil, err
	}
	now = now.UTC()
	auth.CTime, auth.Cusec = now, now.Nanosecond()/1000
	if err := auth.GenerateSeqNumberAndSubKey(kind.GetETypeID(), keySize(kind.GetETypeID())); err != nil {
		return nil, nil, err
	}
	sum := make([]byte, 24) // its length 16, 16 bytes for "no channel", flags
	binary.LittleEndian.PutUint32(sum, 16)
	binary.LittleEndian.PutUint32(sum[20:], wish)
	auth.Cksum = types.Checksum{CksumType: chksumtype.GSSAPI, Checksum: sum}
	ap, err := messages.NewAPReq(t.Ticket, t.key, auth)
	if err != nil {
		return nil, nil, err
	}
	if wish&flagMutual != 0 {
		types.SetFlag(&ap.APOptions, flags.APOptionMutualRequired)
	}
	b, err := ap.Marshal()
	if err != nil {
		return nil, nil, err
	}
	c := &Context{
		session: t.key, key: auth.SubKey, kind: kind,
		sent: now.Truncate(time.Second), cusec: auth.Cusec, next: uint64(auth.SeqNumber),
	}
	return c, framed(oidKerberos, append([]byte{tokenRequest >> 8, tokenRequest & 0xff}, b...)), nil
}

// Establish takes the server's answer. It is right only if the server could read the ticket, and so is
// the one that the KDC made it for.
func (c *Context) Establish(token []byte) error {
	if c.established {
		return errorf(ErrServer, "it answers twice")
	}
	body, ok := unframed(oidKerberos, token)
	if !ok || len(body) < 2 {
		return errorf(ErrServer, "its answer is no token of Kerberos")
	}
	switch binary.BigEndian.Uint16(body) {
	case tokenReply:
	case tokenError:
		if e := refusal(body[2:]); e != nil {
			return ofServer(e)
		}
		return errorf(ErrServer, "its answer is an error that cannot be read")
	default:
		return errorf(ErrServer, "its answer is a token of another kind")
	}
	var part messages.EncAPRepPart
	err := protect(func() error {
		var rep messages.APRep
		if err := rep.Unmarshal(body[2:]); err != nil {
			return err
		}
		b, err := crypto.DecryptEncPart(rep.EncPart, c.session, keyusage.AP_REP_ENCPART)
		if err != nil {
			return err
		}
		return part.Unmarshal(b)
	})
	if err != nil {
		return errorf(ErrServer, "it has not the key of the service that it says it is")
	}
	if !part.CTime.Equal(c.sent) || part.Cusec != c.cusec {
		return errorf(ErrServer, "its answer is one to somebody else")
	}
	if len(part.Subkey.KeyValue) > 0 {
		kind, err := crypto.GetEtype(part.Subkey.KeyType)
		if err != nil || !strong(part.Subkey.KeyType) || len(part.Subkey.KeyValue) != keySize(part.Subkey.KeyType) {
			return errorf(ErrServer, "it chose a key of a kind that is not supported")
		}
		c.key, c.kind, c.acceptorKey = part.Subkey, kind, true
	}
	c.expect = uint64(uint32(part.SequenceNumber))
	c.established = true
	return nil
}

// ofServer says what a server answered to the first token.
func ofServer(e *messages.KRBError) error {
	err := ofService(e, "of the server", e.Realm)
	return errorf(ErrServer, "%w", err)
}

// Negotiate gives the value of the header Authorization for a request to the web server of a host:
// "Negotiate …", with a token for HTTP/host (RFC 4559). It is good for one request. It is as secret as
// a password: whoever reads it can, for some minutes, be the user there.
func (l *Login) Negotiate(ctx context.Context, host string) (string, error) {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	server := Principal{Parts: []string{"HTTP", host}, Realm: l.kdc.realmOf(host)}
	if server.Realm == "" {
		server.Realm = l.who.Realm
	}
	_, token, err := l.initiate(ctx, server, flagInteg|flagConf)
	if err != nil {
		return "", err
	}
	mechanisms := element(0xa0, element(0x30, oidKerberos))
	mechToken := element(0xa2, element(0x04, token))
	init := element(0xa0, element(0x30, append(mechanisms, mechToken...)))
	return "Negotiate " + base64.StdEncoding.EncodeToString(framed(oidSPNEGO, init)), nil
}

// framed puts a token behind its mechanism (RFC 2743, section 3.1).
func framed(oid, token []byte) []byte {
	return element(0x60, append(append([]byte(nil), oid...), token...))
}

// unframed is the reverse.
func unframed(oid, b []byte) ([]byte, bool) {
	if len(b) < 2 || b[0] != 0x60 {
		return nil, false
	}
	n, rest := int(b[1]), b[2:]
	if n >= 0x80 {
		size := n - 0x80
		if size == 0 || size > 4 || len(rest) < size {
			return nil, false
		}
		n = 0
		for _, v := range rest[:size] {
			n = n<<8 | int(v)
		}
		rest = rest[size:]
	}
	if n != len(rest) || len(rest) < len(oid) || string(rest[:len(oid)]) != string(oid) {
		return nil, false
	}
	return rest[len(oid):], true
}

// element is one of DER: tag, length, content.
func element(tag byte, content []byte) []byte {
	n := len(content)
	out := []byte{tag}
	switch {
	case n < 0x80:
		out = append(out, byte(n))
	case n <= 0xff:
		out = append(out, 0x81, byte(n))
	case n <= 0xffff:
		out = append(out, 0x82, byte(n>>8), byte(n))
	default:
		out = append(out, 0x83, byte(n>>16), byte(n>>8), byte(n))
	}
	return append(out, content...)
}
