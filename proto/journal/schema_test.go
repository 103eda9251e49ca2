package journal

import (
	"reflect"
	"testing"

	"fsweep/proto/planfile"
	"fsweep/proto/schematest"
)

// TestSchemaKeys: the schema has every key of the Go types, no other, and demands
// those that are always written.
func TestSchemaKeys(t *testing.T) {
	t.Parallel()
	schematest.Keys(t, Schema(), schematest.Lines{
		Header: typeHeader, Bytes: []reflect.Type{reflect.TypeFor[planfile.Path](), reflect.TypeFor[planfile.Name]()},
		Types: map[string]any{
			"header": Header{}, "intent": Intent{}, "done": Done{}, "skipped": Skipped{}, "failed": Failed{}, "unknown": Unknown{},
			"settled": Settled{}, "resumed": Resumed{}, "end": End{},
		},
	})
}
