package planfile

import (
	"reflect"
	"testing"

	"fsweep/proto/schematest"
)

// TestSchemaKeys: the schema has every key of the Go types, no other, and demands
// those that are always written.
func TestSchemaKeys(t *testing.T) {
	t.Parallel()
	schematest.Keys(t, Schema(), schematest.Lines{
		Header: typeHeader, Bytes: []reflect.Type{reflect.TypeFor[Path](), reflect.TypeFor[Name]()},
		Types: map[string]any{
			"header": Header{}, "known": Known{}, "guard": Guard{}, "item": Item{}, "dir": Directory{}, "quota": Quota{}, "footer": Footer{},
		},
	})
}
