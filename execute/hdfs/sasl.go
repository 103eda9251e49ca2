package hdfs

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/execute/hdfs/kerberos"
	"fsweep/proto/hadoop"
)

// saslCallID is that of all frames of SASL, in both directions.
const saslCallID = -33

// maxHandshake bounds a frame before the user is known to the NameNode.
const maxHandshake = 1 << 20

// errNotNameNode: whoever answers is not the NameNode that the configuration means, or not secured.
var errNotNameNode = errors.New("not the NameNode of the configuration")

// quality is what protects a connection; the numbers are those of RFC 4752.
type quality byte

// The qualities, by Hadoop's names of them.
const (
	qualityAuthentication quality = 1
	qualityIntegrity      quality = 2
	qualityPrivacy        quality = 4
)

func (q quality) String() string {
	switch q {
	case qualityAuthentication:
		return "authentication"
	case qualityIntegrity:
		return "integrity"
	case qualityPrivacy:
		return "privacy"
	}
	return fmt.Sprintf("quality(%d)", byte(q))
}

// qualities gives a server's choice by name.
func qualities(mask byte) string {
	var names []string
	for _, q := range []quality{qualityAuthentication, qualityIntegrity, qualityPrivacy} {
		if mask&byte(q) != 0 {
			names = append(names, q.String())
		}
	}
	if names == nil {
		return "nothing"
	}
	return strings.Join(names, ",")
}

const protectionKey = "hadoop.rpc.protection"

// initiator is what it needs of a login.
type initiator interface {
	Initiate(ctx context.Context, server kerberos.Principal) (*kerberos.Context, []byte, error)
}

// saslAuth is authentication with Kerberos. It may be used by many goroutines.
type saslAuth struct {
	login    initiator
	services *services
	accept   []quality // in the order of preference
}

func newSASL(conf *Conf, login *kerberos.Login) (*saslAuth, error) {
	s := &saslAuth{login: login}
	var err error
	if s.services, err = newServices(conf, login); err != nil {
		return nil, err
	}
	list, err := conf.List(protectionKey)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		list = []string{"authentication"}
	}
	for _, name := range list {
		known := false
		for _, q := range []quality{qualityAuthentication, qualityIntegrity, qualityPrivacy} {
			if strings.EqualFold(name, q.String()) {
				s.accept, known = append(s.accept, q), true
			}
		}
		if !known {
			return nil, fmt.Errorf("configuration key %s: %q is none of authentication, integrity, privacy", protectionKey, name)
		}
	}
	return s, nil
}

func (*saslAuth) mechanism() byte { return authSASL }

// user is left to the NameNode: it knows the principal, and any other name would ask to act for somebody.
func (*saslAuth) user() string { return "" }

// open logs in. The steps are fixed, so a server cannot make it go on for ever.
func (s *saslAuth) open(ctx context.Context, nn execute.NameNode, stream io.ReadWriter) (io.ReadWriter, error) {
	h := handshake{stream}
	offer, err := h.ask(&hadoop.RpcSaslProto{State: hadoop.RpcSaslProto_NEGOTIATE.Enum()})
	if err != nil {
		return nil, err
	}
	auth, err := kerberosOf(offer)
	if err != nil {
		return nil, err
	}
	server, err := s.services.principal(ctx, nn, auth.GetProtocol(), auth.GetServerId())
	if err != nil {
		return nil, err
	}
	gss, token, err := s.login.Initiate(ctx, server)
	if err != nil {
		return nil, err
	}
	answer, err := h.challenge(&hadoop.RpcSaslProto{State: hadoop.RpcSaslProto_INITIATE.Enum(), Token: token, Auths: []*hadoop.RpcSaslProto_SaslAuth{{
		Method: auth.Method, Mechanism: auth.Mechanism, Protocol: auth.Protocol, ServerId: auth.ServerId,
	}}})
	if err != nil {
		return nil, withServer(err, server)
	}
	if err := gss.Establish(answer); err != nil {
		return nil, withServer(err, server)
	}
	layers, err := h.challenge(&hadoop.RpcSaslProto{State: hadoop.RpcSaslProto_RESPONSE.Enum(), Token: []byte{}})
	if err != nil {
		return nil, withServer(err, server)
	}
	chosen, limit, reply, err := s.choose(gss, layers)
	if err != nil {
		return nil, withServer(err, server)
	}
	end, err := h.ask(&hadoop.RpcSaslProto{State: hadoop.RpcSaslProto_RESPONSE.Enum(), Token: reply})
	if err != nil {
		return nil, withServer(err, server)
	}
	if end.GetState() != hadoop.RpcSaslProto_SUCCESS {
		return nil, withServer(fmt.Errorf("%w: it answers %v in place of SUCCESS", errNotNameNode, end.GetState()), server)
	}
	if chosen == qualityAuthentication {
		return stream, nil
	}
	return &wrapped{out: stream, in: bufio.NewReader(stream), gss: gss, seal: chosen == qualityPrivacy, limit: limit}, nil
}

func withServer(err error, server kerberos.Principal) error {
	return fmt.Errorf("login at %s: %w", server, err)
}

// kerberosOf finds Kerberos among what a server offers. That it would do without, is refused: then anybody
// could answer in its place, and any user change what is the user's.
func kerberosOf(offer *hadoop.RpcSaslProto) (*hadoop.RpcSaslProto_SaslAuth, error) {
	if offer.GetState() == hadoop.RpcSaslProto_SUCCESS {
		return nil, fmt.Errorf("%w: it asks for no ticket (simple authentication), and %s says kerberos; fsweep never falls back", errNotNameNode, authenticationKey)
	}
	if offer.GetState() != hadoop.RpcSaslProto_NEGOTIATE {
		return nil, fmt.Errorf("%w: it begins with %v", errNotNameNode, offer.GetState())
	}
	var others []string
	for _, a := range offer.GetAuths() {
		if a.GetMethod() == "KERBEROS" && a.GetMechanism() == "GSSAPI" {
			return a, nil
		}
		others = append(others, a.GetMethod())
	}
	return nil, fmt.Errorf("%w: it does not offer Kerberos, only %.100q; fsweep never falls back", errNotNameNode, others)
}

// choose takes the last challenge (RFC 4752, 3.1): what the server offers, and how long a token may be. It
// makes the answer, without a name to act as.
func (s *saslAuth) choose(gss *kerberos.Context, token []byte) (chosen quality, limit int, reply []byte, err error) {
	offer, _, err := gss.Unwrap(token)
	if err != nil {
		return 0, 0, nil, err
	}
	if len(offer) != 4 {
		return 0, 0, nil, fmt.Errorf("%w: it offers protection in %d bytes", errNotNameNode, len(offer))
	}
	i := slices.IndexFunc(s.accept, func(q quality) bool { return offer[0]&byte(q) != 0 })
	if i < 0 {
		return 0, 0, nil, fmt.Errorf("%w: it protects connections by %s, and %s of this configuration is %s: make it the same as the cluster's",
			errNotNameNode, qualities(offer[0]), protectionKey, joinQualities(s.accept))
	}
	chosen = s.accept[i]
	limit = int(binary.BigEndian.Uint32([]byte{0, offer[1], offer[2], offer[3]}))
	answer := []byte{byte(chosen), 0, 0, 0} // of a connection that is not protected the limit must be 0
	if chosen != qualityAuthentication {
		copy(answer[1:], []byte{0xff, 0xff, 0xff})
		if limit < 2*kerberos.Overhead {
			return 0, 0, nil, fmt.Errorf("%w: it takes messages of %d bytes at most", errNotNameNode, limit)
		}
	}
	reply, err = gss.Wrap(answer, false)
	return chosen, limit, reply, err
}

func joinQualities(list []quality) string {
	names := make([]string, len(list))
	for i, q := range list {
		names[i] = q.String()
	}
	return strings.Join(names, ",")
}

// handshake exchanges frames of SASL.
type handshake struct{ stream io.ReadWriter }

// ask sends a message and gives the answer to it.
func (h handshake) ask(m *hadoop.RpcSaslProto) (*hadoop.RpcSaslProto, error) {
	out, err := saslFrame(m)
	if err != nil {
		return nil, err
	}
	if _, err := h.stream.Write(out); err != nil {
		return nil, err
	}
	return readSASL(h.stream, maxHandshake)
}

// challenge is ask for an answer that must be a challenge with a token.
func (h handshake) challenge(m *hadoop.RpcSaslProto) ([]byte, error) {
	a, err := h.ask(m)
	if err != nil {
		return nil, err
	}
	if a.GetState() != hadoop.RpcSaslProto_CHALLENGE || a.Token == nil {
		return nil, fmt.Errorf("%w: it answers %v in place of a challenge", errNotNameNode, a.GetState())
	}
	return a.GetToken(), nil
}

func saslFrame(m *hadoop.RpcSaslProto) ([]byte, error) {
	return frame(&hadoop.RpcRequestHeaderProto{
		RpcKind:    hadoop.RpcKindProto_RPC_PROTOCOL_BUFFER.Enum(),
		RpcOp:      hadoop.RpcRequestHeaderProto_RPC_FINAL_PACKET.Enum(),
		CallId:     proto.Int32(saslCallID),
		ClientId:   []byte{}, // of no client yet
		RetryCount: proto.Int32(-1),
	}, m)
}

// readSASL reads a frame of SASL.
func readSASL(r io.Reader, limit int) (*hadoop.RpcSaslProto, error) {
	b, err := readFrame(r, limit)
	if err != nil {
		return nil, err
	}
	a, err := parseAnswer(b)
	if err != nil {
		return nil, err
	}
	if a.header.GetStatus() != hadoop.RpcResponseHeaderProto_SUCCESS {
		return nil, refusedLogin(a.header)
	}
	if id := int32(a.header.GetCallId()); id != saslCallID {
		return nil, fmt.Errorf("answer to call %d in place of %d", id, saslCallID)
	}
	m := &hadoop.RpcSaslProto{}
	if err := a.decode(m); err != nil {
		return nil, fmt.Errorf("message of the login: %w", err)
	}
	return m, nil
}

// refusedLogin says what a server answered in place of letting the user in.
func refusedLogin(h *hadoop.RpcResponseHeaderProto) error {
	text := firstLines(h)
	if strings.HasPrefix(text, "GSS initiate failed") {
		return fmt.Errorf("%w: %.300q. What it does not tell is in its log; mostly its clock and that of this host differ by more than five minutes "+
			"(fsweep-exec probe shows by how much), or its keytab is older than the key that the KDC has of it", errLogin, text)
	}
	return fmt.Errorf("%w: %.300q", errLogin, text)
}

// errLogin: the NameNode does not let the user in.
var errLogin = errors.New("the NameNode refuses the login")

// final tells whether it is no use to try a connection again.
func final(err error) bool {
	if kerberos.Ours(err) {
		return !kerberos.Temporary(err)
	}
	return errors.Is(err, errNotNameNode) || errors.Is(err, errLogin)
}

// wrapped is a stream of which each piece is protected, in a frame of SASL. Inside is what would be
// there without protection. Reading and writing go with one goroutine each.
type wrapped struct {
	out   io.Writer
	in    io.Reader
	gss   *kerberos.Context
	seal  bool
	limit int    // bytes of a token to the server
	left  []byte // of what was unwrapped
}

// maxPiece is what is put into one token, whatever servers take.
const maxPiece = 1 << 20

// Write writes all of p, in as many pieces as the server wants. The server can read none of the last piece
// unless all of that left, so less than len(p) means that the end of p never got there.
func (w *wrapped) Write(p []byte) (int, error) {
	n := 0
	for {
		piece := p[n:min(len(p), n+min(w.limit-kerberos.Overhead, maxPiece))]
		token, err := w.gss.Wrap(piece, w.seal)
		if err != nil {
			return n, err
		}
		out, err := saslFrame(&hadoop.RpcSaslProto{State: hadoop.RpcSaslProto_WRAP.Enum(), Token: token})
		if err != nil {
			return n, err
		}
		sent, err := w.out.Write(out)
		if sent >= len(out) {
			n += len(piece)
		}
		if err != nil || n == len(p) {
			return n, err
		}
		if sent < len(out) {
			return n, io.ErrShortWrite
		}
	}
}

// Read gives what the next tokens hold.
func (w *wrapped) Read(p []byte) (int, error) {
	for len(w.left) == 0 {
		m, err := readSASL(w.in, maxFrame+maxHandshake)
		if err != nil {
			return 0, err
		}
		if m.GetState() != hadoop.RpcSaslProto_WRAP || m.Token == nil {
			return 0, fmt.Errorf("%w: a message that is not protected", errNotNameNode)
		}
		payload, sealed, err := w.gss.Unwrap(m.GetToken())
		if err != nil {
			return 0, err
		}
		if sealed != w.seal {
			return 0, fmt.Errorf("%w: a message of another protection than was agreed", errNotNameNode)
		}
		w.left = payload
	}
	n := copy(p, w.left)
	w.left = w.left[n:]
	return n, nil
}
