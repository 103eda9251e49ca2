package kerberos

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func environment(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

// fakeKDC answers each message on a connection of its own with what a test says.
func fakeKDC(t *testing.T, answer func(message []byte) []byte) DialFunc {
	t.Helper()
	return func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			var head [4]byte
			if _, err := io.ReadFull(server, head[:]); err != nil {
				return
			}
			message := make([]byte, binary.BigEndian.Uint32(head[:]))
			if _, err := io.ReadFull(server, message); err != nil {
				return
			}
			_, _ = server.Write(answer(message)) // the client may be gone
		}()
		return client, nil
	}
}

func refuses(t *testing.T, code int32) []byte {
	t.Helper()
	e := messages.NewKRBError(types.PrincipalName{NameType: 2, NameString: []string{ticketService, "X"}}, "X", code, "some text")
	b, err := e.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

func testKeytab(t *testing.T, dir string) string {
	t.Helper()
	kt := keytab.New()
	if err := kt.AddEntry("alice", "X", "a password", time.Unix(1, 0), 1, kinds[1]); err != nil {
		t.Fatal(err)
	}
	b, err := kt.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return write(t, dir, "alice.keytab", string(b))
}

const testConf = "[libdefaults]\ndefault_realm = X\n[realms]\nX = {\n kdc = kdc.example\n}\n"

// What a KDC answers is told in words, at once, and only its silence is worth another try.
func TestAnswersOfKDC(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, conf := testKeytab(t, dir), write(t, dir, "krb5.conf", testConf)
	for name, tc := range map[string]struct {
		answer []byte
		kind   error
		text   string
	}{
		"unknown":         {refuses(t, errorcode.KDC_ERR_C_PRINCIPAL_UNKNOWN), ErrUnknown, "does not know alice@X"},
		"password":        {refuses(t, errorcode.KDC_ERR_PREAUTH_FAILED), ErrKeytab, "export the keytab again"},
		"locked":          {refuses(t, errorcode.KDC_ERR_CLIENT_REVOKED), ErrRefused, "locked or disabled"},
		"old":             {refuses(t, errorcode.KDC_ERR_KEY_EXPIRED), ErrRefused, "is expired in realm X"},
		"clock":           {refuses(t, errorcode.KRB_AP_ERR_SKEW), ErrSkew, "set the clocks"},
		"encryption":      {refuses(t, errorcode.KDC_ERR_ETYPE_NOSUPP), ErrRefused, "AES"},
		"realm":           {refuses(t, errorcode.KDC_ERR_WRONG_REALM), ErrUnknown, "belongs to realm"},
		"policy":          {refuses(t, errorcode.KDC_ERR_POLICY), ErrRefused, "KDC_ERR_POLICY"},
		"proof for ever":  {refuses(t, errorcode.KDC_ERR_PREAUTH_REQUIRED), ErrRefused, "KDC_ERR_PREAUTH_REQUIRED"},
		"garbage":         {[]byte{0, 0, 0, 3, 1, 2, 3}, ErrRefused, "is not right"},
		"nothing":         {nil, ErrNoKDC, "kdc.example:88: unexpected EOF"},
		"cut":             {[]byte{0, 0, 0, 9, 1}, ErrNoKDC, "unexpected EOF"},
		"too much":        {[]byte{0x7f, 0xff, 0xff, 0xff}, ErrNoKDC, "length of 2147483647 bytes"},
		"a ticket, short": {append([]byte{0, 0, 0, 4}, 0x6b, 2, 0x30, 0), ErrRefused, "is not right"},
	} {
		l, err := New(Options{Keytab: file, Principal: "alice", LookupEnv: environment("KRB5_CONFIG", conf), Dial: fakeKDC(t, func([]byte) []byte { return tc.answer })})
		if err != nil {
			t.Fatal(err)
		}
		err = l.Check(t.Context())
		if !errors.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.text) || Temporary(err) != errors.Is(tc.kind, ErrNoKDC) || !Ours(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for code, kind := range map[int32]error{errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN: ErrUnknown, errorcode.KRB_AP_ERR_TKT_EXPIRED: ErrExpired, errorcode.KRB_AP_ERR_MODIFIED: ErrNoTicket, errorcode.KRB_AP_ERR_SKEW: ErrSkew} {
		e := messages.NewKRBError(types.PrincipalName{}, "X", code, "")
		if err := ofService(&e, "hdfs/h@X", "X"); !errors.Is(err, kind) {
			t.Errorf("%d: %v", code, err)
		}
	}
}

// No KDC is waited for longer than the caller has.
func TestKDCThatIsSilent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	silent := func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
	env := environment("KRB5_CONFIG", write(t, dir, "krb5.conf", testConf))
	l, err := New(Options{Keytab: testKeytab(t, dir), Principal: "alice@X", LookupEnv: env, Dial: silent})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if _, _, err := l.Initiate(ctx, Principal{Parts: []string{"hdfs", "h"}, Realm: "X"}); !Temporary(err) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
		})
	}
	wg.Wait()
}

func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conf, file := write(t, dir, "krb5.conf", testConf), testKeytab(t, dir)
	secret, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut := write(t, dir, "cut.keytab", string(secret[:len(secret)-9]))
	env := environment("KRB5_CONFIG", conf)
	for name, tc := range map[string]struct {
		o    Options
		kind error
		text string
	}{
		"right":             {Options{Keytab: file, Principal: "alice", LookupEnv: env}, nil, ""},
		"no such user":      {Options{Keytab: file, Principal: "bob", LookupEnv: env}, ErrKeytab, "has no key of bob@X"},
		"case":              {Options{Keytab: file, Principal: "alice@x", LookupEnv: env}, ErrKeytab, "has no key of alice@x"},
		"cut":               {Options{Keytab: cut, Principal: "alice", LookupEnv: env}, ErrKeytab, "it is damaged"},
		"a directory":       {Options{Keytab: dir, Principal: "alice", LookupEnv: env}, ErrKeytab, "not a regular file"},
		"no principal":      {Options{Keytab: file, LookupEnv: env}, ErrConfig, "klist -kt"},
		"bad principal":     {Options{Keytab: file, Principal: "a/b/c", LookupEnv: env}, ErrConfig, "more than two parts"},
		"KEYRING":           {Options{LookupEnv: environment("KRB5_CONFIG", conf, "KRB5CCNAME", "KEYRING:persistent:0")}, ErrConfig, "of kind KEYRING"},
		"DIR":               {Options{LookupEnv: environment("KRB5_CONFIG", conf, "KRB5CCNAME", "DIR:/x")}, ErrConfig, "of kind DIR"},
		"API":               {Options{LookupEnv: environment("KRB5_CONFIG", conf, "KRB5CCNAME", "API:1")}, ErrConfig, "of kind API"},
		"no cache":          {Options{LookupEnv: environment("KRB5_CONFIG", conf, "KRB5CCNAME", "FILE:"+dir+"/none")}, ErrNoTicket, "kinit"},
		"no cache at all":   {Options{LookupEnv: environment("KRB5_CONFIG", conf, "KRB5CCNAME", conf)}, ErrNoTicket, "none of version 3 or 4"},
		"cache of the conf": {Options{LookupEnv: environment("KRB5_CONFIG", write(t, dir, "kcm.conf", "[libdefaults]\ndefault_ccache_name = KCM:\ndefault_ccache_name = /x\n"))}, ErrConfig, "default_ccache_name of "},
		"no configuration":  {Options{LookupEnv: environment("KRB5_CONFIG", dir+"/none")}, ErrConfig, "there is no " + dir + "/none (KRB5_CONFIG)"},
		"no default realm":  {Options{Principal: "alice", LookupEnv: environment("KRB5_CONFIG", write(t, dir, "empty.conf", ""))}, ErrConfig, "alice@REALM"},
		"garbled":           {Options{LookupEnv: environment("KRB5_CONFIG", write(t, dir, "bad.conf", "[libdefaults]\nticket_lifetime = x\n"))}, ErrConfig, "bad.conf"},
		"includes itself":   {Options{LookupEnv: environment("KRB5_CONFIG", write(t, dir, "loop.conf", "include "+dir+"/loop.conf\n"))}, ErrConfig, "more than 100 files"},
	} {
		_, err := New(tc.o)
		if !errors.Is(err, tc.kind) || err != nil && !strings.Contains(err.Error(), tc.text) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && bytes.Contains([]byte(err.Error()), secret[len(secret)-36:len(secret)-20]) {
			t.Errorf("%s: the error has bytes of the key", name)
		}
	}
}

// A krb5.conf as distributions have it: with includes, sections that come twice, what only C reads.
func TestProfile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "d/realm_x", "[realms]\nX = {\n  kdc = a.example:750\n  kdc = b.example\n  auth_to_local = RULE:[1:$1]\n}\n[libdefaults]\n default_realm = NEVER\n")
	write(t, dir, "d/y.conf", "[realms]\nY = {\n kdc = y.example\n}\n[domain_realm]\n.y.example = Y\n")
	write(t, dir, "d/ignored.rpmsave", "[libdefaults]\ndefault_realm = Z\n")
	main := write(t, dir, "krb5.conf", "# main\n[logging]\n default = FILE:/x\n[libdefaults]\n default_realm = X # the one\n dns_lookup_kdc = false\n forwardable = true\n"+
		"includedir "+dir+"/d\nincludedir "+dir+"/none\n[appdefaults]\n pam = {\n debug = false\n }\n[domain_realm]\n y.example = Y\n")
	s, err := loadSettings(environment("KRB5_CONFIG", dir+"/none:"+main))
	if err != nil {
		t.Fatal(err)
	}
	if s.LibDefaults.DefaultRealm != "X" || s.dns || !s.LibDefaults.Forwardable {
		t.Errorf("%+v", s.LibDefaults)
	}
	for realm, want := range map[string]string{"X": "a.example:750 b.example:88", "Y": "y.example:88"} {
		got, err := s.kdcs(t.Context(), realm)
		if err != nil || len(got) != len(strings.Fields(want)) {
			t.Errorf("%s: %q, %v", realm, got, err)
		}
		for _, address := range got {
			if !strings.Contains(want, address) {
				t.Errorf("%s: %s", realm, address)
			}
		}
	}
	if _, err := s.kdcs(t.Context(), "Z"); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "no KDC of realm Z") {
		t.Error(err)
	}
	for host, want := range map[string]string{"a.y.example": "Y", "Y.example": "Y", "z.example": "X"} {
		if got := s.realmOf(host); got != want {
			t.Errorf("%s is of %s, want %s", host, got, want)
		}
	}
}
