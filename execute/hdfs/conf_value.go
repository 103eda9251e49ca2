package hdfs

import (
	"fmt"
	"os/user"
	"regexp"
	"strings"
)

// maxSubstitutions is Hadoop's limit for one value.
const maxSubstitutions = 20

// variable is what Hadoop replaces: the leftmost ${…} without braces, dollars, blanks in it.
var variable = regexp.MustCompile(`\$\{[^}$ ]+\}`)

// Get gives the value of a key without blanks around it, with its variables
// replaced; "" if there is none. A variable that nothing defines is an error: Hadoop
// would go on with its name.
func (c *Conf) Get(key string) (string, error) {
	raw, ok := c.values[key]
	if !ok {
		return "", nil
	}
	v, err := c.substitute(raw)
	if err != nil {
		return "", fmt.Errorf("configuration key %s: %w", key, err)
	}
	return strings.TrimSpace(v), nil
}

// List gives a value that is a list with commas, without empty parts.
func (c *Conf) List(key string) ([]string, error) {
	v, err := c.Get(key)
	if err != nil {
		return nil, err
	}
	var list []string
	for part := range strings.SplitSeq(v, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list, nil
}

// Bool gives a value that is true or false, and otherwise if it is absent.
func (c *Conf) Bool(key string, otherwise bool) (bool, error) {
	v, err := c.Get(key)
	switch {
	case err != nil:
		return false, err
	case v == "":
		return otherwise, nil
	case strings.EqualFold(v, "true"):
		return true, nil
	case strings.EqualFold(v, "false"):
		return false, nil
	}
	return false, fmt.Errorf("configuration key %s: %q is neither true nor false", key, v)
}

// substitute follows Hadoop's rules: environment (${env.NAME}, with defaults), then the
// properties of the Java VM (here only the user's name), then other keys; one after
// the other, at most 20 times, and never the same variable twice.
func (c *Conf) substitute(value string) (string, error) {
	seen := map[string]bool{}
	for range maxSubstitutions {
		at := variable.FindStringIndex(value)
		if at == nil {
			return value, nil
		}
		ref := value[at[0]:at[1]]
		if seen[ref] {
			return "", fmt.Errorf("variable %s stands in it twice or refers to itself; Hadoop replaces it only once", ref)
		}
		seen[ref] = true
		with, ok := c.lookUp(ref[2 : len(ref)-1])
		if !ok {
			return "", fmt.Errorf("variable %s is not defined", ref)
		}
		value = value[:at[0]] + with + value[at[1]:]
	}
	if variable.MatchString(value) {
		return "", fmt.Errorf("more than %d variables to replace", maxSubstitutions)
	}
	return value, nil
}

func (c *Conf) lookUp(name string) (string, bool) {
	if rest, ok := strings.CutPrefix(name, "env."); ok && rest != "" {
		return c.lookUpEnv(rest)
	}
	if name == "user.name" {
		if u, err := user.Current(); err == nil {
			return u.Username, true
		}
	}
	if now, ok := deprecated[name]; ok {
		name = now
	}
	v, ok := c.values[name]
	return v, ok
}

// lookUpEnv knows NAME, NAME-default (if it is not set) and NAME:-default (or empty).
func (c *Conf) lookUpEnv(expr string) (string, bool) {
	for i := range len(expr) {
		switch {
		case expr[i] == ':' && strings.HasPrefix(expr[i:], ":-"):
			if v, ok := c.env(expr[:i]); ok && v != "" {
				return v, true
			}
			return expr[i+2:], true
		case expr[i] == '-':
			if v, ok := c.env(expr[:i]); ok {
				return v, true
			}
			return expr[i+1:], true
		}
	}
	return c.env(expr)
}
