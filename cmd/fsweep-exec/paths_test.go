package main

import (
	"strings"
	"testing"
)

// TestTypedPath: what people type for a directory of the cluster is taken, and nothing that
// could mean another one.
func TestTypedPath(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"/a":        "/a",
		"/a/":       "/a",
		"/a/b///":   "/a/b",
		"/a\n/ b ":  "/a\n/ b ",
		"/a\xff/":   "/a\xff",
		`/a\n`:      `/a\n`,
		"/..a/b..c": "/..a/b..c",
	} {
		if got, err := typedPath(text); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
		if got, err := typedTree(text); err != nil || string(got) != want {
			t.Errorf("tree %q: %q, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"": "is empty", "a": "not absolute", "a/b/": "not absolute", "hdfs://ns1/a": "not absolute", "/a//b": "component",
		"/a/../b": "component", "/a/.": "component", "/a/.snapshot/s": "component", "/.reserved/raw/a": "reserved", "//a": "component",
	} {
		for name, f := range map[string]func(string) (string, error){
			"path": func(s string) (string, error) { p, err := typedPath(s); return string(p), err },
			"tree": func(s string) (string, error) { p, err := typedTree(s); return string(p), err },
		} {
			if got, err := f(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "plan") {
				t.Errorf("%s %q: %q, %v, want %q", name, text, got, err, want)
			}
		}
	}
	for _, root := range []string{"/", "//"} {
		if got, err := typedPath(root); err == nil {
			t.Errorf("%q: %q", root, got)
		}
		if got, err := typedTree(root); err != nil || got != "" {
			t.Errorf("%q: %q, %v", root, got, err)
		}
	}
}
