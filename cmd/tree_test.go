package cmd_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const maxLines = 450

// topFolders are the agreed ones; a new one is a decision, made in
// docs/ARCHITECTURE.md and here.
var topFolders = []string{"analyze", "cmd", "docs", "execute", "fsimage", "proto", "reports", "scripts", "testdata"}

func TestTopFolders(t *testing.T) {
	t.Parallel()
	for _, name := range projectFiles(t) {
		top, _, below := strings.Cut(name, "/")
		switch {
		case below && !strings.HasPrefix(top, ".") && !slices.Contains(topFolders, top):
			t.Errorf("%s: %s is not one of the agreed top folders %v", name, top, topFolders)
		case !below && strings.HasSuffix(name, ".go"):
			t.Errorf("%s: no package belongs in the top folder", name)
		}
	}
}

func TestFileLength(t *testing.T) {
	t.Parallel()
	for _, name := range projectFiles(t) {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		src := read(t, name)
		if n := bytes.Count(src, []byte("\n")); n > maxLines && !generated(name, src) {
			t.Errorf("%s has %d lines, more than %d: split it by subject", name, n, maxLines)
		}
	}
}

// leaks are texts that tie the project to the machine or network it was
// written on. They are put together here so that this file has none itself.
var leaks = []struct {
	what    string
	pattern *regexp.Regexp
}{
	{"name of a package registry", regexp.MustCompile(`\b(` + strings.Join([]string{ // host names, whose dots may match anything
		join("proxy", "golang", "org"), join("sum", "golang", "org"),
		join("repo1", "maven", "org"), join("repo", "maven", "apache", "org"), join("maven", "org"),
		join("registry", "npmjs", "org"), join("crates", "io"), join("files", "pythonhosted", "org"),
		join("pypi", "org"), join("deb", "debian", "org"), join("security", "debian", "org"), join("archive", "ubuntu", "com"),
	}, "|") + `)\b`)},
	{"absolute path of a machine", regexp.MustCompile(`(^|[^\w.*~)}-])/(` + strings.Join([]string{
		`work`, `root/(go|\.cache|\.m2|\.config)`, `home/[a-z]\w*/(go|\.cache|\.m2|src|git)`, `Users/\w+`,
	}, "|") + `)/`)},
}

func TestNoMachineInFiles(t *testing.T) {
	t.Parallel()
	for _, name := range projectFiles(t) {
		for _, v := range findLeaks(read(t, name)) {
			t.Errorf("%s:%s", name, v)
		}
	}
}

func TestLeakCheckCanFail(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a line\nurl = https://" + join("proxy", "golang", "org") + "/x":                 "2: name of a package registry",
		"mirror=" + join("repo", "maven", "apache", "org"):                               "1: name of a package registry",
		"see " + slash("work", "main", "x.go"):                                           "1: absolute path of a machine",
		slash("root", "go", "pkg") + "\n":                                                "1: absolute path of a machine",
		"GOCACHE=" + slash("home", "ann", ".cache", "go-build"):                          "1: absolute path of a machine",
		"/root/.Trash/Current is an HDFS path, network/work/x and a/work/x are relative": "",
		"binary\x00" + slash("work", "main", "x.go"):                                     "",
		"not UTF-8 \xff" + slash("work", "main", "x.go"):                                 "",
	} {
		got := strings.Join(findLeaks([]byte(text)), "\n")
		if cut, _, _ := strings.Cut(got, " in "); cut != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// findLeaks returns "LINE: WHAT in TEXT" for each line of a text file that
// holds one of leaks; anything that is not text has none.
func findLeaks(src []byte) []string {
	if bytes.IndexByte(src, 0) >= 0 || !utf8.Valid(src) {
		return nil
	}
	var found []string
	for _, l := range leaks {
		for _, at := range l.pattern.FindAllIndex(src, -1) {
			line := 1 + bytes.Count(src[:at[0]+1], []byte("\n"))
			found = append(found, fmt.Sprintf("%d: %s in %q", line, l.what, src[at[0]:at[1]]))
		}
	}
	return found
}

// projectFiles lists what is, or is about to be, in the repository.
func projectFiles(t *testing.T) []string {
	t.Helper()
	git := func(args ...string) ([]byte, error) {
		// CI may run as another user than the one who owns the clone.
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "safe.directory=*"}, args...)...)
		cmd.Dir = ".."
		return cmd.Output()
	}
	if _, err := git("rev-parse", "--git-dir"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("no git checkout: %v", err)
		}
		t.Skipf("not in a git checkout, so it is unknown which files belong to the project: %v", err)
	}
	out, err := git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		// Deleted but not yet committed, or a link: no text of its own.
		if info, err := os.Lstat(filepath.Join("..", name)); err == nil && info.Mode().IsRegular() {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		t.Fatal("git lists no file")
	}
	return names
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func generated(name string, src []byte) bool {
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.PackageClauseOnly|parser.ParseComments)
	return err == nil && ast.IsGenerated(f)
}

func join(host ...string) string  { return strings.Join(host, ".") }
func slash(path ...string) string { return "/" + strings.Join(path, "/") }
