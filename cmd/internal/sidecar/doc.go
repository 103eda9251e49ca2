// Package sidecar holds the small JSON files that stand beside others: what is known
// of an image that was fetched ([Fetched]), and what live lists named before
// ([LiveState]). It opens nothing: bytes come in and go out. Both are read strictly,
// because what is misread here makes something look older, or deader, than it is.
// docs/format/sidecars.md describes them.
//
// Values belong to one goroutine at a time.
package sidecar

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// ErrInvalid is wrapped by all errors about the contents of a file.
var ErrInvalid = errors.New("not understood")

func invalidf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}

// decode reads one JSON object into v: no unknown or doubled keys, nothing behind it.
func decode(data []byte, v any) error {
	if !utf8.Valid(data) {
		return invalidf("it is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return invalidf("it ends in the middle")
		}
		return invalidf("%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return invalidf("something follows the object, at byte %d", d.InputOffset())
	}
	return nil
}

// checkKeys wants one flat object of exact keys, none of them twice: package json
// takes the last one, and does not look at the case of letters.
func checkKeys(data []byte, known ...string) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return invalidf("it is no JSON object")
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return invalidf("%v", err)
		}
		key, _ := t.(string)
		if seen[key] {
			return invalidf("the key %q is there twice", key)
		}
		seen[key] = true
		if !slices.Contains(known, key) {
			return invalidf("the key %q is unknown", key)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return invalidf("%v", err)
		}
		if string(value) == "null" {
			return invalidf("%s is null; leave out what is not known", key)
		}
	}
	return nil
}
