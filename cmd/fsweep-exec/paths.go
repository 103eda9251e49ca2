package main

import (
	"errors"
	"fmt"
	"strings"

	"fsweep/proto/planfile"
)

// typedPath takes a path of the cluster as people type it, which may end in slashes. The
// root is no path of this program.
func typedPath(text string) (planfile.Path, error) {
	if text == "" {
		return "", errors.New("the path is empty")
	}
	p := planfile.Path(strings.TrimRight(text, "/"))
	if p == "" {
		return "", errors.New("/ is not possible here: name what lies below")
	}
	if err := p.Clean(); err != nil { // of a plan, which this path is not from
		return "", errors.New(strings.TrimPrefix(err.Error(), planfile.ErrInvalid.Error()+": "))
	}
	return p, nil
}

// typedTree is the same for a directory with all that lies below it: "" for the root.
func typedTree(text string) (planfile.Path, error) {
	if text != "" && strings.Trim(text, "/") == "" {
		return "", nil
	}
	return typedPath(text)
}

// escapedHint is advice for somebody who types a name as results show it.
func escapedHint(p planfile.Path) string {
	if !strings.Contains(string(p), `\`) {
		return ""
	}
	return fmt.Sprintf("names are typed as they are: what results show as %s is another path if \\ stands for something there; shells have $'…' for it", escaped(p))
}
