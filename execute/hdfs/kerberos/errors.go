package kerberos

import (
	"errors"
	"fmt"

	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/messages"
)

// Kinds of errors, to be told with [errors.Is]. Each text says what is wrong and what to do.
var (
	ErrConfig   = errors.New("no usable Kerberos configuration") // krb5.conf, flags, environment
	ErrNoTicket = errors.New("no Kerberos ticket")               // nobody has logged in
	ErrExpired  = errors.New("the Kerberos ticket is expired")   // and there is no keytab to get another
	ErrKeytab   = errors.New("bad keytab")                       // unreadable, without the principal, or with old keys
	ErrUnknown  = errors.New("unknown Kerberos principal")       // the KDC does not know the user or the service
	ErrSkew     = errors.New("clocks differ too much")           // of this host and the KDC or the server
	ErrNoKDC    = errors.New("no answer from a KDC")             // none is configured for the realm, or none answers
	ErrRefused  = errors.New("refused by the KDC")               // anything else that it answers
	ErrServer   = errors.New("not the expected server")          // its proof, or a message of it, is not right
	errDefect   = errors.New("malformed message")
)

// Temporary tells whether the same may work a moment later. A KDC that does not answer is all that
// does.
func Temporary(err error) bool { return errors.Is(err, ErrNoKDC) }

// Ours tells whether err comes from this package.
func Ours(err error) bool {
	for _, kind := range []error{ErrConfig, ErrNoTicket, ErrExpired, ErrKeytab, ErrUnknown, ErrSkew, ErrNoKDC, ErrRefused, ErrServer, errDefect} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

func errorf(kind error, format string, args ...any) error {
	return fmt.Errorf("%w: %w", kind, fmt.Errorf(format, args...))
}

const skewAdvice = "set the clocks of both hosts (chronyd, ntpd); Kerberos lets them differ by five minutes"

// ofUser says what the KDC answered to the user's own login.
func ofUser(e *messages.KRBError, who, realm, keytab string) error {
	switch e.ErrorCode {
	case errorcode.KDC_ERR_C_PRINCIPAL_UNKNOWN:
		return errorf(ErrUnknown, "the KDC of realm %s does not know %s: check the name and the realm (klist -kt %s lists what is in the keytab)", realm, who, keytab)
	case errorcode.KDC_ERR_PREAUTH_FAILED, errorcode.KRB_AP_ERR_BAD_INTEGRITY:
		return errorf(ErrKeytab, "the KDC of realm %s does not accept the key of %s in %s: the password was changed since; export the keytab again", realm, who, keytab)
	case errorcode.KDC_ERR_CLIENT_REVOKED:
		return errorf(ErrRefused, "%s is locked or disabled in realm %s", who, realm)
	case errorcode.KDC_ERR_KEY_EXPIRED, errorcode.KDC_ERR_NAME_EXP:
		return errorf(ErrRefused, "the account or the password of %s is expired in realm %s", who, realm)
	case errorcode.KDC_ERR_WRONG_REALM:
		return errorf(ErrUnknown, "the KDC of realm %s says that %s belongs to realm %q: name the principal with that", realm, who, e.CRealm)
	}
	return ofKDC(e, realm)
}

// ofService says what the KDC answered to the question for a ticket of a service.
func ofService(e *messages.KRBError, service, realm string) error {
	switch e.ErrorCode {
	case errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN:
		return errorf(ErrUnknown, "the KDC of realm %s does not know the service %s: check dfs.namenode.kerberos.principal, and that _HOST stands for the name that the server has in Kerberos", realm, service)
	case errorcode.KRB_AP_ERR_TKT_EXPIRED:
		return errorf(ErrExpired, "the KDC of realm %s takes the user's ticket for expired: log in again with kinit, or use a keytab", realm)
	case errorcode.KRB_AP_ERR_BAD_INTEGRITY, errorcode.KRB_AP_ERR_MODIFIED, errorcode.KRB_AP_ERR_BADKEYVER:
		return errorf(ErrNoTicket, "the KDC of realm %s does not accept the user's ticket: it is another KDC's; log in again", realm)
	}
	return ofKDC(e, realm)
}

func ofKDC(e *messages.KRBError, realm string) error {
	switch e.ErrorCode {
	case errorcode.KRB_AP_ERR_SKEW:
		return errorf(ErrSkew, "the clock of this host and that of the KDC of realm %s: %s", realm, skewAdvice)
	case errorcode.KDC_ERR_ETYPE_NOSUPP:
		return errorf(ErrRefused, "the KDC of realm %s has no kind of encryption that is asked for: it must have AES keys, and krb5.conf must not exclude AES", realm)
	}
	return errorf(ErrRefused, "realm %s: %s", realm, errorcode.Lookup(e.ErrorCode))
}

// protect turns a panic of the library over what came from outside into an error: it trusts lengths
// in places. What the panic says is left out, as it may hold bytes of a secret.
func protect(do func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errDefect
		}
	}()
	return do()
}
