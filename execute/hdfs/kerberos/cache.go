package kerberos

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// maxFile bounds a keytab, a credential cache and a krb5.conf. Real ones have some kilobytes.
const maxFile = 4 << 20

// readSmall reads a regular file.
func readSmall(path string) ([]byte, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() { // a pipe would wait for whoever writes it
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	}
	return b, err
}

// loadKeytab reads a keytab and requires that it has an AES key of the principal.
func loadKeytab(path string, who Principal) (*keytab.Keytab, error) {
	b, err := readSmall(path)
	switch {
	case errors.Is(err, os.ErrPermission):
		return nil, errorf(ErrKeytab, "%w: the user of this process must be able to read it", err)
	case err != nil:
		return nil, errorf(ErrKeytab, "%w", err)
	}
	kt := keytab.New()
	// What the library says of a damaged file has its bytes in it, and so its keys.
	if err := protect(func() error { return kt.Unmarshal(b) }); err != nil || len(kt.Entries) == 0 {
		return nil, errorf(ErrKeytab, "%s is no keytab, or %w", path, errMalformed)
	}
	known := false
	for _, e := range kt.Entries {
		if (Principal{Parts: e.Principal.Components, Realm: e.Principal.Realm}).equal(who) {
			known = true
			if strong(e.Key.KeyType) {
				return kt, nil
			}
		}
	}
	if known {
		return nil, errorf(ErrKeytab, "%s has no AES key of %s: export it again with aes256-cts-hmac-sha1-96", path, who)
	}
	return nil, errorf(ErrKeytab, "%s has no key of %s: klist -kt %[1]s lists what it has; the realm counts, and case does", path, who)
}

// ticket is one with its session key, of a service or of the KDC.
type ticket struct {
	messages.Ticket
	key        types.EncryptionKey
	start, end time.Time
	realm      string // of the KDC that takes it, if it is one of those
}

// stale tells whether it is time for another one: four fifths of its life are over. Then there is
// time left to ask again, should the KDC not answer.
func (t *ticket) stale(now time.Time) bool { return now.Sub(t.start) > t.end.Sub(t.start)*4/5 }

// over tells whether a server would refuse it, or may by the time that it arrives there.
func (t *ticket) over(now time.Time) bool { return !now.Add(time.Second).Before(t.end) }

// loadCache reads the ticket of the KDC from a credential cache of files (version 3 or 4, see the
// MIT documentation of its format), and whose it is.
func loadCache(path string) (*ticket, Principal, error) {
	b, err := readSmall(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, Principal{}, errorf(ErrNoTicket, "there is no credential cache %s: log in with kinit, or name a keytab and its principal", path)
	case err != nil:
		return nil, Principal{}, errorf(ErrNoTicket, "credential cache: %w", err)
	}
	t, who, err := parseCache(b)
	if err != nil {
		return nil, who, errorf(ErrNoTicket, "credential cache %s: %w; log in again with kinit", path, err)
	}
	return t, who, nil
}

func parseCache(b []byte) (*ticket, Principal, error) {
	r := &cacheReader{b: b}
	head := r.take(2)
	if r.bad || head[0] != 5 || head[1] != 3 && head[1] != 4 {
		return nil, Principal{}, errors.New("it is none of version 3 or 4")
	}
	r.version = head[1]
	if r.version == 4 {
		r.take(int(r.u16()))
	}
	who := r.principal()
	var best *ticket
	for !r.bad && len(r.b) > 0 {
		c := r.credential()
		if r.bad || c.service.Parts[0] != ticketService || !c.client.equal(who) {
			continue
		}
		if len(c.service.Parts) != 2 || c.service.Parts[1] != who.Realm || best != nil && !c.end.After(best.end) {
			continue
		}
		t := &ticket{key: c.key, start: c.start, end: c.end, realm: who.Realm}
		if t.start.Unix() == 0 {
			t.start = c.authenticated
		}
		if protect(func() error { return t.Unmarshal(c.ticket) }) != nil {
			return nil, who, errMalformed
		}
		best = t
	}
	switch {
	case r.bad:
		return nil, who, errMalformed
	case best == nil:
		return nil, who, fmt.Errorf("it has no ticket of the KDC for %s", who)
	}
	return best, who, nil
}

// cacheReader takes a cache apart; bad says that it ended too early. Numbers are big endian.
type cacheReader struct {
	b       []byte
	version byte
	bad     bool
}

func (r *cacheReader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.bad, r.b = true, nil
		return make([]byte, 4)
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

func (r *cacheReader) u16() uint16 { return binary.BigEndian.Uint16(r.take(2)) }
func (r *cacheReader) u32() uint32 { return binary.BigEndian.Uint32(r.take(4)) }

// data is bytes behind their length.
func (r *cacheReader) data() []byte {
	n := r.u32()
	if n > maxFile {
		r.bad, r.b = true, nil
		return nil
	}
	return r.take(int(n))
}

func (r *cacheReader) time() time.Time { return time.Unix(int64(r.u32()), 0) }

func (r *cacheReader) principal() Principal {
	r.u32() // the type of name
	n := r.u32()
	p := Principal{Realm: string(r.data())}
	for i := uint32(0); i < n && !r.bad; i++ {
		p.Parts = append(p.Parts, string(r.data()))
	}
	if len(p.Parts) == 0 {
		p.Parts = []string{""}
	}
	return p
}

// cached is one credential of a cache.
type cached struct {
	client, service           Principal
	key                       types.EncryptionKey
	authenticated, start, end time.Time
	ticket                    []byte
}

func (r *cacheReader) credential() cached {
	c := cached{client: r.principal(), service: r.principal()}
	c.key.KeyType = int32(r.u16())
	if r.version == 3 {
		r.u16() // the same once more
	}
	c.key.KeyValue = r.data()
	c.authenticated, c.start, c.end = r.time(), r.time(), r.time()
	r.time()      // renewable until
	r.take(1)     // whether the key is of another ticket
	r.u32()       // flags
	for range 2 { // addresses, authorization data: a type and bytes each
		n := r.u32()
		for i := uint32(0); i < n && !r.bad; i++ {
			r.u16()
			r.data()
		}
	}
	c.ticket = r.data()
	r.data() // a second ticket
	return c
}

// cacheFile gives the file that a name of a cache stands for. Only files can be read.
func cacheFile(name, from string) (string, error) {
	kind, rest, has := strings.Cut(name, ":")
	switch {
	case !has || strings.HasPrefix(name, "/"):
		return name, nil
	case kind == "FILE":
		return rest, nil
	}
	return "", errorf(ErrConfig, "the credential cache %q (%s) is of kind %s, which only Kerberos libraries of C read: "+
		"use a file (KRB5CCNAME=FILE:/path kinit), or name a keytab and its principal", name, from, kind)
}
