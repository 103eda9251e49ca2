package policy

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"fsweep/proto/schematest"
)

var update = flag.Bool("update", false, "write what tests expect")

// schema is what the tests look at of a schema.
type schema struct {
	Ref         string             `json:"$ref"`
	Title       string             `json:"title"`
	Type        string             `json:"type"`
	Description string             `json:"description"`
	Default     any                `json:"default"`
	Depends     string             `json:"x-default"`
	Additional  *bool              `json:"additionalProperties"`
	Required    []string           `json:"required"`
	Properties  map[string]*schema `json:"properties"`
	Items       *schema            `json:"items"`
	Enum        []string           `json:"enum"`
	Minimum     json.Number        `json:"minimum"`
	Defs        map[string]*schema `json:"$defs"`
}

func loadSchema(t *testing.T) *schema {
	t.Helper()
	var s schema
	d := json.NewDecoder(bytes.NewReader(Schema))
	d.UseNumber()
	if err := d.Decode(&s); err != nil {
		t.Fatal(err)
	}
	return &s
}

// key is a key of the policy, as the struct has it and as the schema has it.
type key struct {
	name  string
	field reflect.StructField
	value reflect.Value // the default
	s     *schema
}

// walk gives every key in the order of the file. Roots have the defaults of job-run.
func walk(t *testing.T, top, s *schema, prefix string, v reflect.Value, fn func(key)) {
	t.Helper()
	for f := range v.Type().Fields() {
		name := f.Tag.Get("yaml")
		if name == "" {
			continue
		}
		sub := s.Properties[name]
		if sub == nil {
			t.Errorf("the schema has no key %s%s", prefix, name)
			continue
		}
		field := v.FieldByIndex(f.Index)
		fn(key{prefix + name, f, field, sub})
		_, isScalar := reflect.TypeAssert[scalar](field.Addr())
		below := prefix + name + "."
		switch {
		case isScalar:
			continue
		case field.Kind() == reflect.Pointer:
			field = reflect.New(field.Type().Elem()).Elem()
		case field.Kind() == reflect.Slice:
			field = reflect.New(field.Type().Elem()).Elem()
			switch to := field.Addr().Interface().(type) {
			case *Root:
				*to = DefaultRoot(JobRun)
			case *PinFile:
				*to = defaultPinFile()
			case *LiveSource:
				*to = defaultLiveSource()
			}
			sub, below = sub.Items, prefix+name+"[]."
			if field.Kind() != reflect.Struct {
				continue
			}
		}
		if def, ok := strings.CutPrefix(sub.Ref, "#/$defs/"); ok {
			sub = top.Defs[def]
		}
		walk(t, top, sub, below, field, fn)
	}
	for name := range s.Properties {
		if _, ok := fieldOf(v.Type(), name); !ok {
			t.Errorf("the schema has %s%s, which the policy has not", prefix, name)
		}
	}
	if s.Additional == nil || *s.Additional {
		t.Errorf("the schema allows other keys in %q", prefix)
	}
}

// TestSchemaIsThePolicy: keys, what is required, and defaults are the same in both.
func TestSchemaIsThePolicy(t *testing.T) {
	t.Parallel()
	s := loadSchema(t)
	p := Defaults()
	parents := map[string]*schema{"": s}
	walk(t, s, s, "", reflect.ValueOf(&p).Elem(), func(k key) {
		parents[k.name] = k.s
		prefix, name := "", k.name
		if i := strings.LastIndexByte(k.name, '.'); i >= 0 {
			prefix, name = k.name[:i], k.name[i+1:]
		}
		parent := parents[strings.TrimSuffix(prefix, "[]")]
		if parent.Items != nil {
			parent = parent.Items
		}
		if parent.Ref != "" {
			parent = s.Defs["root"]
		}
		always := k.field.Tag.Get("need") == "always"
		off := strings.Contains(parent.Depends, "off") // its keys are needed together
		if always != slices.Contains(parent.Required, name) && !off {
			t.Errorf("%s: required in only one of schema and policy", k.name)
		}
		if k.s.Description == "" {
			t.Errorf("%s: not described", k.name)
		}
		checkDefault(t, k)
	})
}

func checkDefault(t *testing.T, k key) {
	t.Helper()
	to, ok := reflect.TypeAssert[scalar](reflect.New(k.value.Type()))
	if !ok || k.s.Default == nil {
		need := k.field.Tag.Get("need")
		if ok && need != "always" && k.s.Depends == "" {
			t.Errorf("%s: the schema does not tell the default", k.name)
		}
		return
	}
	v := value{text: fmt.Sprint(k.s.Default)}
	if _, number := k.s.Default.(json.Number); number {
		v.kind = numberKind
	}
	if err := to.set(v); err != nil {
		t.Errorf("%s: the schema's default: %v", k.name, err)
	}
	if got := k.value.Addr().Interface().(scalar).yaml(); to.yaml() != got {
		t.Errorf("%s: the default is %s, in the schema %s", k.name, got, to.yaml())
	}
}

// validate checks YAML against the schema.
func validate(t *testing.T, s *jsonschema.Schema, src []byte) error {
	t.Helper()
	b, err := yaml.YAMLToJSON(src)
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(schematest.Parse(t, b))
}

// TestSamples: every sample is a policy, so is what is printed of it, and the
// schema says so of both.
func TestSamples(t *testing.T) {
	t.Parallel()
	s := schematest.Compile(t, string(Schema))
	files, err := filepath.Glob("../../docs/policies/*.yaml")
	if err != nil || len(files) != 6 {
		t.Fatalf("%v %v", files, err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Parse(filepath.Base(file), src)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, text := range [][]byte{src, p.canonical()} {
			if err := validate(t, s, text); err != nil {
				t.Errorf("%s\n%s: %v", text, file, err)
			}
		}
		again, err := Parse("printed", p.canonical())
		if err != nil || again.Digest() != p.Digest() {
			t.Errorf("%s does not come back from its print: %v", file, err)
		}
		layout := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if layout != "complete" && string(p.Roots[0].Layout) != layout {
			t.Errorf("%s has layout %s", file, p.Roots[0].Layout)
		}
	}
}

// TestCompleteSampleHasEveryKey: whoever adds a key adds it there.
func TestCompleteSampleHasEveryKey(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("../../docs/policies/complete.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := loadSchema(t)
	p := Defaults()
	walk(t, s, s, "", reflect.ValueOf(&p).Elem(), func(k key) {
		name := k.name[strings.LastIndexByte(k.name, '.')+1:]
		if !strings.Contains(string(src), name+":") {
			t.Errorf("%s is not in the sample", k.name)
		}
	})
}

// TestReference keeps the table of docs/policy.md as the schema says.
func TestReference(t *testing.T) {
	t.Parallel()
	const name = "../../docs/policy.md"
	doc, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	const end = "<!-- keys: end -->"
	head, tail, ok := strings.Cut(string(doc), "-update\" -->\n")
	_, tail, ok2 := strings.Cut(tail, end)
	if !ok || !ok2 {
		t.Fatal("the marks are missing")
	}
	s := loadSchema(t)
	p := Defaults()
	var b strings.Builder
	b.WriteString("| key | type | default | meaning |\n|---|---|---|---|\n")
	walk(t, s, s, "", reflect.ValueOf(&p).Elem(), func(k key) {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.name, typeText(s, k.s), defaultText(k), strings.ReplaceAll(k.s.Description, "|", `\|`))
	})
	want := head + "-update\" -->\n" + b.String() + end + tail
	if want == string(doc) {
		return
	}
	if !*update {
		t.Fatal("docs/policy.md is not as the schema says; run this test with -update")
	}
	if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func typeText(top, s *schema) string {
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		s = top.Defs[name]
	}
	switch {
	case s.Title != "":
		return s.Title
	case len(s.Enum) > 0:
		return "`" + strings.Join(s.Enum, "` `") + "`"
	case s.Items != nil && s.Items.Ref != "#/$defs/root" && s.Items.Type != "object":
		return "list: " + typeText(top, s.Items)
	case s.Type == "array":
		return "list"
	case s.Type == "object":
		return "keys"
	case s.Type == "string":
		return "text"
	case s.Type == "integer" && s.Minimum != "":
		return "whole number from " + s.Minimum.String()
	}
	return "number"
}

func defaultText(k key) string {
	need := k.field.Tag.Get("need")
	switch {
	case need == "always":
		return "required"
	case need != "" && k.s.Depends == "":
		return "required for " + need
	case need != "":
		return k.s.Depends + "; required for " + need
	case k.s.Depends != "":
		return k.s.Depends
	case k.s.Default == nil:
		return ""
	}
	return fmt.Sprintf("`%v`", k.s.Default)
}
