package kerberos

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/patype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

const (
	// kdcTimeout is what one KDC has before the next one is asked.
	kdcTimeout = 5 * time.Second
	// maxAnswer bounds an answer of a KDC. Those with the many groups of an Active Directory have some
	// ten kilobytes.
	maxAnswer = 1 << 20
	// maxReferrals bounds how many realms a ticket is looked for in.
	maxReferrals = 5
)

// strong tells whether a kind of key is one of AES, the only ones whose messages are understood
// (RFC 4121); those of DES and RC4 have others.
func strong(kind int32) bool {
	switch kind {
	case etypeID.AES128_CTS_HMAC_SHA1_96, etypeID.AES256_CTS_HMAC_SHA1_96,
		etypeID.AES128_CTS_HMAC_SHA256_128, etypeID.AES256_CTS_HMAC_SHA384_192:
		return true
	}
	return false
}

// keySize gives the bytes of a strong kind of key. The library says 24 for the last one, and works with 32
// (RFC 8009).
func keySize(kind int32) int {
	switch kind {
	case etypeID.AES128_CTS_HMAC_SHA1_96, etypeID.AES128_CTS_HMAC_SHA256_128:
		return 16
	}
	return 32
}

// DialFunc opens a connection, as [net.Dialer.DialContext] does.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// kdc asks the KDCs of all realms.
type kdc struct {
	*settings
	dial DialFunc
}

// ask sends a message to the KDCs of a realm, one after the other, until one of them answers. It uses
// TCP only, which every KDC has to offer (RFC 4120, 7.2.2).
func (k *kdc) ask(ctx context.Context, realm string, message []byte) ([]byte, error) {
	list, err := k.kdcs(ctx, realm)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, address := range list {
		answer, err := k.once(ctx, address, message)
		if err == nil {
			return answer, nil
		}
		if failed == nil {
			failed = fmt.Errorf("%s: %w", address, err)
		} else {
			failed = fmt.Errorf("%w; %s: %w", failed, address, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errorf(ErrNoKDC, "realm %s: %w: is it reachable from here on TCP?", realm, failed)
}

func (k *kdc) once(ctx context.Context, address string, message []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, kdcTimeout)
	defer cancel()
	conn, err := k.dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	out := binary.BigEndian.AppendUint32(nil, uint32(len(message)))
	if _, err := conn.Write(append(out, message...)); err != nil {
		return nil, err
	}
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || n > maxAnswer {
		return nil, fmt.Errorf("answer with a length of %d bytes", n)
	}
	var b bytes.Buffer // grows with what comes, not with what is announced
	if got, err := io.Copy(&b, io.LimitReader(conn, int64(n))); err != nil {
		return nil, err
	} else if got < int64(n) {
		return nil, io.ErrUnexpectedEOF
	}
	return b.Bytes(), nil
}

// refusal gives the error that an answer is, nil if it is none.
func refusal(answer []byte) *messages.KRBError {
	var e messages.KRBError
	if protect(func() error { return e.Unmarshal(answer) }) != nil {
		return nil
	}
	return &e
}

// login gets the ticket of the KDC with a keytab.
func (k *kdc) login(ctx context.Context, who Principal, kt *keytab.Keytab, file string) (*ticket, error) {
	request, err := messages.NewASReqForTGT(who.Realm, k.Config, who.user())
	if err != nil {
		return nil, err
	}
	request.ReqBody.EType = offered(request.ReqBody.EType)
	if len(request.ReqBody.EType) == 0 {
		return nil, errorf(ErrConfig, "%s: default_tkt_enctypes leaves no AES", k.file)
	}
	answer, err := k.first(ctx, who.Realm, &request)
	if err != nil {
		return nil, err
	}
	if e := refusal(answer); e != nil && e.ErrorCode == errorcode.KDC_ERR_PREAUTH_REQUIRED {
		if err := prove(&request, e, who, kt, file); err != nil {
			return nil, err
		}
		if answer, err = k.first(ctx, who.Realm, &request); err != nil {
			return nil, err
		}
	}
	if e := refusal(answer); e != nil {
		return nil, ofUser(e, who.String(), who.Realm, file)
	}
	var reply messages.ASRep
	err = protect(func() error {
		if err := reply.Unmarshal(answer); err != nil {
			return err
		}
		user := credentials.New("", who.Realm).WithKeytab(kt)
		_, err := reply.Verify(k.Config, user, request)
		return err
	})
	if err != nil {
		return nil, errorf(ErrRefused, "the answer of the KDC of realm %s is not right, or not encrypted with the key of %s in %s: export the keytab again", who.Realm, who, file)
	}
	part := reply.DecryptedEncPart
	return newTicket(reply.Ticket, &part, who.Realm), nil
}

func (k *kdc) first(ctx context.Context, realm string, request *messages.ASReq) ([]byte, error) {
	b, err := request.Marshal()
	if err != nil {
		return nil, err
	}
	return k.ask(ctx, realm, b)
}

// offered leaves only what is strong.
func offered(kinds []int32) []int32 {
	var out []int32
	for _, kind := range kinds {
		if strong(kind) {
			out = append(out, kind)
		}
	}
	return out
}

// prove adds the time, encrypted with the user's key, of the kind that the KDC asks for.
func prove(request *messages.ASReq, e *messages.KRBError, who Principal, kt *keytab.Keytab, file string) error {
	var key types.EncryptionKey
	version := 0
	err := protect(func() error {
		for _, kind := range wanted(e, request.ReqBody.EType) {
			var err error
			if key, version, err = kt.GetEncryptionKey(who.user(), who.Realm, 0, kind); err == nil {
				return nil
			}
		}
		return errMalformed
	})
	if err != nil {
		return errorf(ErrKeytab, "%s has no key of %s of a kind that the KDC takes: export it again with aes256-cts-hmac-sha1-96", file, who)
	}
	now, err := types.GetPAEncTSEncAsnMarshalled()
	if err != nil {
		return err
	}
	sealed, err := crypto.GetEncryptedData(now, key, keyusage.AS_REQ_PA_ENC_TIMESTAMP, version)
	if err != nil {
		return err
	}
	b, err := sealed.Marshal()
	if err != nil {
		return err
	}
	request.PAData = append(request.PAData, types.PAData{PADataType: patype.PA_ENC_TIMESTAMP, PADataValue: b})
	return nil
}

// wanted gives the kinds of keys that a KDC names for the user, or all.
func wanted(e *messages.KRBError, all []int32) []int32 {
	var hints types.PADataSequence
	if hints.Unmarshal(e.EData) != nil {
		return all
	}
	var kinds []int32
	for _, h := range hints {
		if h.PADataType != patype.PA_ETYPE_INFO2 {
			continue
		}
		if list, err := h.GetETypeInfo2(); err == nil {
			for _, entry := range list {
				kinds = append(kinds, entry.EType)
			}
		}
	}
	if kinds = offered(kinds); len(kinds) == 0 {
		return all
	}
	return kinds
}

func newTicket(t messages.Ticket, part *messages.EncKDCRepPart, realm string) *ticket {
	start := part.StartTime
	if start.IsZero() {
		start = part.AuthTime
	}
	return &ticket{Ticket: t, key: part.Key, start: start, end: part.EndTime, realm: realm}
}

// service gets a ticket of a service with the user's ticket of the KDC. A service of another realm is
// looked for on the way that the KDCs name.
func (k *kdc) service(ctx context.Context, who Principal, tgt *ticket, of Principal) (*ticket, error) {
	for hop := 0; ; hop++ {
		want := of
		if of.Realm != tgt.realm { // first the way into that realm
			want = Principal{Parts: []string{ticketService, of.Realm}, Realm: tgt.realm}
		}
		got, err := k.next(ctx, who, tgt, want)
		if err != nil {
			return nil, err
		}
		name := got.SName.NameString
		switch {
		case sameName(got.SName, of) && of.Realm == tgt.realm:
			if !strong(got.key.KeyType) {
				return nil, errorf(ErrRefused, "the ticket of %s has a session key that is none of AES: give the service AES keys", of)
			}
			return got, nil
		case len(name) != 2 || name[0] != ticketService || hop >= maxReferrals:
			return nil, errorf(ErrServer, "the KDC of realm %s gave a ticket of another service than %s", tgt.realm, of)
		}
		if got.realm = name[1]; got.realm == tgt.realm {
			return nil, errorf(ErrServer, "the KDC of realm %s gave a ticket of itself in place of one of %s", tgt.realm, of)
		}
		if want.Parts[0] != ticketService && of.Realm != got.realm {
			of.Realm = got.realm // the KDC knows better in which realm the service is
		}
		tgt = got
	}
}

// next asks the KDC that takes a ticket for another one.
func (k *kdc) next(ctx context.Context, who Principal, tgt *ticket, of Principal) (*ticket, error) {
	var request messages.TGSReq
	err := protect(func() error {
		var err error
		request, err = messages.NewTGSReq(who.user(), tgt.realm, k.Config, tgt.Ticket, tgt.key, of.service(), false)
		return err
	})
	if err != nil {
		return nil, errorf(ErrNoTicket, "the user's ticket cannot be used: log in again")
	}
	b, err := request.Marshal()
	if err != nil {
		return nil, err
	}
	answer, err := k.ask(ctx, tgt.realm, b)
	if err != nil {
		return nil, err
	}
	if e := refusal(answer); e != nil {
		return nil, ofService(e, of.String(), tgt.realm)
	}
	var reply messages.TGSRep
	err = protect(func() error {
		if err := reply.Unmarshal(answer); err != nil {
			return err
		}
		if err := reply.DecryptEncPart(tgt.key); err != nil {
			return err
		}
		_, err := reply.Verify(k.Config, request)
		return err
	})
	if err != nil {
		return nil, errorf(ErrServer, "the answer of the KDC of realm %s is not right", tgt.realm)
	}
	if !reply.DecryptedEncPart.SName.Equal(reply.Ticket.SName) { // the part that is encrypted counts
		return nil, errorf(ErrServer, "the KDC of realm %s gave a ticket of another service than %s", tgt.realm, of)
	}
	part := reply.DecryptedEncPart
	return newTicket(reply.Ticket, &part, tgt.realm), nil
}
