package policy

import _ "embed" // for the schema

// Schema is the JSON Schema (draft 2020-12) of a policy, with what each key means.
// Editors check a policy with it while it is written. [Parse] checks more.
//
//go:embed policy.schema.json
var Schema []byte
