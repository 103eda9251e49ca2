package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"fsweep/proto/planfile"
)

// checkPlan holds every line of a plan against its schema, and counts anew.
func checkPlan(plan []byte) error {
	schema, err := planSchema()
	if err != nil {
		return err
	}
	var c planCounter
	n := 0
	for line := range bytes.Lines(plan) {
		n++
		if line[len(line)-1] != '\n' {
			return fmt.Errorf("line %d has no end", n)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := schema.Validate(v); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := c.line(v.(map[string]any)); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	if !c.ended {
		return fmt.Errorf("the plan has no footer")
	}
	if _, _, err := planfile.Open(bytes.NewReader(plan)); err != nil {
		return err
	}
	return nil
}

// planSchema compiles proto/planfile/plan.schema.json.
var planSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(planfile.Schema()))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("plan.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("plan.json")
})

// planCounter adds up a plan, apart from its reader.
type planCounter struct {
	lines             map[string]int64
	planned, deferred map[string]int64
	ended             bool
}

func (c *planCounter) line(l map[string]any) error {
	if c.lines == nil {
		c.lines, c.planned, c.deferred = map[string]int64{}, map[string]int64{}, map[string]int64{}
	}
	switch kind := l["type"].(string); kind {
	case "plan":
	case "item":
		c.lines[kind]++
		sums := c.planned
		if l["deferred"] != nil {
			sums = c.deferred
		}
		sums["items"]++
		return addNumbers(sums, "", map[string]any{"entries": l["entries"], "totals": l["totals"], "freed": l["freed"]})
	case "footer":
		c.ended = true
		for kind, key := range map[string]string{"known": "known", "guard": "guards", "item": "items", "dir": "dirs", "quota": "quotas"} {
			if got := fmt.Sprint(l[key]); got != fmt.Sprint(c.lines[kind]) {
				return fmt.Errorf("footer: %s %s, and there are %d", key, got, c.lines[kind])
			}
		}
		for key, want := range map[string]map[string]int64{"planned": c.planned, "deferred": c.deferred} {
			got := map[string]int64{}
			if err := addNumbers(got, "", l[key].(map[string]any)); err != nil {
				return err
			}
			maps.DeleteFunc(got, func(_ string, n int64) bool { return n == 0 })
			maps.DeleteFunc(want, func(_ string, n int64) bool { return n == 0 })
			if !maps.Equal(got, want) {
				return fmt.Errorf("footer: %s %v, and it is %v", key, got, want)
			}
		}
	default:
		c.lines[kind]++
	}
	return nil
}

// addNumbers adds the numbers of an object, at any depth, by their keys.
func addNumbers(sums map[string]int64, prefix string, object map[string]any) error {
	for key, v := range object {
		switch v := v.(type) {
		case map[string]any:
			if err := addNumbers(sums, prefix+key+".", v); err != nil {
				return err
			}
		case json.Number:
			n, err := v.Int64()
			if err != nil {
				return err
			}
			sums[prefix+key] += n
		default:
			return fmt.Errorf("%s%s is %T", prefix, key, v)
		}
	}
	return nil
}
