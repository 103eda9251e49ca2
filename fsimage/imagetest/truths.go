package imagetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Judged is an image of testdata/images and what a NameNode answered that was
// started from it, both as directories below that folder.
type Judged struct {
	Image, Truth string
}

// ReadJudged reads truths.txt in images: two words a line, # starts a comment.
func ReadJudged(images string) ([]Judged, error) {
	name := filepath.Join(images, "truths.txt")
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var all []Judged
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || strings.HasPrefix(f[0], "#"):
		case len(f) == 2:
			all = append(all, Judged{f[0], f[1]})
		default:
			return nil, fmt.Errorf("%s:%d: want an image and its truth: %q", name, n, line)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s names no image", name)
	}
	return all, nil
}
