package schematest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// recorder notes errors in place of failing.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}
func (r *recorder) Error(args ...any) { r.errors = append(r.errors, fmt.Sprint(args...)) }
func (r *recorder) Helper()           {}

type name string

type inner struct {
	N int64 `json:"n"`
}

type line struct {
	Name name    `json:"name"`
	Sub  inner   `json:"sub"`
	More []inner `json:"more,omitempty"`
}

const good = `{"oneOf": [{"$ref": "#/$defs/header"}], "$defs": {
 "inner": {"description": "i", "type": "object", "additionalProperties": false, "required": ["n"], "properties": {"n": {"type": "integer", "description": "n"}}},
 "header": {"description": "h", "type": "object", "additionalProperties": false, "required": ["type", "name", "sub"], "properties": {
  "type": {"const": "t"}, "name": {"type": "string", "description": "n"}, "name_b64": {"type": "string"},
  "sub": {"$ref": "#/$defs/inner"}, "more": {"description": "m", "type": "array", "items": {"$ref": "#/$defs/inner"}}}}}}`

// TestKeysCanFail: a schema that is right is silent, and each kind of mistake is told.
func TestKeysCanFail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, want string }{
		{},
		{`"required": ["n"]`, `"required": []`, "header.sub: the schema demands [], the type [n]"},
		{`"type": "integer"`, `"type": "string"`, "header.sub.n is no integer"},
		{`"name_b64": {"type": "string"},`, ``, "header: the schema has"},
		{`"more": {"description": "m",`, `"more": {`, "header.more has no description"},
		{`"more": {`, `"less": {`, "header.more is not in the schema"},
		{`"type": "array"`, `"type": "object"`, "header.more is no array"},
		{`{"description": "h", "type": "object", "additionalProperties": false`, `{"description": "h", "type": "object"`, "header: allows other keys"},
		{`{"const": "t"}`, `{"const": "x"}`, `header: no type "t"`},
	} {
		r := &recorder{TB: t}
		Keys(r, strings.Replace(good, c.from, c.to, 1), Lines{
			Types: map[string]any{"header": line{}}, Header: "t", Bytes: []reflect.Type{reflect.TypeFor[name]()},
		})
		if all := strings.Join(r.errors, "\n"); c.want == "" && all != "" || !strings.Contains(all, c.want) {
			t.Errorf("%s: %q, want %q", c.to, all, c.want)
		}
	}
}

// TestDocumentCanFail: a document with another key, and a schema that lets any in.
func TestDocumentCanFail(t *testing.T) {
	t.Parallel()
	const open = `{"type": "object", "properties": {"a": {"type": "integer"}}}`
	for document, want := range map[string]string{`{"a": 1}`: "", `{"a": "x"}`: "integer", `{"b": 1}`: "additional"} {
		r := &recorder{TB: t}
		Document(r, Closed(t, open), []byte(document))
		if all := strings.Join(r.errors, "\n"); want == "" && all != "" || !strings.Contains(all, want) {
			t.Errorf("%s: %q", document, all)
		}
	}
	r := &recorder{TB: t}
	if Document(r, Compile(t, open), []byte(`{"a": 1}`)); len(r.errors) != 1 {
		t.Errorf("an open schema: %q", r.errors)
	}
}
