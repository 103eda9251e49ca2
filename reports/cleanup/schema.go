package cleanup

import _ "embed"

//go:embed plan-report.schema.json
var planSchema string

//go:embed explain.schema.json
var explainSchema string

// PlanSchema is the JSON Schema (draft 2020-12) of what [JSON] writes.
func PlanSchema() string { return planSchema }

// ExplainSchema is the JSON Schema (draft 2020-12) of what [ExplainJSON] writes.
func ExplainSchema() string { return explainSchema }
