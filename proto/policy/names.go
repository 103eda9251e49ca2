package policy

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Nameservice is the logical name of an HA pair, or host:port without HA.
type Nameservice string

// Logical tells a logical name from host:port.
func (n Nameservice) Logical() bool { return !strings.Contains(string(n), ":") }

func (n *Nameservice) set(v value) error {
	if err := v.wantText("a nameservice"); err != nil {
		return err
	}
	if err := checkAuthority(v.text); err != nil {
		return err
	}
	if _, err := netip.ParseAddr(v.text); err == nil {
		return fmt.Errorf("%q is an address; write the logical nameservice, or host:port without HA", v.text)
	}
	*n = Nameservice(v.text)
	return nil
}

func (n *Nameservice) yaml() string { return quote(string(*n)) }

// Authority is what stands between hdfs:// and the path of a URI.
type Authority string

func (a *Authority) set(v value) error {
	if err := v.wantText("an authority, such as nameservice2 or host:8020"); err != nil {
		return err
	}
	if v.text == string(v.ns) {
		return fmt.Errorf("%q is this cluster's own nameservice", v.text)
	}
	*a = Authority(v.text)
	return checkAuthority(v.text)
}

func (a *Authority) yaml() string { return quote(string(*a)) }

// checkAuthority checks a name, or host:port. IPv6 addresses are not among them:
// Hadoop does not know them.
func checkAuthority(s string) error {
	host, port, colon := strings.Cut(s, ":")
	if colon {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
			return fmt.Errorf("%q has no port from 1 to 65535 after the colon; write a nameservice without scheme and slashes, or host:port", s)
		}
	}
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '-' && r != '_'
	}
	if host == "" || strings.ContainsFunc(host, other) || strings.Trim(host, ".-") != host {
		return fmt.Errorf("%q is neither a nameservice, such as nameservice1, nor host:port", s)
	}
	return nil
}

// Path is a path in HDFS: absolute, clean, not the root directory, without scheme
// and authority.
type Path string

func (p *Path) set(v value) error {
	if err := v.wantText("a path"); err != nil {
		return err
	}
	s, err := CleanPath(v.text, v.ns, true)
	*p = Path(s)
	return err
}

func (p *Path) yaml() string { return quote(string(*p)) }

// Holds tells whether other is p or lies below it: /a/b holds /a/b/c, not /a/bc.
func (p Path) Holds(other Path) bool {
	return p == other || len(other) > len(p) && other[len(p)] == '/' && other[:len(p)] == p
}

// AnyPath gives the path that a person asks about, in the form in which others are
// compared with it: absolute or a URI of this cluster, with single slashes, "/"
// too. Names have any bytes; what no path of an image has (".", "..", .snapshot,
// .reserved) is an error, and so is another cluster.
func AnyPath(s string, ns Nameservice) (Path, error) {
	rest, _, err := cutAuthority(s, ns)
	switch {
	case err != nil:
		return "", err
	case !strings.HasPrefix(rest, "/"):
		return "", fmt.Errorf("%q is not absolute: a path starts with /", s)
	}
	var clean strings.Builder
	for name := range strings.SplitSeq(rest, "/") {
		switch {
		case name == "":
			continue
		case name == "." || name == "..":
			return "", fmt.Errorf("%q has the component %q", s, name)
		case slices.Contains(special, name):
			return "", fmt.Errorf("%q leads through %s, which is no directory of the image", s, name)
		}
		clean.WriteString("/" + name)
	}
	if clean.Len() == 0 {
		return "/", nil
	}
	return Path(clean.String()), nil
}

// below gives the first-level name that leads from p to other, which lies below it.
func (p Path) below(other Path) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(string(other), string(p)+"/"), "/")
	return first
}

// special are names that HDFS answers itself: nothing there can be moved.
var special = []string{".snapshot", ".reserved"}

// CleanPath normalises a path or URI of this cluster. A person wrote it if wildcards
// are refused: one would silently match nothing, for no path is a pattern. An error
// says what is wrong with s, which it quotes.
func CleanPath(s string, ns Nameservice, refuseWildcards bool) (string, error) {
	rest, at, err := cutAuthority(s, ns)
	if err != nil {
		return "", err
	}
	fail := func(offset int, format string, args ...any) (string, error) {
		return "", &offsetError{at + utf8.RuneCountInString(rest[:offset]), fmt.Sprintf(format, args...)}
	}
	if !strings.HasPrefix(rest, "/") {
		return fail(0, "%q is not absolute: a path starts with /", s)
	}
	var clean strings.Builder
	for i := 0; i < len(rest); {
		name, _, _ := strings.Cut(rest[i+1:], "/")
		start := i + 1
		i = start + len(name)
		switch name {
		case "":
			continue // doubled or trailing slash
		case ".", "..":
			return fail(start, "%q has the component %q", s, name)
		}
		if slices.Contains(special, name) {
			return fail(start, "%q leads through %s, where nothing can be moved", s, name)
		}
		// HDFS refuses colons. It takes control characters, but nobody means one in a policy.
		if n := strings.IndexFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == ':' }); n >= 0 {
			return fail(start+n, "%q has a control character or colon, which no path in a policy may have", s)
		}
		if n := strings.IndexAny(name, "*?[]{}"); n >= 0 && refuseWildcards {
			return fail(start+n, "%q has the wildcard %q: a path names one place", s, name[n:n+1])
		}
		clean.WriteString("/" + name)
	}
	if clean.Len() == 0 {
		return fail(0, "%q is the root directory of HDFS", s)
	}
	return clean.String(), nil
}

// cutAuthority removes scheme and authority, which must be this cluster's. at is
// how many characters were removed.
func cutAuthority(s string, ns Nameservice) (rest string, at int, err error) {
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok || strings.Contains(scheme, "/") {
		return s, 0, nil
	}
	if scheme != "hdfs" || !strings.HasPrefix(rest, "/") {
		return "", 0, fmt.Errorf("%q is neither an absolute path nor a URI of HDFS such as %s", s, uri(ns, "/path"))
	}
	authority, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return rest, len("hdfs:"), nil
	}
	authority, rest, ok = strings.Cut(authority, "/")
	rest = "/" + rest
	if !ok {
		rest = "/"
	}
	at = utf8.RuneCountInString("hdfs://" + authority)
	if authority == "" || ns == "" || sameAuthority(authority, ns) { // without a nameservice that is what is reported
		return rest, at, nil
	}
	if _, bad := netip.ParseAddr(authority); ns.Logical() && (bad == nil || strings.ContainsAny(authority, ".:")) {
		return "", 0, &offsetError{len("hdfs://"), fmt.Sprintf("%q names the host %q; the cluster's logical URI is %s", s, authority, uri(ns, rest))}
	}
	return "", 0, &offsetError{len("hdfs://"), fmt.Sprintf("%q is on %q; this policy is for nameservice %q", s, authority, string(ns))}
}

func uri(ns Nameservice, rest string) string { return "hdfs://" + string(ns) + rest }

// sameAuthority knows that a host without port means the usual port.
func sameAuthority(authority string, ns Nameservice) bool {
	return authority == string(ns) || !ns.Logical() && authority+":8020" == string(ns)
}

// Name is the exact name of an entry of a root. Wildcards have no meaning in it.
type Name string

func (n *Name) set(v value) error {
	if err := v.wantText("a name"); err != nil {
		return err
	}
	if err := CheckName(v.text); err != nil {
		return err
	}
	*n = Name(v.text)
	return nil
}

func (n *Name) yaml() string { return quote(string(*n)) }

// CheckName tells what keeps a text from being the name of one entry of a directory.
func CheckName(s string) error {
	switch {
	case s == "":
		return fmt.Errorf("an empty name")
	case s == "." || s == "..":
		return fmt.Errorf("%q is no name", s)
	case strings.ContainsAny(s, "/"):
		return &offsetError{utf8.RuneCountInString(s[:strings.Index(s, "/")]), fmt.Sprintf("%q is a path; an exact first-level name has no slash", s)}
	}
	return nil
}

// Glob is a name in which * stands for any characters and ? for one.
type Glob string

// minLiteral is how many characters of a pattern must be no wildcards. One is not
// enough: *-* or *.* are nearly everything.
const minLiteral = 2

func (g *Glob) set(v value) error {
	if err := v.wantText("a name or pattern"); err != nil {
		return err
	}
	if err := CheckName(v.text); err != nil {
		return err
	}
	if n := strings.IndexAny(v.text, `[]{}\`); n >= 0 {
		return &offsetError{utf8.RuneCountInString(v.text[:n]), fmt.Sprintf("%q: only * and ? are wildcards; write a list of names instead of %q", v.text, v.text[n:n+1])}
	}
	literal := strings.NewReplacer("*", "", "?", "").Replace(v.text)
	if literal != v.text && utf8.RuneCountInString(literal) < minLiteral {
		return fmt.Errorf("%q matches nearly everything; beside wildcards a pattern needs %d characters", v.text, minLiteral)
	}
	*g = Glob(v.text)
	return nil
}

func (g *Glob) yaml() string { return quote(string(*g)) }

// Match tells whether a name fits.
func (g Glob) Match(name string) bool {
	// A pattern without brackets and backslashes, and a name has no slash: no error.
	ok, _ := path.Match(string(g), name)
	return ok
}

// File is the name of a file on this machine. Where it is relative, it is so to
// the directory of the policy file.
type File string

func (f *File) set(v value) error {
	if err := v.wantText("the name of a file"); err != nil {
		return err
	}
	if v.text == "" || strings.ContainsFunc(v.text, unicode.IsControl) {
		return fmt.Errorf("%q is no name of a file", v.text)
	}
	*f = File(v.text)
	return nil
}

func (f *File) yaml() string { return quote(string(*f)) }

// Reason is why a person decided something.
type Reason string

func (r *Reason) set(v value) error {
	if err := v.wantText("a reason"); err != nil {
		return err
	}
	if strings.TrimSpace(v.text) == "" {
		return fmt.Errorf("an empty reason")
	}
	*r = Reason(v.text)
	return nil
}

func (r *Reason) yaml() string { return quote(string(*r)) }
