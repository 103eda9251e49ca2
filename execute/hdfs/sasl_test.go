package hdfs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/execute/hdfs/kerberos"
	"fsweep/proto/hadoop"
)

// noTicket is a login whose tokens are worth nothing.
type noTicket struct{ asked []string }

func (n *noTicket) Initiate(_ context.Context, server kerberos.Principal) (*kerberos.Context, []byte, error) {
	n.asked = append(n.asked, server.String())
	return new(kerberos.Context), []byte("a token"), nil
}

// script is a server that says what it will, whatever it hears.
type script struct {
	io.Reader
	heard bytes.Buffer
}

func (s *script) Write(p []byte) (int, error) { return s.heard.Write(p) }

// says is a frame of a server.
func says(t testing.TB, m *hadoop.RpcSaslProto) []byte {
	t.Helper()
	b, err := frame(&hadoop.RpcResponseHeaderProto{CallId: proto.Uint32(1<<32 - 33), Status: hadoop.RpcResponseHeaderProto_SUCCESS.Enum()}, m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func state(s hadoop.RpcSaslProto_SaslState, token string, auths ...*hadoop.RpcSaslProto_SaslAuth) *hadoop.RpcSaslProto {
	m := &hadoop.RpcSaslProto{State: s.Enum(), Auths: auths}
	if token != "" {
		m.Token = []byte(token)
	}
	return m
}

func offers(method, mechanism, protocol, server string) *hadoop.RpcSaslProto_SaslAuth {
	return &hadoop.RpcSaslProto_SaslAuth{Method: &method, Mechanism: &mechanism, Protocol: &protocol, ServerId: &server}
}

func testSASL() (*saslAuth, *noTicket) {
	login := &noTicket{}
	return &saslAuth{login: login, accept: []quality{qualityIntegrity}, services: &services{
		name:    kerberos.Principal{Parts: []string{"hdfs", hostWord}, Realm: "X"},
		realm:   func(string) string { return "X" },
		resolve: func(context.Context, string) []string { return []string{"nn1.example"} },
	}}, login
}

var testNameNode = execute.NameNode{Address: "NN1:8020"}

// A server that is not the one, or wants less than Kerberos, is told nothing, or no more than a token
// that only the right one can read.
func TestHandshakeRefuses(t *testing.T) {
	t.Parallel()
	negotiate := says(t, state(hadoop.RpcSaslProto_NEGOTIATE, "", offers("TOKEN", "DIGEST-MD5", "", "default"), offers("KERBEROS", "GSSAPI", "hdfs", "nn1.example")))
	fatal, err := frame(&hadoop.RpcResponseHeaderProto{
		CallId: proto.Uint32(1<<32 - 33), Status: hadoop.RpcResponseHeaderProto_FATAL.Enum(),
		ExceptionClassName: proto.String("javax.security.sasl.SaslException"), ErrorMsg: proto.String("GSS initiate failed\n\tat x"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		frames [][]byte
		want   string
		asked  bool
	}{
		"simple":                {[][]byte{says(t, state(hadoop.RpcSaslProto_SUCCESS, ""))}, "asks for no ticket (simple authentication)", false},
		"simple among others":   {[][]byte{says(t, state(hadoop.RpcSaslProto_NEGOTIATE, "", offers("SIMPLE", "", "", "")))}, "never falls back", false},
		"nothing":               {[][]byte{says(t, state(hadoop.RpcSaslProto_NEGOTIATE, ""))}, "does not offer Kerberos", false},
		"another mechanism":     {[][]byte{says(t, state(hadoop.RpcSaslProto_NEGOTIATE, "", offers("KERBEROS", "DIGEST-MD5", "hdfs", "nn1.example")))}, "does not offer Kerberos", false},
		"another beginning":     {[][]byte{says(t, state(hadoop.RpcSaslProto_CHALLENGE, "x"))}, "begins with CHALLENGE", false},
		"another service":       {[][]byte{says(t, state(hadoop.RpcSaslProto_NEGOTIATE, "", offers("KERBEROS", "GSSAPI", "HTTP", "nn1.example")))}, "it says that it is HTTP/nn1.example", false},
		"another host":          {[][]byte{says(t, state(hadoop.RpcSaslProto_NEGOTIATE, "", offers("KERBEROS", "GSSAPI", "hdfs", "evil.example")))}, "where the host is nn1 or nn1.example", false},
		"another realm":         {[][]byte{says(t, state(hadoop.RpcSaslProto_NEGOTIATE, "", offers("KERBEROS", "GSSAPI", "hdfs", "nn1.example@EVIL")))}, "it says that it is", false},
		"success without proof": {[][]byte{negotiate, says(t, state(hadoop.RpcSaslProto_SUCCESS, ""))}, "SUCCESS in place of a challenge", true},
		"success with a token":  {[][]byte{negotiate, says(t, state(hadoop.RpcSaslProto_SUCCESS, "x"))}, "SUCCESS in place of a challenge", true},
		"no proof":              {[][]byte{negotiate, says(t, state(hadoop.RpcSaslProto_CHALLENGE, "x"))}, "its answer is no token of Kerberos", true},
		"challenge of nothing":  {[][]byte{negotiate, says(t, state(hadoop.RpcSaslProto_CHALLENGE, ""))}, "in place of a challenge", true},
		"refused":               {[][]byte{negotiate, fatal}, `login at hdfs/nn1.example@X: the NameNode refuses the login: "GSS initiate failed"`, true},
		"the end":               {[][]byte{negotiate}, "EOF", true},
		"much":                  {[][]byte{{0x7f, 0xff, 0xff, 0xff}}, "length of 2147483647 bytes", false},
		"an answer to a call":   {[][]byte{must(frame(&hadoop.RpcResponseHeaderProto{CallId: proto.Uint32(0), Status: hadoop.RpcResponseHeaderProto_SUCCESS.Enum()}, state(hadoop.RpcSaslProto_SUCCESS, "")))}, "answer to call 0 in place of -33", false},
	} {
		s, login := testSASL()
		peer := &script{Reader: bytes.NewReader(slices.Concat(tc.frames...))}
		_, err := s.open(t.Context(), testNameNode, peer)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v\nwant %s", name, err, tc.want)
		}
		if told := bytes.Contains(peer.heard.Bytes(), []byte("a token")); told != tc.asked || (len(login.asked) > 0) != tc.asked {
			t.Errorf("%s: it was told %v, tickets asked for: %q", name, told, login.asked)
		}
		if tc.asked && !slices.Equal(login.asked, []string{"hdfs/nn1.example@X"}) {
			t.Errorf("%s: tickets of %q", name, login.asked)
		}
		for _, transient := range []string{"the end", "much", "an answer to a call"} {
			if name == transient && final(err) {
				t.Errorf("%s: not tried again", name)
			}
		}
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func TestServices(t *testing.T) {
	t.Parallel()
	realm := func(host string) string {
		if strings.HasSuffix(host, ".other.example") {
			return "OTHER"
		}
		return "X"
	}
	for _, tc := range []struct{ name, pattern, protocol, host, want string }{
		{"hdfs/_HOST@X", "", "hdfs", "nn1", "hdfs/nn1@X"}, // the name as it is configured
		{"hdfs/_HOST@X", "", "hdfs", "nn1.example", "hdfs/nn1.example@X"},
		{"hdfs/_HOST@X", "", "hdfs", "NN1.example", ""},
		{"hdfs/_HOST@X", "", "hdfs", "nn2.example", ""},
		{"hdfs/_HOST@X", "", "nn", "nn1.example", ""},
		{"hdfs/_HOST", "", "hdfs", "nn1", "hdfs/nn1@X"},
		{"hdfs/vip.example@Y", "", "hdfs", "vip.example", "hdfs/vip.example@Y"},
		{"hdfs/vip.example@Y", "", "hdfs", "nn1", ""},
		{"", "hdfs/*@X", "hdfs", "any.example", "hdfs/any.example@X"},
		{"", "hdfs/*@X", "hdfs", "any.other.example", ""},
		{"", "hdfs/*", "hdfs", "any.other.example", "hdfs/any.other.example@OTHER"},
		{"", "hdfs/nn?.example@*", "hdfs", "nn7.example", "hdfs/nn7.example@X"},
		{"", "hdfs/{a,b{1,2}}.example@X", "hdfs", "b2.example", "hdfs/b2.example@X"},
		{"", "hdfs/{a,b{1,2}}.example@X", "hdfs", "b.example", ""},
		{"", "{hdfs,nn}/[ab].example@X", "nn", "a.example", "nn/a.example@X"},
		{"hdfs/_HOST@X", "hdfs/b@X", "hdfs", "nn1", ""}, // the pattern is in place of the name
	} {
		conf := map[string]string{}
		if tc.name != "" {
			conf[principalKey] = tc.name
		}
		if tc.pattern != "" {
			conf[patternKey] = tc.pattern
		}
		s, err := newServices(NewConf(conf), nil)
		if err != nil {
			t.Errorf("%+v: %v", tc, err)
			continue
		}
		s.realm, s.resolve = realm, func(context.Context, string) []string { return []string{"nn1.example"} }
		got, err := s.principal(t.Context(), testNameNode, tc.protocol, tc.host)
		if err == nil && got.String() != tc.want || (err != nil) != (tc.want == "") || err != nil && !errors.Is(err, errNotNameNode) {
			t.Errorf("%+v: %s, %v", tc, got, err)
		}
	}
	for _, bad := range []map[string]string{{}, {principalKey: "hdfs@X"}, {principalKey: "a/b/c@X"}, {patternKey: "hdfs/[@X"}, {patternKey: `hdfs/\*`}, {patternKey: "hdfs/[^a]@X"}} {
		if _, err := newServices(NewConf(bad), nil); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}

func TestQualities(t *testing.T) {
	t.Parallel()
	conf := func(protection string) *Conf {
		return NewConf(map[string]string{principalKey: "hdfs/_HOST@X", protectionKey: protection})
	}
	for protection, want := range map[string]string{"": "authentication", "privacy": "privacy", " Integrity , AUTHENTICATION,": "integrity,authentication"} {
		s, err := newSASL(conf(protection), new(kerberos.Login))
		if err != nil || joinQualities(s.accept) != want {
			t.Errorf("%q: %v, %v", protection, s, err)
		}
	}
	if _, err := newSASL(conf("privacy,none"), new(kerberos.Login)); err == nil || !strings.Contains(err.Error(), `"none"`) {
		t.Error(err)
	}
}

// FuzzHandshake: whatever a server says, no login without a proof, and no panic.
func FuzzHandshake(f *testing.F) {
	negotiate := says(f, state(hadoop.RpcSaslProto_NEGOTIATE, "", offers("KERBEROS", "GSSAPI", "hdfs", "nn1.example")))
	for _, next := range []*hadoop.RpcSaslProto{
		state(hadoop.RpcSaslProto_SUCCESS, ""), state(hadoop.RpcSaslProto_CHALLENGE, "\x60\x0d\x06\x09\x2a\x86\x48\x86\xf7\x12\x01\x02\x02\x02\x00"), state(hadoop.RpcSaslProto_WRAP, "x"),
	} {
		f.Add(append(slices.Clone(negotiate), says(f, next)...))
	}
	f.Add(says(f, state(hadoop.RpcSaslProto_SUCCESS, "")))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, _ := testSASL()
		if _, err := s.open(t.Context(), testNameNode, &script{Reader: bytes.NewReader(b)}); err == nil {
			t.Error("logged in")
		}
	})
}
