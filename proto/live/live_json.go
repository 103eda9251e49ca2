package live

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
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
	if err := keysOnce(raw); err != nil {
		return err
	}
	return json.Unmarshal(raw, v)
}

// keysOnce refuses a key that an object has twice. Memory follows the value.
func keysOnce(raw []byte) error {
	type level struct {
		keys    map[string]bool // nil: of an array
		isValue bool            // what comes next belongs to a key
	}
	var open []level
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if t == json.Delim('}') || t == json.Delim(']') {
			open = open[:len(open)-1]
			continue
		}
		if n := len(open); n > 0 && open[n-1].keys != nil {
			top := &open[n-1]
			if top.isValue = !top.isValue; top.isValue {
				key, _ := t.(string)
				if top.keys[key] {
					return listErrorf("the key %q is there twice in one object", key)
				}
				top.keys[key] = true
				continue
			}
		}
		switch t {
		case json.Delim('{'):
			open = append(open, level{keys: map[string]bool{}})
		case json.Delim('['):
			open = append(open, level{})
		}
	}
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
