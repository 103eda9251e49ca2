package kerberos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jcmturner/gokrb5/v8/config"
)

// defaultConf is where libraries look without KRB5_CONFIG.
const defaultConf = "/etc/krb5.conf"

// maxIncludes bounds how deep files of a krb5.conf include others, and how many there are.
const maxIncludes = 100

// settings are what a krb5.conf says.
type settings struct {
	*config.Config
	file  string
	cache string // default_ccache_name
	dns   bool   // KDCs may be looked up
}

// loadSettings reads the first file of a list that is there. KRB5_CONFIG may list several, of which
// MIT Kerberos joins all; so does this.
func loadSettings(lookup func(string) (string, bool)) (*settings, error) {
	list, from := defaultConf, ""
	if v, ok := lookup("KRB5_CONFIG"); ok && v != "" {
		list, from = v, " (KRB5_CONFIG)"
	}
	p := &profile{}
	found := false
	for file := range strings.SplitSeq(list, ":") {
		if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := p.file(file); err != nil {
			return nil, errorf(ErrConfig, "%s%s: %w", file, from, err)
		}
		found = true
	}
	if !found {
		return nil, errorf(ErrConfig, "there is no %s%s: it names the realm and its KDCs; copy it from a host of the cluster, or name another file with KRB5_CONFIG", list, from)
	}
	s := &settings{file: list, dns: true}
	var err error
	if perr := protect(func() error {
		s.Config, err = config.NewFromString(p.joined())
		return nil
	}); perr != nil {
		err = perr
	}
	var unsupported config.UnsupportedDirective
	if err != nil && !errors.As(err, &unsupported) {
		return nil, errorf(ErrConfig, "%s%s: %w", list, from, err)
	}
	for _, line := range slices.Backward(p.sections["libdefaults"]) { // of a key that is there twice, the first counts
		key, value, _ := strings.Cut(line, "=")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "default_ccache_name":
			s.cache = value
		case "dns_lookup_kdc":
			s.dns = !slices.Contains([]string{"false", "no", "n", "f", "0", "off"}, strings.ToLower(value))
		}
	}
	return s, nil
}

// profile joins files, section by section: the library would let a second [realms] replace the first,
// and knows no includes, with which the krb5.conf of most distributions begins.
type profile struct {
	sections map[string][]string
	order    []string
	files    int
}

func (p *profile) file(path string) error {
	if p.files++; p.files > maxIncludes {
		return fmt.Errorf("more than %d files are included", maxIncludes)
	}
	b, err := readSmall(path)
	if err != nil {
		return err
	}
	section := ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		switch {
		case word == "include":
			err = p.file(rest)
		case word == "includedir":
			err = p.directory(rest)
		case word == "module": // a library of C
		case line[0] == '[':
			section = strings.TrimRight(strings.Trim(line, "[] \t"), "]* \t")
		case section != "":
			p.add(section, line)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
	}
	return nil
}

// directory includes what MIT Kerberos does: names of letters, digits, dashes and underscores, and *.conf.
func (p *profile) directory(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
		if strings.TrimLeft(e.Name(), plain) == "" || strings.HasSuffix(e.Name(), ".conf") && e.Name()[0] != '.' {
			if err := p.file(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *profile) add(section, line string) {
	if p.sections == nil {
		p.sections = make(map[string][]string)
	}
	if _, ok := p.sections[section]; !ok {
		p.order = append(p.order, section)
	}
	p.sections[section] = append(p.sections[section], line)
}

// joined gives each section once. MIT Kerberos takes the first value of a key, the library the last
// one: so they come the other way round where no value has lines of its own.
func (p *profile) joined() string {
	var b strings.Builder
	for _, section := range p.order {
		lines := slices.Clone(p.sections[section])
		if section == "libdefaults" || section == "domain_realm" {
			slices.Reverse(lines)
		}
		fmt.Fprintf(&b, "[%s]\n%s\n", section, strings.Join(lines, "\n"))
	}
	return b.String()
}

// kdcs gives the addresses of the KDCs of a realm, in the order in which to try them.
func (s *settings) kdcs(ctx context.Context, realm string) ([]string, error) {
	var list []string
	for _, r := range s.Realms {
		if r.Realm == realm {
			list = append(list, r.KDC...)
		}
	}
	if len(list) > 0 {
		rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		return list, nil
	}
	if s.dns {
		_, found, err := net.DefaultResolver.LookupSRV(ctx, "kerberos", "tcp", realm)
		for _, srv := range found {
			list = append(list, net.JoinHostPort(strings.TrimSuffix(srv.Target, "."), strconv.Itoa(int(srv.Port))))
		}
		if len(list) > 0 {
			return list, nil
		}
		if err != nil && ctx.Err() != nil {
			return nil, errorf(ErrNoKDC, "of realm %s: %w", realm, err)
		}
	}
	return nil, errorf(ErrConfig, "no KDC of realm %s is known: %s has none under [realms], and DNS has none either; check the realm", realm, s.file)
}

// realmOf gives the realm that a host belongs to: that of [domain_realm], or the default one.
func (s *settings) realmOf(host string) string {
	if r := s.ResolveRealm(strings.ToLower(host)); r != "" {
		return r
	}
	return s.LibDefaults.DefaultRealm
}

// cacheName gives the credential cache to be read, and where it is named.
func (s *settings) cacheName(lookup func(string) (string, bool)) (name, from string) {
	if v, ok := lookup("KRB5CCNAME"); ok && v != "" {
		return v, "KRB5CCNAME"
	}
	uid := strconv.Itoa(os.Getuid())
	if s.cache == "" {
		return "/tmp/krb5cc_" + uid, "the default"
	}
	for _, name := range []string{"%{uid}", "%{euid}", "%{USERID}"} {
		s.cache = strings.ReplaceAll(s.cache, name, uid)
	}
	return strings.ReplaceAll(s.cache, "%{TEMP}", os.TempDir()), "default_ccache_name of " + s.file
}
