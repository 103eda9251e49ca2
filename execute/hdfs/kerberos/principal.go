package kerberos

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/types"
)

// Principal is a name in Kerberos: flink@EXAMPLE.ORG, hdfs/nn1.example.org@EXAMPLE.ORG.
type Principal struct {
	Parts []string // one or two: the name, and a host
	Realm string
}

// String gives it in the usual form.
func (p Principal) String() string {
	s := strings.Join(p.Parts, "/")
	if p.Realm != "" {
		s += "@" + p.Realm
	}
	return s
}

// ParsePrincipal takes one apart. The realm may be missing. Characters that need an escape are
// not supported: no NameNode maps such names to users.
func ParsePrincipal(s string) (Principal, error) {
	name, realm, has := strings.Cut(s, "@")
	bad := func(what string) (Principal, error) {
		return Principal{}, fmt.Errorf("%q is no Kerberos principal: %s", s, what)
	}
	switch {
	case !utf8.ValidString(s), strings.ContainsAny(s, "\\\" "), strings.IndexFunc(s, unicode.IsControl) >= 0:
		return bad("it has characters that are not supported")
	case has && realm == "", strings.ContainsAny(realm, "@/"):
		return bad("the realm is not right")
	}
	parts := strings.Split(name, "/")
	if len(parts) > 2 {
		return bad("it has more than two parts")
	}
	if slices.Contains(parts, "") {
		return bad("a part is empty")
	}
	return Principal{Parts: parts, Realm: realm}, nil
}

func (p Principal) equal(q Principal) bool { return p.String() == q.String() }

func (p Principal) user() types.PrincipalName {
	return types.PrincipalName{NameType: nametype.KRB_NT_PRINCIPAL, NameString: p.Parts}
}

func (p Principal) service() types.PrincipalName {
	kind := nametype.KRB_NT_SRV_HST
	if p.Parts[0] == ticketService {
		kind = nametype.KRB_NT_SRV_INST
	}
	return types.PrincipalName{NameType: kind, NameString: p.Parts}
}

// ticketService is the KDC itself, of which the tickets are that other tickets are got with.
const ticketService = "krbtgt"

func sameName(n types.PrincipalName, p Principal) bool {
	return strings.Join(n.NameString, "/") == strings.Join(p.Parts, "/")
}

var errMalformed = errors.New("it is damaged")
