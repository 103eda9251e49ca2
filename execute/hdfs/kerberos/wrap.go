package kerberos

import (
	"crypto/hmac"
	"encoding/binary"
)

// Wrap tokens of RFC 4121, section 4.2.6.2: 05 04, flags, ff, EC and RRC (2 bytes each), the number
// of the message (8), then
//
//	sealed:     what encrypts payload, EC bytes of filling, and the header with RRC 0
//	not sealed: payload and a checksum of EC bytes over payload and the header with EC and RRC 0
//
// of which the last RRC bytes have been moved to the front.
const (
	headerLen = 16

	fromAcceptor  = 1
	sealedFlag    = 2
	acceptorsFlag = 4

	usageAcceptorSeal  = 22
	usageInitiatorSeal = 24
)

// Overhead is by how many bytes a token is longer than its payload, at most.
const Overhead = 2*headerLen + 16 + 24

func header(flags byte, ec, rrc uint16, number uint64) []byte {
	h := []byte{5, 4, flags, 0xff}
	h = binary.BigEndian.AppendUint16(h, ec)
	h = binary.BigEndian.AppendUint16(h, rrc)
	return binary.BigEndian.AppendUint64(h, number)
}

// Wrap protects a message to the server: against change, and if it is sealed against readers, too.
func (c *Context) Wrap(payload []byte, seal bool) ([]byte, error) {
	if !c.established {
		return nil, errorf(ErrServer, "it has not proven yet who it is")
	}
	var flags byte
	if c.acceptorKey {
		flags |= acceptorsFlag
	}
	number := c.next
	c.next++
	if seal {
		h := header(flags|sealedFlag, 0, 0, number)
		_, text, err := c.kind.EncryptMessage(c.key.KeyValue, append(append([]byte(nil), payload...), h...), usageInitiatorSeal)
		if err != nil {
			return nil, errorf(ErrServer, "a message to it cannot be encrypted")
		}
		return append(h, text...), nil
	}
	sum, err := c.kind.GetChecksumHash(c.key.KeyValue, append(append([]byte(nil), payload...), header(flags, 0, 0, number)...), usageInitiatorSeal)
	if err != nil {
		return nil, errorf(ErrServer, "a message to it cannot be protected")
	}
	return append(append(header(flags, uint16(len(sum)), 0, number), payload...), sum...), nil
}

// Unwrap checks a message from the server, which must be the one that is due, and tells whether it was
// sealed. It does not change token.
func (c *Context) Unwrap(token []byte) (payload []byte, sealed bool, err error) {
	bad := func(what string) ([]byte, bool, error) {
		return nil, false, errorf(ErrServer, "a message from it %s", what)
	}
	if !c.established {
		return bad("came before it has proven who it is")
	}
	if len(token) < headerLen || token[0] != 5 || token[1] != 4 || token[3] != 0xff {
		return bad("is no wrap token")
	}
	flags := token[2]
	sealed = flags&sealedFlag != 0
	if flags&^byte(fromAcceptor|sealedFlag|acceptorsFlag) != 0 || flags&fromAcceptor == 0 || (flags&acceptorsFlag != 0) != c.acceptorKey {
		return bad("has flags that are not right")
	}
	ec, rrc := int(binary.BigEndian.Uint16(token[4:])), int(binary.BigEndian.Uint16(token[6:]))
	number := binary.BigEndian.Uint64(token[8:])
	body := rotated(token[headerLen:], rrc)
	if sealed {
		payload, err = c.open(body, ec, header(flags, uint16(ec), 0, number))
	} else {
		payload, err = c.verify(body, ec, header(flags, 0, 0, number))
	}
	if err != nil {
		return bad("was changed on the way, or is another server's")
	}
	if number != c.expect {
		return bad("is not the one that is due: one was lost, or sent twice")
	}
	c.expect++
	return payload, sealed, nil
}

// rotated gives a copy with the first n bytes at the end.
func rotated(b []byte, n int) []byte {
	out := make([]byte, 0, len(b))
	if len(b) > 0 {
		n %= len(b)
		out = append(append(out, b[n:]...), b[:n]...)
	}
	return out
}

func (c *Context) open(body []byte, ec int, h []byte) ([]byte, error) {
	if len(body) < c.kind.GetConfounderByteSize()+headerLen+c.kind.GetHMACBitLength()/8 {
		return nil, errDefect // the library takes the length for granted
	}
	var text []byte
	err := protect(func() error {
		var err error
		text, err = c.kind.DecryptMessage(c.key.KeyValue, body, usageAcceptorSeal)
		return err
	})
	if err != nil || len(text) < ec+headerLen {
		return nil, errDefect
	}
	end := len(text) - headerLen
	if !hmac.Equal(text[end:], h) {
		return nil, errDefect
	}
	return text[:end-ec], nil
}

func (c *Context) verify(body []byte, ec int, h []byte) ([]byte, error) {
	size := c.kind.GetHMACBitLength() / 8
	if ec != size || len(body) < size {
		return nil, errDefect
	}
	payload, sum := body[:len(body)-size], body[len(body)-size:]
	want, err := c.kind.GetChecksumHash(c.key.KeyValue, append(append([]byte(nil), payload...), h...), usageAcceptorSeal)
	if err != nil || !hmac.Equal(want, sum) {
		return nil, errDefect
	}
	return payload, nil
}
