package main_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// writeMetadata writes a _metadata file into a directory below dir.
func writeMetadata(t *testing.T, dir, below string, id int64, paths ...string) {
	t.Helper()
	var refs []flinkRef
	for _, p := range paths {
		kind := "file"
		if !strings.Contains(p, ":/") {
			kind = "relative"
		}
		refs = append(refs, flinkRef{kind: kind, path: p, size: 1})
	}
	full := filepath.Join(dir, below)
	if err := errors.Join(os.MkdirAll(full, 0o700), os.WriteFile(filepath.Join(full, "_metadata"), flinkMetadata(id, refs...), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestReferencesOwnRun: which run is a file's own, and what follows, where names lie.
func TestReferencesOwnRun(t *testing.T) {
	const (
		id, other = "/8413978720d4030c5d631f3b2b9c30d4", "/b210783f7dd7a98fdbb6f3693ef0a346"
		reused    = "/ffffffff8e2d96d90000000000000000"
	)
	program := buildProgram(t)
	for _, c := range []struct {
		name  string
		at    string
		paths []string
		path  string            // of the run
		marks map[string]string // by directory: false, true, and absent
		text  []string
	}{
		{
			name: "the root moved, the id stayed", at: "v2" + id + "/chk-8",
			paths: []string{"hdfs://nn/flink/v2" + id + "/chk-8/a", "hdfs://nn/flink/v2" + id + "/shared/b", "hdfs://nn/flink/ckpt" + id + "/shared/c"},
			path:  "hdfs://nn/flink/v2" + id,
			marks: map[string]string{"hdfs://nn/flink/v2" + id + "/chk-8": "false", "hdfs://nn/flink/v2" + id + "/shared": "false", "hdfs://nn/flink/ckpt" + id + "/shared": "true"},
			text:  []string{"; 1 of 3 directories are OUTSIDE of it", "  run path     hdfs://nn/flink/v2" + id + "\n", "OUTSIDE  hdfs://nn/flink/ckpt" + id + "/shared\n"},
		},
		{
			name: "the id of another cluster", at: "flink/b" + reused + "/chk-8",
			paths: []string{"hdfs://nn/flink/a" + reused + "/shared/x"},
			marks: map[string]string{"hdfs://nn/flink/a" + reused + "/shared": "absent"},
			text:  []string{"  own run      not known, so nothing is marked"},
		},
		{
			name: "no id, another job", at: "flink/b/job/chk-8",
			paths: []string{"hdfs://nn/flink/a/job/shared/x"},
			marks: map[string]string{"hdfs://nn/flink/a/job/shared": "absent"},
			text:  []string{"  own run      not known, so nothing is marked"},
		},
		{
			name: "in the folder of another run", at: "r" + other + "/chk-8",
			paths: []string{"hdfs://nn/r" + id + "/chk-8/x", "hdfs://nn/r" + other + "/shared/y"},
			path:  "hdfs://nn/r" + id,
			marks: map[string]string{"hdfs://nn/r" + id + "/chk-8": "false", "hdfs://nn/r" + other + "/shared": "true"},
			text:  []string{"  own run      " + id[1:] + "; 1 of 2", "  note         the file lies in a folder of " + other[1:] + ", but its chk-8 is in the run path\n"},
		},
		{
			name: "a relative path upwards", at: "r" + id + "/chk-8",
			paths: []string{"hdfs://nn/r" + id + "/chk-8/x", "../y/z"},
			path:  "hdfs://nn/r" + id,
			marks: map[string]string{"hdfs://nn/r" + id + "/chk-8": "false", "r" + id + "/y": "absent"},
			text:  []string{"/y  relative to the file\n", "; no full path leads out of it, but the relative ones may\n"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			writeMetadata(t, dir, c.at, 8, c.paths...)
			t.Chdir(dir)
			var doc referencesDocument
			mustUnmarshal(t, runProgram(t, program, "references", "--format", "json", c.at), &doc)
			f := doc.Files[0]
			if f.OwnRunPath != c.path || f.OwnRun != filepath.Base("x/"+c.path) && c.path != "" {
				t.Errorf("run %q at %q", f.OwnRun, f.OwnRunPath)
			}
			for _, d := range f.Directories {
				mark := "absent"
				if d.Outside != nil {
					mark = map[bool]string{true: "true", false: "false"}[*d.Outside]
				}
				if mark != c.marks[d.Path] {
					t.Errorf("%s: outside %s", d.Path, mark)
				}
			}
			if len(f.Directories) != len(c.marks) {
				t.Errorf("%d directories", len(f.Directories))
			}
			text := string(runProgram(t, program, "references", c.at))
			for _, want := range c.text {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
		})
	}
}

// TestReferencesErrorNames: different names are different in messages too.
func TestReferencesErrorNames(t *testing.T) {
	program, dir := buildProgram(t), t.TempDir()
	names := map[string]string{
		"a\xff": `a\xff`, "a\xfe": `a\xfe`, "a\n": `a\n`, "a; ": `a;\x20`, " a": `\x20a`, `a\n`: `a\\n`, "a\u202e": `a\u{202e}`, "a\u202d": `a\u{202d}`, "ü": "ü",
	}
	args := []string{"references"}
	for name := range names {
		if err := os.MkdirAll(filepath.Join(dir, "in", name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "in", name, "_metadata"), []byte("no metadata"), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "gone"+name)
	}
	cmd := exec.CommandContext(t.Context(), program, append(args, "in")...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if _ = cmd.Run(); cmd.ProcessState.ExitCode() != 2 {
		t.Errorf("exit code %d", cmd.ProcessState.ExitCode())
	}
	for name, escaped := range names {
		gone := "fsweep: error: gone" + escaped + ": no such file or directory\n"
		if name == " a" {
			gone = "fsweep: error: gone a: no such file or directory\n" // the blank is not at an end
		}
		for _, want := range []string{gone, "fsweep: error: in/" + inside(escaped) + "/_metadata: header, offset 0: not a Flink metadata file\n"} {
			if strings.Count(stderr.String(), want) != 1 {
				t.Errorf("not once: %q", want)
			}
		}
	}
	if t.Failed() {
		t.Log(stderr.String())
	}
}

// inside is a name between others, where blanks need no escape.
func inside(escaped string) string { return strings.ReplaceAll(escaped, `\x20`, " ") }

// TestReferencesText: text goes out while the file is still coming in.
func TestReferencesText(t *testing.T) {
	program := buildProgram(t)
	var refs []flinkRef
	for range 4000 {
		refs = append(refs, flinkRef{kind: "file", path: "hdfs://nn/r/shared/" + strings.Repeat("x", 80), size: 1})
	}
	b := flinkMetadata(8, refs...)
	for _, format := range []string{"text", "ndjson"} {
		cmd := exec.CommandContext(t.Context(), program, "references", "-", "--format", format)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		came := make(chan bool)
		go func() {
			_, _ = in.Write(b[:len(b)-1000])
			<-came
			_, _ = in.Write(b[len(b)-1000:])
			_ = in.Close()
		}()
		if _, err := out.Read(make([]byte, 1000)); err != nil {
			t.Errorf("%s: %v", format, err)
		}
		close(came)
		var rest bytes.Buffer
		if _, err := rest.ReadFrom(out); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
}
