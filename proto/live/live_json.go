package live

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"unicode"
)

// value decodes the next value of a live source, which must have no key twice in one
// object: the last one would hide what the first one names.
func (m *meter) value(d *json.Decoder, v any) error {
	var raw json.RawMessage
	if err := m.next(d, &raw); err != nil {
		return err
	}
	return decodeOnce(raw, v)
}

// decodeOnce decodes one whole value that has no key twice in one object.
func decodeOnce(raw []byte, v any) error {
	if err := keysOnce(raw, reflect.TypeOf(v)); err != nil {
		return err
	}
	return json.Unmarshal(raw, v)
}

// object is an object or array that keysOnce is in.
type object struct {
	keys    map[string]string       // as they are compared, to as they are; nil: of an array
	fields  map[string]reflect.Type // of a struct, by name as it is compared
	other   reflect.Type            // of all elements, or of all other keys; nil: anything
	isValue bool                    // what comes next belongs to a key
	next    reflect.Type            // of that
}

// keysOnce refuses a key that an object has twice. Package json takes the fields of t in
// whatever case they are written, so of these two that differ only in case are one key.
// Memory follows the value.
func keysOnce(raw []byte, t reflect.Type) error {
	var open []object
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if token == json.Delim('}') || token == json.Delim(']') {
			open = open[:len(open)-1]
			continue
		}
		of := t
		if n := len(open); n > 0 {
			top := &open[n-1]
			key, _ := token.(string)
			if took, err := top.take(key); took || err != nil {
				if err != nil {
					return err
				}
				continue
			}
			of = top.next
		}
		switch token {
		case json.Delim('{'):
			open = append(open, newObject(of))
		case json.Delim('['):
			open = append(open, object{next: elem(of)})
		}
	}
}

// take takes a key, if it is the turn of one.
func (o *object) take(key string) (bool, error) {
	if o.keys == nil {
		return false, nil
	}
	if o.isValue = !o.isValue; !o.isValue {
		return false, nil
	}
	as := key
	o.next = o.other
	if t, ok := o.fields[folded(key)]; ok {
		as, o.next = folded(key), t
	}
	if before, ok := o.keys[as]; ok {
		if before != key {
			return true, listErrorf("the keys %q and %q in one object are the same but for their case", before, key)
		}
		return true, listErrorf("the key %q is there twice in one object", key)
	}
	o.keys[as] = key
	return true, nil
}

func newObject(t reflect.Type) object {
	o := object{keys: map[string]string{}}
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == nil:
	case t.Kind() == reflect.Map:
		o.other = t.Elem()
	case t.Kind() == reflect.Struct:
		o.fields = map[string]reflect.Type{}
		for _, f := range reflect.VisibleFields(t) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
				o.fields[folded(name)] = f.Type
			}
		}
	}
	return o
}

// elem is the type of the elements of an array.
func elem(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Slice {
		return nil
	}
	return t.Elem()
}

// folded gives keys that package json does not tell apart the same form.
func folded(key string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, key)
}

// withoutMark leaves out a byte order mark at the start.
func withoutMark(r io.Reader) io.Reader {
	b := bufio.NewReader(r)
	// An error comes again with the next read.
	if start, _ := b.Peek(len(byteOrderMark)); string(start) == byteOrderMark {
		_, _ = b.Discard(len(byteOrderMark))
	}
	return b
}
