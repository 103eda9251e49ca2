package kerberos

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

// Options of a login. Keytab and Principal go together; without them it is a credential cache.
type Options struct {
	// Keytab is a file with the keys of Principal. The login then renews itself.
	Keytab string
	// Principal is the user: name@REALM, or name for the default realm of krb5.conf. Without a keytab
	// it may be given too: the credential cache must be of that user then.
	Principal string
	// LookupEnv reads the environment: KRB5_CONFIG, KRB5CCNAME; nil: os.LookupEnv.
	LookupEnv func(string) (string, bool)
	// Dial opens connections to KDCs; nil: directly.
	Dial DialFunc
	// Now is the time; nil: time.Now.
	Now func() time.Time
}

// Login is a user who can prove who he is. It asks the KDC when somebody needs a ticket, and again
// when four fifths of its life are over, with the keytab or from what the cache holds by then.
// It may be used by many goroutines.
type Login struct {
	opts Options
	kdc  kdc
	who  Principal
	file string // keytab or cache
	now  func() time.Time

	turn    chan struct{} // one asks the KDC at a time; the others wait within their own time
	tgt     *ticket       // the user's, of the KDC; of whoever has the turn
	mu      sync.Mutex
	expires time.Time          // when tgt does
	tickets map[string]*ticket // of services
}

// New reads krb5.conf and the keytab or the credential cache. It asks no KDC yet.
func New(o Options) (*Login, error) {
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s, err := loadSettings(o.LookupEnv)
	if err != nil {
		return nil, err
	}
	l := &Login{opts: o, kdc: kdc{settings: s, dial: o.Dial}, now: o.Now, turn: make(chan struct{}, 1), tickets: make(map[string]*ticket)}
	if o.Principal != "" {
		if l.who, err = ParsePrincipal(o.Principal); err != nil {
			return nil, errorf(ErrConfig, "%w", err)
		}
		if l.who.Realm == "" {
			l.who.Realm = s.LibDefaults.DefaultRealm
		}
		if l.who.Realm == "" {
			return nil, errorf(ErrConfig, "%s has no default_realm: name the principal with its realm, %s@REALM", s.file, o.Principal)
		}
	}
	if o.Keytab != "" {
		if o.Principal == "" {
			return nil, errorf(ErrConfig, "a keytab needs the principal whose keys are meant: klist -kt %s lists those that it has", o.Keytab)
		}
		l.file = o.Keytab
		_, err := loadKeytab(l.file, l.who) // it is read again when it is needed: somebody may replace it
		return l, err
	}
	if l.file, err = cacheFile(s.cacheName(o.LookupEnv)); err != nil {
		return nil, err
	}
	if l.tgt, err = l.cached(); err == nil {
		l.expires = l.tgt.end
	}
	return l, err
}

// Expires is when the user's ticket does; the zero time if he has none yet. With a keytab there is another
// one before.
func (l *Login) Expires() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.expires
}

// Principal is the user.
func (l *Login) Principal() Principal { return l.who }

// DefaultRealm is that of krb5.conf; "" if it has none.
func (l *Login) DefaultRealm() string { return l.kdc.LibDefaults.DefaultRealm }

// Realm gives the realm of a host by krb5.conf.
func (l *Login) Realm(host string) string { return l.kdc.realmOf(host) }

// Source says where the user's keys or ticket come from, for people.
func (l *Login) Source() string {
	if l.opts.Keytab != "" {
		return "keytab " + l.file
	}
	return "credential cache " + l.file
}

// cached reads the cache. It must be of the same user as before: another one would make a run
// of one user end as another's.
func (l *Login) cached() (*ticket, error) {
	t, who, err := loadCache(l.file)
	if err != nil {
		return nil, err
	}
	if l.who.Realm == "" {
		l.who = who // the first time, before anybody else has it
	}
	if !who.equal(l.who) {
		return nil, errorf(ErrNoTicket, "credential cache %s is of %s, not of %s: log in as the latter, or use a cache of its own (KRB5CCNAME)", l.file, who, l.who)
	}
	if t.over(l.now()) {
		return nil, errorf(ErrExpired, "that of %s in credential cache %s expired at %s: log in again with kinit, or use a keytab, which renews itself",
			who, l.file, t.end.UTC().Format(time.RFC3339))
	}
	return t, nil
}

// ticket gives one of a service that lasts for a while, or, if there is no better one to be had, one
// that is not over yet.
func (l *Login) ticket(ctx context.Context, of Principal) (*ticket, error) {
	name := of.String()
	if t := l.known(name); t != nil && !t.stale(l.now()) {
		return t, nil
	}
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return nil, errorf(ErrNoKDC, "waiting for a ticket of %s: %w", of, ctx.Err())
	}
	old := l.known(name)
	if old != nil && !old.stale(l.now()) { // somebody else got it meanwhile
		return old, nil
	}
	t, err := l.get(ctx, of)
	if err != nil {
		if old != nil && !old.over(l.now()) {
			return old, nil
		}
		return nil, err
	}
	l.mu.Lock()
	l.tickets[name] = t
	l.mu.Unlock()
	return t, nil
}

func (l *Login) known(name string) *ticket {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tickets[name]
}

// get asks the KDC, once more with a new ticket of its own if it does not take the old one. Whoever
// calls it has the turn.
func (l *Login) get(ctx context.Context, of Principal) (*ticket, error) {
	tgt, fresh, err := l.user(ctx)
	if err != nil {
		return nil, err
	}
	t, err := l.kdc.service(ctx, l.who, tgt, of)
	if err == nil || fresh || Temporary(err) {
		return t, err
	}
	l.tgt = nil
	if tgt, _, again := l.user(ctx); again == nil {
		return l.kdc.service(ctx, l.who, tgt, of)
	}
	return nil, err
}

// user gives the user's ticket of the KDC, and whether it is new.
func (l *Login) user(ctx context.Context) (t *ticket, fresh bool, err error) {
	if l.tgt != nil && !l.tgt.stale(l.now()) {
		return l.tgt, false, nil
	}
	if l.opts.Keytab != "" {
		kt, err := loadKeytab(l.file, l.who)
		if err == nil {
			t, err = l.kdc.login(ctx, l.who, kt, l.file)
		}
		if err != nil && (l.tgt == nil || l.tgt.over(l.now())) {
			return nil, false, err
		}
	} else if t, err = l.cached(); err != nil && (l.tgt == nil || l.tgt.over(l.now())) {
		return nil, false, err
	}
	if t == nil {
		return l.tgt, false, nil // still good for a while
	}
	l.tgt = t
	l.mu.Lock()
	l.expires = t.end
	l.mu.Unlock()
	return t, true, nil
}

// Check gets the user's ticket now, to tell early what is wrong with it.
func (l *Login) Check(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return errorf(ErrNoKDC, "%w", ctx.Err())
	}
	_, _, err := l.user(ctx)
	return err
}

// String is what may be printed of it.
func (l *Login) String() string { return fmt.Sprintf("%s (%s)", l.who, l.Source()) }
