package hdfs

import (
	"context"
	"fmt"
	"net"
	"path"
	"slices"
	"strings"

	"fsweep/execute"
	"fsweep/execute/hdfs/kerberos"
)

const (
	principalKey = "dfs.namenode.kerberos.principal"
	patternKey   = principalKey + ".pattern"
	hostWord     = "_HOST"
)

// services tells which principal a NameNode must have. Whoever answers at its address names one, and it is
// asked for a proof of that one, so a wrong one must not be believed: every service of the realm could
// prove what it is.
type services struct {
	name    kerberos.Principal // of the configuration, perhaps with _HOST
	pattern string             // what it must match in place of name
	realm   func(host string) string
	resolve func(ctx context.Context, host string) []string
}

func newServices(conf *Conf, login *kerberos.Login) (*services, error) {
	s := &services{realm: login.Realm, resolve: canonical}
	var err error
	if s.pattern, err = conf.Get(patternKey); err != nil {
		return nil, err
	}
	if s.pattern != "" {
		if strings.ContainsAny(s.pattern, `\^`) { // Hadoop's globs and Go's differ there
			return nil, fmt.Errorf("configuration key %s: %q has characters that are not supported", patternKey, s.pattern)
		}
		for _, p := range braces(s.pattern) {
			if _, err := path.Match(strings.ReplaceAll(p, "/", "\x00"), ""); err != nil {
				return nil, fmt.Errorf("configuration key %s: %q is no pattern", patternKey, s.pattern)
			}
		}
		return s, nil
	}
	v, err := conf.Get(principalKey)
	if err != nil {
		return nil, err
	}
	if v == "" {
		return nil, fmt.Errorf("the configuration has no %s, without which any server of the realm could pass for a NameNode: it stands in the hdfs-site.xml of the cluster", principalKey)
	}
	if s.name, err = kerberos.ParsePrincipal(v); err == nil && len(s.name.Parts) != 2 {
		err = fmt.Errorf("%q has no host", v)
	}
	if err != nil {
		return nil, fmt.Errorf("configuration key %s: %w", principalKey, err)
	}
	return s, nil
}

// principal gives the one to ask a ticket for, when a NameNode says that it is protocol/host. The realm is
// that of the configuration, or that of the host by krb5.conf.
func (s *services) principal(ctx context.Context, nn execute.NameNode, protocol, host string) (kerberos.Principal, error) {
	claimed, err := kerberos.ParsePrincipal(protocol + "/" + host)
	if err != nil || len(claimed.Parts) != 2 || claimed.Realm != "" {
		return claimed, fmt.Errorf("%w: it says that it is %q of host %q", errNotNameNode, protocol, host)
	}
	claimed.Realm = s.realm(host)
	if s.pattern != "" {
		for _, p := range braces(s.pattern) {
			ok, err := path.Match(strings.ReplaceAll(p, "/", "\x00"), strings.ReplaceAll(claimed.String(), "/", "\x00"))
			if err == nil && ok {
				return claimed, nil
			}
		}
		return claimed, fmt.Errorf("%w: it says that it is %s, which %s %q does not allow", errNotNameNode, claimed, patternKey, s.pattern)
	}
	if s.name.Realm != "" {
		claimed.Realm = s.name.Realm
	}
	wanted := []string{s.name.Parts[1]}
	if wanted[0] == hostWord {
		h, _, err := net.SplitHostPort(nn.Address)
		if err != nil {
			return claimed, err
		}
		wanted = append([]string{strings.ToLower(h)}, s.resolve(ctx, h)...)
	}
	if claimed.Parts[0] != s.name.Parts[0] || !slices.Contains(wanted, claimed.Parts[1]) {
		wanted = slices.Compact(wanted)
		return claimed, fmt.Errorf("%w: it says that it is %s/%s, and %s is %s, where the host is %s", errNotNameNode,
			claimed.Parts[0], claimed.Parts[1], principalKey, s.name, strings.Join(wanted, " or "))
	}
	return claimed, nil
}

// canonical gives the names that DNS has for the addresses of a host and that lead back to one of them, as
// Hadoop's client does (getCanonicalHostName).
func canonical(ctx context.Context, host string) []string {
	addrs := []string{host}
	if net.ParseIP(host) == nil {
		var err error
		if addrs, err = net.DefaultResolver.LookupHost(ctx, host); err != nil {
			return nil
		}
	}
	var names []string
	for _, a := range addrs {
		found, err := net.DefaultResolver.LookupAddr(ctx, a)
		if err != nil {
			continue
		}
		for _, name := range found {
			name = strings.ToLower(strings.TrimSuffix(name, "."))
			if back, err := net.DefaultResolver.LookupHost(ctx, name); err == nil && slices.Contains(back, a) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// maxAlternatives bounds what the braces of a pattern make.
const maxAlternatives = 1000

// braces gives the patterns without braces that one with braces stands for: {a,b}c is ac and bc.
func braces(p string) []string {
	out := []string{p}
	for i := 0; i < len(out) && len(out) < maxAlternatives; {
		open := strings.LastIndexByte(out[i], '{') // the innermost of the last ones
		if open < 0 {
			i++
			continue
		}
		n := strings.IndexByte(out[i][open:], '}')
		if n < 0 {
			i++
			continue
		}
		before, after := out[i][:open], out[i][open+n+1:]
		var with []string
		for choice := range strings.SplitSeq(out[i][open+1:open+n], ",") {
			with = append(with, before+choice+after)
		}
		out = append(append(append([]string(nil), out[:i]...), with...), out[i+1:]...)
	}
	return out
}
