package journal

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsweep/proto/schematest"
)

var update = flag.Bool("update", false, "write the golden files anew")

func goldens() map[string][]Line {
	return map[string][]Line{"run": runJournal(), "undo": undoJournal()}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	schema := schematest.Compile(t, Schema())
	for name, lines := range goldens() {
		b := encode(t, lines)
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
		mustBe(t, want, lines, 0)
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
	b := encode(t, runJournal())
	for _, change := range [][2]string{
		{`"seq":1,`, `"seq":0,`},
		{`"seq":1,`, `"seq":1.5,`},
		{`"seq":1,`, `"seq":"1",`},
		{`"purpose":"move"`, `"purpose":"delete"`},
		{`"purpose":"move"`, `"purpose":"move","x":1`},
		{`"type":"done"`, `"type":"thing"`},
		{`"format":1`, `"format":2`},
		{`"how":"arrived"`, `"how":"perhaps"`},
		{`"call_id":7`, `"call_id":2147483648`},
		{`"client_id":"0102`, `"client_id":"010`},
		{`,"undone":0`, ``},
		{`,"rule":"mtime_changed"`, ``},
	} {
		changed := strings.Replace(string(b), change[0], change[1], 1)
		if changed == string(b) {
			t.Fatalf("%s is not in the journal", change[0])
		}
		bad := 0
		for line := range strings.Lines(changed) {
			if schema.Validate(schematest.Parse(t, []byte(line))) != nil {
				bad++
			}
		}
		if bad != 1 {
			t.Errorf("%s: %d lines are not valid", change[1], bad)
		}
	}
}

// TestEncodingJSON: the codec writes what encoding/json makes of the same structs, where
// all names are UTF-8, and encoding/json reads the same structs from it.
func TestEncodingJSON(t *testing.T) {
	t.Parallel()
	for name, lines := range goldens() {
		for b := range bytes.Lines(encode(t, lines)) {
			kind, err := lineType(b)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(b, []byte("_b64")) {
				continue
			}
			l := empty(kind)
			if err := json.Unmarshal(b, l); err != nil {
				t.Fatal(err)
			}
			var one bytes.Buffer
			enc := json.NewEncoder(&one)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(l); err != nil {
				t.Fatal(err)
			}
			if want := `{"type":"` + kind + `",` + one.String()[1:]; want != string(b) {
				t.Errorf("%s: encoding/json\n%swritten\n%s", name, want, b)
			}
		}
	}
}
