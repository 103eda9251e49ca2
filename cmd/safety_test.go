package cmd_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSafety requires that every test and script that docs/safety.md names exists.
func TestSafety(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/safety.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)`)
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		src, err := os.ReadFile(path)
		for _, m := range function.FindAllSubmatch(src, -1) {
			tests[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for line := range strings.Lines(string(doc)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.HasPrefix(line, "|---") {
			continue
		}
		for _, m := range regexp.MustCompile("`([A-Za-z0-9_]+)`").FindAllStringSubmatch(cells[3], -1) {
			named++
			if strings.HasPrefix(m[1], "Test") && tests[m[1]] {
				continue
			}
			found := false
			for _, dir := range []string{"fsweep/testdata/plan", "fsweep/testdata", "fsweep-exec/testdata"} {
				_, err := os.Stat(filepath.Join(dir, m[1]+".txtar"))
				found = found || err == nil
			}
			if !found {
				t.Errorf("neither a test nor a script: %s", m[1])
			}
		}
	}
	if named < 70 {
		t.Errorf("only %d tests are named", named)
	}
}
