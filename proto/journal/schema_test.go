package journal

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"fsweep/proto/planfile"
)

type schemaNode struct {
	Ref                  string                 `json:"$ref"`
	Type                 string                 `json:"type"`
	Description          string                 `json:"description"`
	Properties           map[string]*schemaNode `json:"properties"`
	Required             []string               `json:"required"`
	AdditionalProperties *bool                  `json:"additionalProperties"`
	Items                *schemaNode            `json:"items"`
	Const                any                    `json:"const"`
	Enum                 []string               `json:"enum"`
	Defs                 map[string]*schemaNode `json:"$defs"`
	OneOf                []*schemaNode          `json:"oneOf"`
}

// TestSchemaKeys: the schema has every key of the Go types, no other, and demands
// those that are always written.
func TestSchemaKeys(t *testing.T) {
	t.Parallel()
	var root schemaNode
	if err := json.Unmarshal([]byte(Schema()), &root); err != nil {
		t.Fatal(err)
	}
	lines := map[string]any{
		"header": Header{}, "intent": Intent{}, "done": Done{}, "skipped": Skipped{}, "failed": Failed{}, "unknown": Unknown{},
		"settled": Settled{}, "resumed": Resumed{}, "end": End{},
	}
	if len(root.OneOf) != len(lines) {
		t.Errorf("%d types of lines", len(root.OneOf))
	}
	for name, v := range lines {
		s := root.Defs[name]
		typ := typeHeader
		if name != "header" {
			typ = name
		}
		if s == nil || s.Properties["type"] == nil || s.Properties["type"].Const != typ || !slices.Contains(s.Required, "type") {
			t.Errorf("%s: no type %q", name, typ)
			continue
		}
		delete(s.Properties, "type")
		s.Required = slices.DeleteFunc(s.Required, func(k string) bool { return k == "type" })
		compareKeys(t, &root, name, s, reflect.TypeOf(v))
	}
}

func compareKeys(t *testing.T, root *schemaNode, at string, s *schemaNode, typ reflect.Type) {
	t.Helper()
	for s.Ref != "" {
		s = root.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")]
	}
	if s.AdditionalProperties == nil || *s.AdditionalProperties || s.Description == "" {
		t.Errorf("%s: allows other keys, or has no description", at)
	}
	var keys, required []string
	for _, f := range reflect.VisibleFields(typ) {
		if f.Anonymous {
			continue // the stamp, whose keys are those of the line
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
		if f.Type == reflect.TypeFor[planfile.Path]() || f.Type == reflect.TypeFor[planfile.Name]() {
			keys = append(keys, name+"_b64")
		}
		if option == "" {
			required = append(required, name)
		}
		compareType(t, root, at+"."+name, child, f.Type)
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

func compareType(t *testing.T, root *schemaNode, at string, s *schemaNode, typ reflect.Type) {
	t.Helper()
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	for s.Ref != "" && typ.Kind() != reflect.Struct {
		s = root.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")]
	}
	switch typ.Kind() {
	case reflect.Struct:
		compareKeys(t, root, at, s, typ)
	case reflect.Slice:
		if s.Type != "array" || s.Items == nil {
			t.Errorf("%s is no array", at)
		} else if typ.Elem().Kind() == reflect.Struct {
			compareKeys(t, root, at, s.Items, typ.Elem())
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
