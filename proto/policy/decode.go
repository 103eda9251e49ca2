package policy

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// decoder brings YAML into the structs of a policy by their tags. It knows every
// value's place, so that later checks can point at it.
type decoder struct {
	source   *source
	problems []Problem
	ns       Nameservice
}

func (d *decoder) fail(at position, key, format string, args ...any) {
	d.problems = append(d.problems, at.problem(key, fmt.Sprintf(format, args...)))
}

// entry is a key of a mapping with its value.
type entry struct {
	key   string
	at    position // of the key
	value ast.Node
}

// isElsewhere tells a single value that is not in the line of its key. Parsers do
// not agree on which of those belong together.
func (e *entry) isElsewhere() bool {
	_, _, single := scalarOf(e.value)
	return single && e.value.Type() != ast.NullType && nodePosition(e.value).line != e.at.line
}

// document decodes all of a policy. The nameservice comes first, wherever it
// stands: paths are read by it.
func (d *decoder) document(body ast.Node, p *Policy) {
	entries, ok := d.mapping(body, "")
	if !ok {
		return
	}
	for _, e := range entries {
		// If it is wrong, it is decoded and reported in its turn, and paths with it.
		if v, _, ok := scalarOf(e.value); ok && e.key == "nameservice" && p.Nameservice.set(v) == nil {
			d.ns = p.Nameservice
		}
	}
	d.source.at[""] = position{}
	d.fields(entries, "", reflect.ValueOf(p).Elem())
}

// value decodes a node into v, which is addressable.
func (d *decoder) value(n ast.Node, key string, v reflect.Value) {
	d.source.at[key] = nodePosition(n)
	if s, ok := reflect.TypeAssert[scalar](v.Addr()); ok {
		d.scalar(n, key, s)
		return
	}
	switch v.Kind() {
	case reflect.Slice:
		d.list(n, key, v)
	case reflect.Pointer: // a rule that is off unless something stands in its mapping
		entries, ok := d.mapping(n, key)
		if ok && len(entries) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			d.fields(entries, key, v.Elem())
		}
	default:
		if entries, ok := d.mapping(n, key); ok {
			d.fields(entries, key, v)
		}
	}
}

func (d *decoder) scalar(n ast.Node, key string, to scalar) {
	at := nodePosition(n)
	v, shift, ok := scalarOf(n)
	if !ok {
		d.fail(at, key, "%s, where a single value belongs", kindOf(n))
		return
	}
	v.ns = d.ns
	err := to.set(v)
	if err == nil {
		return
	}
	if inside, ok := errors.AsType[*offsetError](err); ok && shift >= 0 {
		at.column += shift + inside.offset
	}
	d.fail(at, key, "%v", err)
}

func (d *decoder) list(n ast.Node, key string, v reflect.Value) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		d.fail(nodePosition(n), key, "%s, where a list belongs, such as [a, b] or []", kindOf(n))
		return
	}
	if len(seq.Values) == 0 {
		v.SetZero()
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values)))
	for i, item := range seq.Values {
		element := v.Index(i)
		switch to := element.Addr().Interface().(type) {
		case *PinFile:
			*to = defaultPinFile()
		case *LiveSource:
			*to = defaultLiveSource()
		case *Root:
			*to = DefaultRoot(d.layoutOf(item))
		}
		d.value(item, fmt.Sprintf("%s[%d]", key, i), element)
	}
}

// layoutOf looks a root's layout up, because defaults follow from it. If there is
// none, or a wrong one, that is reported when its turn comes.
func (d *decoder) layoutOf(n ast.Node) Layout {
	var layout Layout
	if m, ok := n.(ast.MapNode); ok {
		for i := m.MapRange(); i.Next(); {
			if v, _, ok := scalarOf(i.Value()); ok && i.KeyValue().Key.GetToken().Value == "layout" {
				_ = layout.set(v) // reported in its turn
			}
		}
	}
	return layout
}

// mapping gives the entries of a mapping, each key once.
func (d *decoder) mapping(n ast.Node, key string) ([]entry, bool) {
	m, ok := n.(ast.MapNode)
	if !ok {
		d.fail(nodePosition(n), key, "%s, where keys with values belong", kindOf(n))
		return nil, false
	}
	var entries []entry
	seen := map[string]position{}
	for i := m.MapRange(); i.Next(); {
		t := i.KeyValue().Key.GetToken()
		e := entry{t.Value, tokenPosition(t), i.Value()}
		if before, ok := seen[e.key]; ok {
			d.fail(e.at, join(key, e.key), "a second time; it is already in line %d", before.line)
			continue
		}
		seen[e.key] = e.at
		entries = append(entries, e)
	}
	return entries, true
}

// fields decodes the entries of a mapping into the fields of a struct.
func (d *decoder) fields(entries []entry, key string, v reflect.Value) {
	layout := Layout("")
	if r, ok := reflect.TypeAssert[*Root](v.Addr()); ok {
		layout = r.Layout
	}
	found := map[string]bool{}
	for _, e := range entries {
		found[e.key] = true
		field, ok := fieldOf(v.Type(), e.key)
		switch {
		case !ok:
			d.fail(e.at, join(key, e.key), "unknown key%s", suggest(v.Type(), e.key))
		case layout != "" && !allows(field, layout):
			d.fail(e.at, join(key, e.key), "has no meaning for layout %s, only for %s",
				layout, strings.ReplaceAll(field.Tag.Get("layouts"), ",", " and "))
		case e.isElsewhere():
			d.fail(nodePosition(e.value), join(key, e.key), "a value in another line than its key, line %d", e.at.line)
		default:
			d.value(e.value, join(key, e.key), v.FieldByIndex(field.Index))
		}
	}
	for field := range v.Type().Fields() {
		name := field.Tag.Get("yaml")
		need := field.Tag.Get("need")
		if name == "" || found[name] || need != "always" && (need == "" || need != string(layout)) {
			continue
		}
		why := ""
		if need != "always" {
			why = " for layout " + need
		}
		d.fail(d.source.find(key), key, "%s is missing; it is required%s", name, why)
	}
}

func fieldOf(t reflect.Type, key string) (reflect.StructField, bool) {
	for f := range t.Fields() {
		if key != "" && f.Tag.Get("yaml") == key {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// allows tells whether a field has a meaning for roots of a layout.
func allows(f reflect.StructField, layout Layout) bool {
	list := f.Tag.Get("layouts")
	return list == "" || strings.Contains(","+list+",", ","+string(layout)+",")
}

func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

// suggest names the key that was probably meant.
func suggest(t reflect.Type, key string) string {
	best, distance := "", 3
	for f := range t.Fields() {
		name := f.Tag.Get("yaml")
		if n := edits(name, key); name != "" && n < distance && n < len(name)/2 {
			best, distance = name, n
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// edits is the Levenshtein distance of two short words.
func edits(a, b string) int {
	if len(b) > 40 {
		return len(b)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// scalarOf gives a scalar as it is written. shift is how far its first character
// is from the place of the node; -1 if characters do not map to columns.
func scalarOf(n ast.Node) (v value, shift int, ok bool) {
	t := n.GetToken()
	switch n := n.(type) {
	case *ast.StringNode:
		v.text = n.Value
		switch origin := strings.TrimSpace(t.Origin); {
		case t.Type == token.StringType && utf8.RuneCountInString(origin) == utf8.RuneCountInString(n.Value):
			return v, 0, true
		case utf8.RuneCountInString(origin) == utf8.RuneCountInString(n.Value)+2:
			return v, 1, true
		}
		return v, -1, true
	case *ast.IntegerNode, *ast.FloatNode:
		return value{text: strings.TrimSpace(t.Origin), kind: numberKind}, 0, true
	case *ast.NullNode:
		if t.Type == token.ImplicitNullType {
			return value{kind: otherKind}, 0, true
		}
		return value{text: t.Value, kind: otherKind}, 0, true
	case *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return value{text: t.Value, kind: otherKind}, 0, true
	}
	return v, -1, false
}

func kindOf(n ast.Node) string {
	switch n.(type) {
	case *ast.SequenceNode:
		return "a list"
	case ast.MapNode:
		return "keys with values"
	case *ast.NullNode:
		return "nothing"
	case *ast.StringNode:
		return "text"
	}
	return "a single value"
}

// nodePosition gives where a node starts; of a mapping that is its first key.
func nodePosition(n ast.Node) position {
	switch m := n.(type) {
	case *ast.MappingNode:
		if !m.IsFlowStyle && len(m.Values) > 0 {
			return tokenPosition(m.Values[0].Key.GetToken())
		}
	case *ast.MappingValueNode:
		return tokenPosition(m.Key.GetToken())
	}
	return tokenPosition(n.GetToken())
}
