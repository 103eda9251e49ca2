package guardset

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"fsweep/proto/schematest"
)

const one = `{"path":"/flink/a/_metadata","inode_id":16400,"length":3,"mtime_ms":1700000000123,"file":"a/1"}`

func list(entries ...string) string {
	return `{"format":1,"guards":[` + strings.Join(entries, ",") + `]}`
}

func TestParse(t *testing.T) {
	t.Parallel()
	want := Guard{Path: "/flink/a/_metadata", InodeID: 16400, Length: 3, MTimeMs: 1_700_000_000_123, File: "a/1"}
	got, err := Parse([]byte(list(one)))
	if err != nil || !slices.Equal(got, []Guard{want}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := Parse([]byte(list())); err != nil || len(got) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestRefused: what is not exactly a manifest is none. Where byte is false, the JSON Schema
// cannot say so, because it speaks of values and not of their spelling.
func TestRefused(t *testing.T) {
	t.Parallel()
	schema := schematest.Compile(t, Schema)
	change := func(old, now string) string { return list(strings.Replace(one, old, now, 1)) }
	for name, tc := range map[string]struct {
		text   string
		schema bool
	}{
		"empty":              {"", false},
		"no object":          {"[]", true},
		"the end is missing": {list(one)[:40], false},
		"something behind":   {list(one) + "{}", false},
		"another format":     {strings.Replace(list(one), `"format":1`, `"format":2`, 1), true},
		"no format":          {`{"guards":[]}`, true},
		"no guards":          {`{"format":1}`, true},
		"guards null":        {`{"format":1,"guards":null}`, true},
		"a key too much":     {`{"format":1,"guards":[],"x":1}`, true},
		"a key twice":        {`{"format":1,"format":1,"guards":[]}`, false},
		"another case":       {`{"Format":1,"guards":[]}`, true},
		"the same inode":     {list(one, strings.Replace(one, "a/1", "a/2", 1)), false},
		"no path":            {change(`"path":"/flink/a/_metadata",`, ""), true},
		"a relative path":    {change(`"/flink`, `"flink`), true},
		"id 0":               {change("16400", "0"), true},
		"a negative id":      {change("16400", "-1"), true},
		"half an id":         {change("16400", "1.5"), true},
		"a huge id":          {change("16400", "9223372036854775808"), false},
		"a text for an id":   {change("16400", `"16400"`), true},
		"null for an id":     {change("16400", "null"), true},
		"a negative length":  {change(`"length":3`, `"length":-3`), true},
		"no file":            {change(`"a/1"`, `""`), true},
		"the directory":      {change("a/1", "."), false},
		"a file above":       {change("a/1", "../x"), false},
		"a file above, late": {change("a/1", "a/../../x"), false},
		"an absolute file":   {change("a/1", "/etc/passwd"), false},
		"a NUL":              {change("a/1", `a\u0000`), false},
		"an unknown key":     {change(`"file"`, `"md5":"x","file"`), true},
		"a key twice inside": {change(`"file"`, `"file":"x","file"`), false},
		"bad UTF-8":          {change("a/1", "\xff"), false},
	} {
		if got, err := Parse([]byte(tc.text)); !errors.Is(err, ErrInvalid) || got != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if tc.schema {
			var v any
			if err := json.Unmarshal([]byte(tc.text), &v); err != nil || schema.Validate(v) == nil {
				t.Errorf("%s: the schema allows it (%v)", name, err)
			}
		}
	}
	var v any
	if err := json.Unmarshal([]byte(list(one)), &v); err != nil || schema.Validate(v) != nil {
		t.Errorf("the schema: %v", schema.Validate(v))
	}
}

// FuzzParse: whatever is read holds what the package promises, and can be read again.
func FuzzParse(f *testing.F) {
	f.Add(list(one))
	f.Add(list())
	f.Add(`{"format":1,"guards":[{}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse([]byte(text))
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		b, err := json.Marshal(manifest{Format: format, Guards: append([]Guard{}, got...)})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Parse(b); err != nil || !slices.Equal(got, again) {
			t.Fatalf("%+v, then %+v, %v", got, again, err)
		}
	})
}
