package hdfs

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"fsweep/execute/hdfs/kerberos"
)

// Rules of hadoop.security.auth_to_local (class KerberosName of Hadoop), which make user names of
// principals: DEFAULT, or RULE:[number of parts:format](pattern)s/pattern/replacement/g/L. Patterns are
// Java's; those that Go does not have (look-ahead, back references) are refused.
var localRule = regexp.MustCompile(`^\s*(DEFAULT|RULE:\[(\d+):([^\]]*)\](?:\(([^)]*)\))?(?:s/([^/]*)/([^/]*)/(g)?)?)/?(L)?\s*`)

// shortName gives the user that NameNodes take a principal for, if their rules are those of the client's
// configuration; whether they are, is found out later.
func shortName(who kerberos.Principal, defaultRealm, rules, mechanism string) (string, error) {
	const key = "hadoop.security.auth_to_local"
	if mechanism != "" && !strings.EqualFold(mechanism, "hadoop") && !strings.EqualFold(mechanism, "mit") {
		return "", fmt.Errorf("configuration key %s.mechanism: %q is neither hadoop nor mit", key, mechanism)
	}
	if strings.TrimSpace(rules) == "" {
		rules = "DEFAULT"
	}
	for rest := rules; strings.TrimSpace(rest) != ""; {
		m := localRule.FindStringSubmatchIndex(rest)
		if m == nil {
			return "", fmt.Errorf("configuration key %s: %q is no rule", key, firstLine(rest))
		}
		group := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return rest[m[2*i]:m[2*i+1]]
		}
		rule := localMapping{format: group(3), match: group(4), from: group(5), to: group(6), replaces: m[10] >= 0, all: group(7) != "", lower: group(8) != ""}
		var name string
		var err error
		if group(1) == "DEFAULT" {
			if who.Realm == defaultRealm {
				name = who.Parts[0]
			}
		} else if n, bad := strconv.Atoi(group(2)); bad == nil && n == len(who.Parts) {
			name, err = rule.apply(who)
		}
		if err != nil {
			return "", fmt.Errorf("configuration key %s: %w", key, err)
		}
		if name != "" {
			if strings.ContainsAny(name, "/@") && !strings.EqualFold(mechanism, "mit") {
				return "", fmt.Errorf("configuration key %s makes %q of %s, which is no short name", key, name, who)
			}
			return name, nil
		}
		rest = rest[m[1]:]
	}
	return "", fmt.Errorf("no rule of configuration key %s makes a user name of %s: the rule DEFAULT is for realm %q alone, which is the default_realm of krb5.conf", key, who, defaultRealm)
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// localMapping is a RULE.
type localMapping struct {
	format, match, from, to string
	replaces, all, lower    bool
}

var localPart = regexp.MustCompile(`\$(\d)`)

// apply gives "" if the rule is not for that principal.
func (r localMapping) apply(who kerberos.Principal) (string, error) {
	var bad error
	base := localPart.ReplaceAllStringFunc(r.format, func(ref string) string {
		n := int(ref[1] - '0')
		switch {
		case n == 0:
			return who.Realm
		case n <= len(who.Parts):
			return who.Parts[n-1]
		}
		bad = fmt.Errorf("rule [%d:%s] asks for part %d", len(who.Parts), r.format, n)
		return ""
	})
	if bad != nil {
		return "", bad
	}
	if r.match != "" {
		re, err := regexp.Compile(`^(?:` + r.match + `)$`)
		if err != nil {
			return "", fmt.Errorf("pattern %q is not supported", r.match)
		}
		if !re.MatchString(base) {
			return "", nil
		}
	}
	if r.replaces {
		re, err := regexp.Compile(r.from)
		if err != nil {
			return "", fmt.Errorf("pattern %q is not supported", r.from)
		}
		to := regexp.MustCompile(`\$(\d+)`).ReplaceAllString(r.to, "$${$1}") // Java's $1x is Go's ${1}x
		if at := re.FindStringSubmatchIndex(base); r.all {
			base = re.ReplaceAllString(base, to)
		} else if at != nil {
			base = base[:at[0]] + string(re.ExpandString(nil, to, base, at)) + base[at[1]:]
		}
	}
	if r.lower {
		base = strings.ToLower(base)
	}
	return base, nil
}
