// Package cmd_test keeps rules that belong to no single package: who may link
// whom, what the offline program may ask of the system, and how the tree looks.
package cmd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "fsweep"

// rule says what the transitive closure of one package may hold. Patterns are
// import paths; one that ends in "/..." means the path and all below it.
type rule struct {
	own     []string // packages of this module
	forbid  []string // packages outside it, the standard library included
	modules []string // if not nil: the only packages outside both that may be linked
}

// Cobra links net through pflag (flags of type IP), so what the commands link
// cannot be bound to "no net"; strace_test.go shows that nothing uses it.
var (
	tls      = []string{"net/http/...", "crypto/tls", "plugin", "os/exec"}
	network  = append([]string{"net"}, tls...)
	noClient = []string{"github.com/colinmarc/hdfs/...", "github.com/jcmturner/..."}
	offline  = slices.Concat(network, noClient)
	program  = slices.Concat(tls, noClient)
	anyCodec = []string{"github.com/klauspost/compress/...", "github.com/pierrec/lz4/v4/..."}
	protobuf = "google.golang.org/protobuf/..."
	xsync    = "golang.org/x/sync/..."

	// What the reader of blocks links: its Kerberos client, too, which is not used.
	readsBlocks = append([]string{"github.com/hashicorp/go-uuid", "golang.org/x/crypto/...", "golang.org/x/net/..."}, noClient...)
)

// rules has one row a package, below the module's name.
var rules = map[string]rule{
	"proto/fsimage":   {forbid: offline, modules: []string{protobuf}},
	"proto/flinkmeta": {forbid: offline, modules: []string{}},
	"proto/pathtext":  {forbid: offline, modules: []string{}},
	"proto/planfile":  {own: []string{"proto/pathtext", "proto/internal/canonical"}, forbid: offline, modules: []string{}},
	"proto/policy":    {forbid: offline, modules: []string{"github.com/goccy/go-yaml/..."}},
	"proto/live":      {own: []string{"proto/policy"}, forbid: offline, modules: []string{"github.com/goccy/go-yaml/..."}},
	"proto/journal": {
		own: []string{"proto/pathtext", "proto/internal/canonical", "proto/planfile"}, forbid: offline, modules: []string{},
	},
	"execute/journalfile": {
		own: []string{"proto/journal", "proto/planfile", "proto/internal/canonical", "proto/pathtext"}, forbid: offline, modules: []string{},
	},
	"proto/internal/canonical": {
		own: []string{"proto/pathtext"}, forbid: offline, modules: []string{},
	},
	"analyze/cleanup": {
		own:     []string{"proto/policy", "proto/live", "analyze/flink", "analyze/internal/extsort", "analyze/namespace", "fsimage", "proto/fsimage", "proto/flinkmeta"},
		forbid:  offline,
		modules: append([]string{"github.com/goccy/go-yaml/...", protobuf, xsync}, anyCodec...),
	},
	"analyze/plan": {
		own: []string{
			"proto/internal/canonical",
			"proto/pathtext", "proto/planfile", "proto/policy", "proto/live", "analyze/cleanup", "analyze/flink", "analyze/internal/extsort", "analyze/namespace", "fsimage", "proto/fsimage", "proto/flinkmeta",
		},
		forbid:  offline,
		modules: append([]string{"github.com/goccy/go-yaml/...", protobuf, xsync}, anyCodec...),
	},
	"fsimage": {
		own:     []string{"proto/fsimage"},
		forbid:  append([]string{"log/slog"}, offline...),
		modules: append([]string{protobuf, xsync}, anyCodec...),
	},
	"fsimage/imagetest":            {own: []string{"fsimage", "proto/fsimage"}, forbid: offline},
	"fsimage/imagetest/imagebench": {own: []string{"fsimage/...", "proto/fsimage", "analyze/..."}, forbid: slices.Concat([]string{"net", "net/http/..."}, noClient)},
	"analyze/namespace":            {own: []string{"fsimage", "proto/fsimage"}, forbid: offline},
	"analyze/internal/extsort":     {own: []string{"fsimage", "proto/fsimage"}, forbid: offline},
	"analyze/flink":                {own: []string{"proto/flinkmeta", "analyze/internal/extsort", "analyze/namespace", "fsimage", "proto/fsimage"}, forbid: offline},
	"analyze":                      {own: []string{"analyze/namespace", "fsimage", "proto/fsimage"}, forbid: offline},
	"proto/schematest":             {forbid: offline},
	"reports":                      {own: []string{"reports/internal/plaintable", "proto/pathtext", "analyze", "analyze/namespace", "analyze/flink", "analyze/internal/extsort", "fsimage", "proto/fsimage", "proto/flinkmeta"}, forbid: offline},
	"reports/internal/plaintable":  {forbid: offline},
	"reports/cleanup":              {own: []string{"proto/planfile", "proto/internal/canonical", "proto/pathtext", "reports/internal/plaintable"}, forbid: offline},
	"reports/execution":            {own: []string{"proto/planfile", "proto/internal/canonical", "proto/pathtext", "reports/cleanup", "reports/internal/plaintable"}, forbid: offline},
	"cmd/internal/sidecar":         {forbid: offline, modules: []string{}},
	"cmd/internal/imagedir":        {own: []string{"cmd/internal/sidecar"}, forbid: offline, modules: []string{}},
	"execute":                      {forbid: offline, modules: []string{}},
	"execute/guardfiles":           {own: []string{"execute", "proto/guardset"}, forbid: offline, modules: []string{}},
	"proto/guardset":               {forbid: offline, modules: []string{}},
	"execute/fetch":                {own: []string{"execute"}, forbid: offline, modules: []string{"golang.org/x/time/rate"}},
	"proto/hadoop":                 {forbid: offline, modules: []string{protobuf}},
	"execute/hdfs/kerberos":        {forbid: []string{"plugin", "os/exec", "net/http/..."}, modules: readsBlocks},
	"execute/hdfs":                 {own: []string{"execute", "execute/hdfs/kerberos", "proto/hadoop"}, forbid: []string{"plugin", "os/exec"}, modules: append([]string{protobuf}, readsBlocks...)},
	"execute/hdfstest":             {own: []string{"execute"}, forbid: noClient},
	"execute/hdfstest/rig":         {own: []string{"execute/...", "proto/hadoop"}},
	"execute/fakehdfs":             {own: []string{"execute", "execute/hdfstest"}, forbid: offline, modules: []string{}},
	"execute/check":                {own: []string{"execute", "proto/flinkmeta", "proto/planfile", "proto/internal/canonical", "proto/pathtext"}, forbid: offline, modules: []string{}},
	"execute/act":                  {own: []string{"execute", "proto/journal", "proto/planfile", "proto/internal/canonical", "proto/pathtext"}, forbid: offline, modules: []string{}},
	"execute/probe":                {own: []string{"execute"}, forbid: offline, modules: []string{}},
	"reports/probe":                {own: []string{"execute", "execute/probe", "proto/pathtext", "reports/internal/plaintable"}, forbid: offline},
	"cmd/internal/cli":             {forbid: program},
	"cmd/fsweep-exec": {
		own: []string{
			"proto/internal/canonical",
			"cmd/internal/imagedir", "cmd/internal/sidecar", "execute/fetch", "execute/guardfiles", "proto/guardset",
			"cmd/internal/cli", "execute", "execute/hdfs", "execute/hdfs/kerberos", "execute/probe", "reports/probe", "reports/internal/plaintable", "proto/hadoop", "proto/pathtext",
			"proto/planfile", "proto/policy", "proto/live", "proto/journal", "proto/flinkmeta", "execute/check", "execute/act", "execute/journalfile", "reports/cleanup", "reports/execution",
		},
		forbid: []string{"plugin", "os/exec"},
	},
	"cmd/fsweep": {
		own: []string{
			"proto/internal/canonical",
			"cmd/internal/cli", "reports", "reports/internal/plaintable", "proto/pathtext", "analyze", "analyze/namespace", "analyze/flink", "analyze/internal/extsort", "fsimage", "proto/fsimage", "proto/flinkmeta",
			"cmd/internal/sidecar", "analyze/cleanup", "analyze/plan", "reports/cleanup", "proto/planfile", "proto/policy", "proto/live",
		},
		forbid: program,
	},
}

// imports maps each package to what it imports directly.
type imports map[string][]string

func TestImports(t *testing.T) {
	t.Parallel()
	graph, own := loadImports(t)
	for _, v := range checkImports(graph, own, rules) {
		t.Error(v)
	}
}

// TestImportsCheckCanFail plants one violation of each kind in a small graph.
func TestImportsCheckCanFail(t *testing.T) {
	t.Parallel()
	clean := imports{
		"fsweep/a":     {"fmt", "fsweep/a/b", "example.com/lib/x"},
		"fsweep/a/b":   {"errors"},
		"fsweep/c":     {"fsweep/a"},
		"fmt":          {"os"},
		"os":           {"syscall"},
		"net":          {"os"},
		"net/url":      {"fmt"},
		"net/http":     {"net"},
		"net/http/pem": {"fmt"},

		"example.com/lib/x":          {"errors"},
		"example.com/dialer":         {"net"},
		"github.com/colinmarc/hdfs":  {"errors"},
		"github.com/colinmarc/hdfs2": {"errors"},
	}
	table := map[string]rule{
		"a":   {own: []string{"a/..."}, forbid: []string{"net", "net/http/...", "github.com/colinmarc/hdfs/..."}, modules: []string{"example.com/..."}},
		"a/b": {forbid: []string{"net"}},
		"c":   {own: []string{"a", "a/b"}, forbid: []string{"net", "github.com/colinmarc/hdfs/..."}},
	}
	for _, tc := range []struct {
		name  string
		add   imports         // put into the graph
		rules map[string]rule // put into the table
		want  []string
	}{
		{name: "clean"},
		{name: "harmless neighbours", add: imports{"fsweep/a": {"net/url"}, "fsweep/c": {"github.com/colinmarc/hdfs2"}}},
		{
			name: "direct", add: imports{"fsweep/a/b": {"net"}},
			want: []string{
				"fsweep/a links net, which is forbidden: fsweep/a → fsweep/a/b → net",
				"fsweep/a/b links net, which is forbidden: fsweep/a/b → net",
				"fsweep/c links net, which is forbidden: fsweep/c → fsweep/a → fsweep/a/b → net",
			},
		},
		{
			name: "through a library", add: imports{"fsweep/c": {"example.com/dialer"}},
			want: []string{"fsweep/c links net, which is forbidden: fsweep/c → example.com/dialer → net"},
		},
		{
			name: "below a pattern", add: imports{"fsweep/a": {"net/http/pem"}},
			want: []string{"fsweep/a links net/http/pem, which is forbidden: fsweep/a → net/http/pem"},
		},
		{
			name: "HDFS client", add: imports{"fsweep/c": {"github.com/colinmarc/hdfs"}},
			want: []string{"fsweep/c links github.com/colinmarc/hdfs, which is forbidden: fsweep/c → github.com/colinmarc/hdfs"},
		},
		{
			name: "own package not allowed", add: imports{"fsweep/c": {"fsweep/e"}, "fsweep/e": nil}, rules: map[string]rule{"e": {}},
			want: []string{"fsweep/c links fsweep/e, which its rule does not allow: fsweep/c → fsweep/e"},
		},
		{
			name: "own package through another", rules: map[string]rule{"c": {own: []string{"a"}}},
			want: []string{"fsweep/c links fsweep/a/b, which its rule does not allow: fsweep/c → fsweep/a → fsweep/a/b"},
		},
		{
			name: "module not on the list", add: imports{"fsweep/a/b": {"errors", "example.org/other"}},
			want: []string{"fsweep/a links example.org/other, which its rule does not allow: fsweep/a → fsweep/a/b → example.org/other"},
		},
		{name: "package without a rule", add: imports{"fsweep/d": nil}, want: []string{"fsweep/d has no rule"}},
		{name: "rule without a package", rules: map[string]rule{"e": {}}, want: []string{"the rule for fsweep/e has no package"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			graph, table := maps.Clone(clean), maps.Clone(table)
			for pkg, more := range tc.add {
				graph[pkg] = slices.Concat(graph[pkg], more)
			}
			maps.Copy(table, tc.rules)
			own := slices.DeleteFunc(slices.Collect(maps.Keys(graph)), func(pkg string) bool {
				return !strings.HasPrefix(pkg, module+"/")
			})
			if got := checkImports(graph, own, table); !slices.Equal(got, tc.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(tc.want, "\n  "))
			}
		})
	}
}

// checkImports returns one line for each violation, sorted.
func checkImports(graph imports, own []string, table map[string]rule) []string {
	var found []string
	known := make(map[string]bool)
	for _, pkg := range own {
		known[pkg] = true
		r, ok := table[strings.TrimPrefix(pkg, module+"/")]
		if !ok {
			found = append(found, pkg+" has no rule")
			continue
		}
		via := closure(graph, pkg)
		for linked := range via {
			if complaint := r.judge(linked); complaint != "" {
				found = append(found, fmt.Sprintf("%s links %s, which %s: %s", pkg, linked, complaint, chain(via, linked)))
			}
		}
	}
	for name := range table {
		if pkg := module + "/" + name; !known[pkg] {
			found = append(found, "the rule for "+pkg+" has no package")
		}
	}
	slices.Sort(found)
	return found
}

// judge says what is wrong with linking one package, or nothing.
func (r rule) judge(linked string) string {
	if name, ok := strings.CutPrefix(linked, module+"/"); ok {
		if !matchAny(r.own, name) {
			return "its rule does not allow"
		}
		return ""
	}
	if matchAny(r.forbid, linked) {
		return "is forbidden"
	}
	if r.modules != nil && !standard(linked) && !matchAny(r.modules, linked) {
		return "its rule does not allow"
	}
	return ""
}

func matchAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		top, deep := strings.CutSuffix(p, "/...")
		return pkg == top || deep && strings.HasPrefix(pkg, top+"/")
	})
}

// standard reports whether a package belongs to the standard library: a first
// element without a dot (this module's own are told apart before).
func standard(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return !strings.Contains(first, ".")
}

// closure returns everything pkg links, itself left out; the value is who
// imported it on a shortest way.
func closure(graph imports, pkg string) map[string]string {
	via := map[string]string{}
	for queue := []string{pkg}; len(queue) > 0; queue = queue[1:] {
		for _, next := range graph[queue[0]] {
			if _, seen := via[next]; !seen && next != pkg {
				via[next] = queue[0]
				queue = append(queue, next)
			}
		}
	}
	return via
}

func chain(via map[string]string, to string) string {
	way := []string{to}
	for from, ok := via[to]; ok; from, ok = via[from] {
		way = append(way, from)
	}
	slices.Reverse(way)
	return strings.Join(way, " → ")
}

// loadImports asks the go command; own lists the packages of this module that
// have code (a folder with tests only, like this one, links nothing).
func loadImports(t *testing.T) (graph imports, own []string) {
	t.Helper()
	out := run(t, "go", "list", "-deps", "-json=ImportPath,Imports,ImportMap,GoFiles,CgoFiles,Module", "./...")
	graph = imports{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath        string
			Imports           []string
			ImportMap         map[string]string
			GoFiles, CgoFiles []string
			Module            *struct{ Main bool }
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for _, i := range p.Imports {
			if mapped, ok := p.ImportMap[i]; ok { // the standard library's vendored packages
				i = mapped
			}
			graph[p.ImportPath] = append(graph[p.ImportPath], i)
		}
		if p.Module != nil && p.Module.Main && len(p.GoFiles)+len(p.CgoFiles) > 0 {
			own = append(own, p.ImportPath)
		}
	}
	if len(own) == 0 {
		t.Fatal("go list found no package")
	}
	return graph, own
}

// run runs a command in the module's top folder and returns its stdout.
func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = ".."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, stderr.Bytes())
	}
	return out
}
