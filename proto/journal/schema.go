package journal

import _ "embed"

//go:embed journal.schema.json
var schema string

// Schema returns the JSON Schema (draft 2020-12) of one line. It describes keys, types
// and units; what concerns several lines, the order of keys and the like is checked by
// [Open] alone.
func Schema() string { return schema }
