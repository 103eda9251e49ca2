package execute_test

import (
	"errors"
	"strings"
	"testing"

	"fsweep/execute"
)

// A NameNode, or who plays one, writes nothing into a log but this one line.
func TestRemoteErrorIsOneLine(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"a\nb", "a\rb", "\x1b[31m", "a\u202eb", "a\xffb", "a\x00b"} {
		for _, e := range []execute.RemoteError{{Call: "rename2", Class: s, Message: "m"}, {Call: "rename2", Class: "c", Message: s}} {
			if got := e.Error(); strings.Contains(got, s) || strings.ContainsAny(got, "\n\r\x1b\x00") {
				t.Errorf("%q: %q", s, got)
			}
		}
	}
	e := execute.RemoteError{Call: "rename2", NameNode: "nn:8020", Class: "java.io.IOException", Message: "größer", Kind: execute.ErrQuota}
	if got, want := e.Error(), "rename2: NameNode nn:8020: java.io.IOException: größer"; got != want || !errors.Is(&e, execute.ErrQuota) {
		t.Errorf("got %q, want %q", got, want)
	}
	if gone := (&execute.ReplacedError{Asked: 1, Got: 2}); !errors.Is(gone, execute.ErrNotFound) || errors.Is(gone, execute.ErrChanged) {
		t.Errorf("%v", gone)
	}
}
