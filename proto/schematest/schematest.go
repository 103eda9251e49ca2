// Package schematest holds what is written, and the Go types that are written, against
// the JSON Schemas that are published. Only tests import it.
package schematest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Compile makes a schema of its text.
func Compile(t testing.TB, text string) *jsonschema.Schema {
	t.Helper()
	return compile(t, Parse(t, []byte(text)))
}

// Closed is Compile for a schema that allows keys which it does not name: here no object
// may have one.
func Closed(t testing.TB, text string) *jsonschema.Schema {
	t.Helper()
	doc := Parse(t, []byte(text))
	closeObjects(doc)
	return compile(t, doc)
}

func compile(t testing.TB, doc any) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource("s.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("s.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closeObjects(v any) {
	switch v := v.(type) {
	case map[string]any:
		if v["properties"] != nil {
			v["additionalProperties"] = false
		}
		for _, sub := range v {
			closeObjects(sub)
		}
	case []any:
		for _, sub := range v {
			closeObjects(sub)
		}
	}
}

// Parse reads a document as a schema validates it.
func Parse(t testing.TB, document []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatalf("%v\n%s", err, document)
	}
	return v
}

// Document is a JSON object that is as a closed schema says. That the schema is one is
// shown, too: a key that it lacks is refused.
func Document(t testing.TB, closed *jsonschema.Schema, document []byte) {
	t.Helper()
	v := Parse(t, document)
	if err := closed.Validate(v); err != nil {
		t.Errorf("%v\n%s", err, document)
	}
	v.(map[string]any)["a key that no schema has"] = 1
	if closed.Validate(v) == nil {
		t.Error("a key that the schema lacks is not noticed")
	}
}

// node is what is looked at of a schema.
type node struct {
	Ref                  string           `json:"$ref"`
	Type                 string           `json:"type"`
	Description          string           `json:"description"`
	Properties           map[string]*node `json:"properties"`
	Required             []string         `json:"required"`
	AdditionalProperties *bool            `json:"additionalProperties"`
	Items                *node            `json:"items"`
	Const                any              `json:"const"`
	Enum                 []string         `json:"enum"`
	Defs                 map[string]*node `json:"$defs"`
	OneOf                []*node          `json:"oneOf"`
}

// Lines are the types of the lines of a format.
type Lines struct {
	Types map[string]any // by their name under $defs, which is also their "type", but:
	// Header is the "type" of the line that is called header.
	Header string
	// Bytes are types of names that need not be UTF-8: beside each stands its exact form.
	Bytes []reflect.Type
}

// Keys demands that the schema has every key of the Go types and no other, demands those that are
// always written, and describes each.
func Keys(t testing.TB, text string, lines Lines) {
	t.Helper()
	root := &node{}
	if err := json.Unmarshal([]byte(text), root); err != nil {
		t.Fatal(err)
	}
	if len(root.OneOf) != len(lines.Types) {
		t.Errorf("%d types of lines", len(root.OneOf))
	}
	c := comparison{root, lines.Bytes}
	for name, v := range lines.Types {
		s := root.Defs[name]
		typ := lines.Header
		if name != "header" {
			typ = name
		}
		if s == nil || s.Properties["type"] == nil || s.Properties["type"].Const != typ || !slices.Contains(s.Required, "type") {
			t.Errorf("%s: no type %q", name, typ)
			continue
		}
		delete(s.Properties, "type")
		s.Required = slices.DeleteFunc(s.Required, func(k string) bool { return k == "type" })
		c.keys(t, name, s, reflect.TypeOf(v))
	}
}

type comparison struct {
	root  *node
	bytes []reflect.Type
}

func (c *comparison) resolve(s *node) *node {
	for s.Ref != "" {
		s = c.root.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")]
	}
	return s
}

func (c *comparison) keys(t testing.TB, at string, s *node, typ reflect.Type) {
	t.Helper()
	s = c.resolve(s)
	if s.AdditionalProperties == nil || *s.AdditionalProperties || s.Description == "" {
		t.Errorf("%s: allows other keys, or has no description", at)
	}
	var keys, required []string
	for _, f := range reflect.VisibleFields(typ) {
		if f.Anonymous || !f.IsExported() {
			continue // what is embedded has its keys in the same object
		}
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		keys = append(keys, name)
		child := s.Properties[name]
		if child == nil {
			t.Errorf("%s.%s is not in the schema", at, name)
			continue
		}
		if child.Description == "" && child.Ref == "" {
			t.Errorf("%s.%s has no description", at, name)
		}
		if slices.Contains(c.bytes, f.Type) {
			keys = append(keys, name+"_b64")
		}
		if option == "" {
			required = append(required, name)
		}
		c.value(t, at+"."+name, child, f.Type)
	}
	got := make([]string, 0, len(s.Properties))
	for k := range s.Properties {
		got = append(got, k)
	}
	slices.Sort(got)
	slices.Sort(keys)
	slices.Sort(required)
	slices.Sort(s.Required)
	if !slices.Equal(got, keys) {
		t.Errorf("%s: the schema has %v, the type %v", at, got, keys)
	}
	if !slices.Equal(s.Required, required) {
		t.Errorf("%s: the schema demands %v, the type %v", at, s.Required, required)
	}
}

func (c *comparison) value(t testing.TB, at string, s *node, typ reflect.Type) {
	t.Helper()
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ.Kind() == reflect.Struct {
		c.keys(t, at, s, typ)
		return
	}
	s = c.resolve(s)
	switch typ.Kind() {
	case reflect.Slice:
		if s.Type != "array" || s.Items == nil {
			t.Errorf("%s is no array", at)
		} else if typ.Elem().Kind() == reflect.Struct {
			c.keys(t, at, s.Items, typ.Elem())
		}
	case reflect.Int64, reflect.Uint64:
		if s.Type != "integer" && s.Const == nil {
			t.Errorf("%s is no integer", at)
		}
	case reflect.Bool:
		if s.Type != "boolean" && s.Const != true {
			t.Errorf("%s is no boolean", at)
		}
	default: // text, and hashes as text
		if s.Type != "string" && s.Enum == nil {
			t.Errorf("%s is no string", at)
		}
	}
}
