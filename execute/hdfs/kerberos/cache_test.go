package kerberos

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// cacheOf writes a cache of version 4 by the description of its format: of alice@X, with entries for services
// that last until the given times.
func cacheOf(t testing.TB, entries ...any) []byte {
	t.Helper()
	be := binary.BigEndian
	data := func(b []byte, v string) []byte { return append(be.AppendUint32(b, uint32(len(v))), v...) }
	principal := func(b []byte, realm string, parts ...string) []byte {
		b = be.AppendUint32(be.AppendUint32(b, 1), uint32(len(parts)))
		b = data(b, realm)
		for _, p := range parts {
			b = data(b, p)
		}
		return b
	}
	b := []byte{5, 4, 0, 12, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0} // with the offset of the KDC's clock
	b = principal(b, "X", "alice")
	for i := 0; i < len(entries); i += 2 {
		service, end := strings.Split(entries[i].(string), "/"), entries[i+1].(int)
		b = principal(b, "X", "alice")
		b = principal(b, "X", service...)
		b = data(be.AppendUint16(b, 18), strings.Repeat("k", 32))
		for _, at := range []int{end - 100, 0, end, 0} { // authenticated, begins, ends, renewable
			b = be.AppendUint32(b, uint32(at))
		}
		b = append(b, 0, 0, 0, 0, 0)
		b = data(be.AppendUint16(be.AppendUint32(b, 1), 2), "\x7f\x00\x00\x01") // one address
		b = be.AppendUint32(b, 0)
		tk := messages.Ticket{TktVNO: 5, Realm: "X", SName: types.PrincipalName{NameType: 2, NameString: service}, EncPart: types.EncryptedData{EType: 18, Cipher: []byte("opaque")}}
		raw, err := tk.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		b = data(data(b, string(raw)), "")
	}
	return b
}

func TestCache(t *testing.T) {
	t.Parallel()
	// The newest one for the own KDC counts; configuration and services do not.
	b := cacheOf(t, "krbtgt/X", 1000, "hdfs/nn1", 9000, "krbtgt/X", 2000, "krbtgt/Y", 9000, "krbtgt/X", 1500)
	got, who, err := parseCache(b)
	if err != nil || who.String() != "alice@X" || got.end.Unix() != 2000 || got.start.Unix() != 1900 || string(got.key.KeyValue) != strings.Repeat("k", 32) || got.key.KeyType != 18 || got.realm != "X" || got.SName.PrincipalNameString() != "krbtgt/X" {
		t.Fatalf("%+v of %s: %v", got, who, err)
	}
	if got.stale(time.Unix(1980, 0)) || !got.stale(time.Unix(1981, 0)) || got.over(time.Unix(1998, 0)) || !got.over(time.Unix(1999, 0)) {
		t.Error("stale after four fifths, over a second before the end")
	}
	for n := range b {
		if got, _, err := parseCache(b[:n]); err == nil && got.end.Unix() > 2000 {
			t.Errorf("%d bytes: %+v", n, got)
		}
	}
	if _, _, err := parseCache(cacheOf(t, "hdfs/nn1", 9000)); err == nil || !strings.Contains(err.Error(), "no ticket of the KDC for alice@X") {
		t.Error(err)
	}
}

// A cache is read again when its ticket gets old; one that is another user's by then is refused.
func TestCacheIsReadAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, dir, "cc", string(cacheOf(t, "krbtgt/X", 2000)))
	now := time.Unix(1910, 0)
	l, err := New(Options{LookupEnv: environment("KRB5_CONFIG", write(t, dir, "krb5.conf", testConf), "KRB5CCNAME", file), Now: func() time.Time { return now }})
	if err != nil || l.Principal().String() != "alice@X" || l.Expires().Unix() != 2000 || l.String() != "alice@X (credential cache "+file+")" {
		t.Fatalf("%v: %v", l, err)
	}
	now = time.Unix(1990, 0) // nearly over, and there is no better one
	if err := l.Check(t.Context()); err != nil {
		t.Error(err)
	}
	now = time.Unix(2001, 0)
	if err := l.Check(t.Context()); !errors.Is(err, ErrExpired) || !strings.Contains(err.Error(), "expired at 1970-01-01T00:33:20Z") {
		t.Error(err)
	}
	write(t, dir, "cc", string(cacheOf(t, "krbtgt/X", 3000)))
	if err := l.Check(t.Context()); err != nil || l.Expires().Unix() != 3000 {
		t.Errorf("%v: until %v", err, l.Expires())
	}
	write(t, dir, "cc", strings.ReplaceAll(string(cacheOf(t, "krbtgt/X", 4000)), "alice", "mally"))
	now = time.Unix(3005, 0)
	if err := l.Check(t.Context()); !errors.Is(err, ErrNoTicket) || !strings.Contains(err.Error(), "is of mally@X, not of alice@X") {
		t.Error(err)
	}
}

// FuzzCache: no file makes it panic, or take memory for what is not there.
func FuzzCache(f *testing.F) {
	f.Add(cacheOf(f, "krbtgt/X", 2000, "a/b", 7))
	f.Add([]byte{5, 4, 0, 0, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{5, 3})
	f.Fuzz(func(_ *testing.T, b []byte) { _, _, _ = parseCache(b) })
}
