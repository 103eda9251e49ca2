package planfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"fsweep/proto/schematest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// goldenPlans are the files of testdata/*.jsonl.
func goldenPlans() map[string]*plan {
	full := samplePlan()
	small := &plan{Header: sampleHeader()}
	small.Header.Warnings, small.Header.ForeignAuthorities, small.Header.HoldPaths, small.Header.Protect = nil, nil, nil, nil
	small.Header.Live, small.Header.Pins = nil, nil
	small.Header.Removal, small.Header.Quarantine = RemovalQuarantine, []Place{{"/quarantine", 16999}}
	small.Header.Roots = small.Header.Roots[6:]
	small.Header.Complete = true
	return map[string]*plan{"full": full, "empty": small}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	schema := schematest.Compile(t, Schema())
	for name, p := range goldenPlans() {
		b, digest := p.write(t)
		if again, _ := p.write(t); !bytes.Equal(again, b) {
			t.Errorf("%s: written twice, the bytes differ", name)
		}
		file := filepath.Join("testdata", name+".jsonl")
		if *update {
			if err := os.WriteFile(file, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(b)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if digest != sha256.Sum256(want) {
			t.Errorf("%s: digest %s", name, digest)
		}
		got, readDigest, err := readPlan(want)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p, got, cmpopts.IgnoreUnexported(Item{})); diff != "" || readDigest != digest {
			t.Errorf("%s, %s (-want +got):\n%s", name, readDigest, diff)
		}
		for i, line := range strings.Split(strings.TrimSuffix(string(want), "\n"), "\n") {
			if err := schema.Validate(schematest.Parse(t, []byte(line))); err != nil {
				t.Errorf("%s, line %d: %v", name, i+1, err)
			}
		}
	}
}

// TestSchemaRefuses: the schema is more than a list of names.
func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	schema := schematest.Compile(t, Schema())
	b, _ := samplePlan().write(t)
	for _, change := range [][2]string{
		{`"inode_id":16402`, `"inode_id":0`},
		{`"inode_id":16402`, `"inode_id":1.5`},
		{`"inode_id":16402`, `"inode_id":"16402"`},
		{`"kind":"unit"`, `"kind":"tree"`},
		{`"kind":"unit"`, `"kind":"unit","x":1`},
		{`"type":"item"`, `"type":"thing"`},
		{`"format":1`, `"format":2`},
		{`"dirs":2`, `"dirs":-1`},
		{`,"dirs":2`, ``},
	} {
		changed := strings.Replace(string(b), change[0], change[1], 1)
		if changed == string(b) {
			t.Fatalf("%s is not in the plan", change[0])
		}
		bad := 0
		for line := range strings.Lines(changed) {
			if schema.Validate(schematest.Parse(t, []byte(line))) != nil {
				bad++
			}
		}
		if bad == 0 {
			t.Errorf("%s: every line is valid", change[1])
		}
	}
}

// TestEncodingJSON: the codec writes what encoding/json makes of the same structs,
// where all names are UTF-8.
func TestEncodingJSON(t *testing.T) {
	t.Parallel()
	p := samplePlan()
	p.Items[7].Item.Path, p.Items[7].Item.Owner = "/tmp/spark-\u2028\x01\b\x7f<é>\"\\", "spark"
	p.Known[3].Path = "/tmp/spark"
	b, _ := p.write(t)
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	line := func(kind string, v any) {
		enc.SetEscapeHTML(false)
		var one bytes.Buffer
		e := json.NewEncoder(&one)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		want.WriteString(`{"type":"` + kind + `",` + one.String()[1:])
	}
	line("plan", p.Header)
	for _, k := range p.Known {
		line("known", k)
	}
	for _, g := range p.Guards {
		line("guard", g)
	}
	for _, i := range p.Items {
		line("item", i.Item)
		for _, d := range i.Dirs {
			line("dir", d)
		}
	}
	for _, q := range p.Quotas {
		line("quota", q)
	}
	r, _, err := Open(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	line("footer", r.Footer())
	if diff := cmp.Diff(want.String(), string(b)); diff != "" {
		t.Errorf("-encoding/json +planfile:\n%s", diff)
	}
}
