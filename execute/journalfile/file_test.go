package journalfile

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fsweep/proto/journal"
)

const childDir = "FSWEEP_TEST_JOURNAL_DIR"

// TestMain is also the process that TestKill kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := writeForEver(&Dir{dir, disk{}}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// writeForEver appends lines and prints the number of each that is on the disk.
func writeForEver(d *Dir) error {
	names, err := d.Names()
	if err != nil {
		return err
	}
	var w *Writer
	client := byte(1)
	if len(names) == 0 {
		w, err = d.Create(header())
	} else if w, err = d.Reopen(names[0]); err == nil {
		client = byte(w.Journal().Len()%251 + 2)
		err = w.Append(resumed(client))
	}
	for id := uint64(os.Getpid()) << 20; err == nil; id++ {
		pending, _ := w.State().Pending()
		var l journal.Line = move(id, client, int64(id&0xfffff))
		if pending != nil {
			l = &journal.Settled{Stamp: journal.Stamp{AtMs: at}, Intent: pending.Seq, How: journal.NotHappened}
		}
		if err = w.Append(l); err == nil {
			fmt.Println(l.Stamped().Seq)
		}
	}
	return err
}

// TestKill: a process that is killed leaves every line that it was promised, a lock that
// is free, and a journal that the next one goes on with.
func TestKill(t *testing.T) {
	t.Parallel()
	d := TestDir(t)
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	said := 0
	for round := range rounds {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childDir+"="+d.Path())
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewScanner(out)
		for n := 0; in.Scan(); n++ {
			if said, err = strconv.Atoi(in.Text()); err != nil {
				t.Fatal(err)
			}
			if n == 20+7*round {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("it ended by itself")
		}
		names, err := d.Names()
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		f, err := Open(filepath.Join(d.Path(), names[0]))
		if err != nil {
			t.Fatal(err)
		}
		if f.Busy || f.Len() < said {
			t.Fatalf("busy %v, %d lines, %d were promised", f.Busy, f.Len(), said)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d lines after %d kills", said, rounds)
}

// TestFile: name, mode, lock, content.
func TestFile(t *testing.T) {
	t.Parallel()
	d := TestDir(t)
	w, said, _, err := script(d)
	if err != nil {
		t.Fatal(err)
	}
	const want = "20270115T080000Z-run-010000000000-01000000.jsonl"
	names, err := d.Names()
	if err != nil || !slices.Equal(names, []string{want}) || w.Path() != filepath.Join(d.Path(), want) {
		t.Errorf("names %q, %v", names, err)
	}
	s, err := os.Lstat(w.Path())
	if err != nil || s.Mode() != 0o600 {
		t.Errorf("mode %v, %v", s.Mode(), err)
	}
	if _, err := d.Create(header()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("created twice: %v", err)
	}
	if _, err := os.Lstat(w.Path()); err != nil {
		t.Errorf("the second creation removed the first: %v", err)
	}
	f, err := Open(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	if f.Busy || f.Len() != said || f.Last() != w.Last() || f.Ended().ExitCode != 5 {
		t.Errorf("%d lines, last %s", f.Len(), f.Last())
	}
	if _, err := d.Reopen(want); !errors.Is(err, ErrLocked) {
		t.Errorf("reopened while it is read: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := goOn(d, want, 2); err != nil {
		t.Error(err)
	}
}

// TestLock: one writer; readers see that it writes, and read what was there.
func TestLock(t *testing.T) {
	t.Parallel()
	d := TestDir(t)
	w, err := d.Create(header())
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(w.Path())
	if _, err := d.Reopen(name); !errors.Is(err, ErrLocked) {
		t.Errorf("two writers: %v", err)
	}
	f, err := Open(w.Path())
	if err != nil || !f.Busy {
		t.Fatal(f, err)
	}
	defer f.Close()
	for id := range uint64(2000) {
		if err := w.Append(skipped(id + 1)); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for _, err := range f.Lines() {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 1 {
		t.Errorf("%d lines", n)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := d.Reopen(name)
	if err != nil {
		t.Fatal(err)
	}
	if again.Journal().Len() != 2001 {
		t.Errorf("%d lines", again.Journal().Len())
	}
	if err := again.Append(skipped(5000)); err == nil || again.Append(resumed(2)) == nil {
		t.Errorf("not resumed first: %v", err)
	}
	if err := again.Close(); err == nil {
		t.Error("closed without an error")
	}
	if s, err := os.Stat(w.Path()); err != nil || s.Size() != again.Journal().CutTo() {
		t.Errorf("the file changed: %v", err)
	}
}

// TestLockOfACopy: a program that is being started has the descriptor as well for a
// moment, and must not keep the lock.
func TestLockOfACopy(t *testing.T) {
	t.Parallel()
	d := TestDir(t)
	w, _, _, err := script(d)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(w.Path())
	w, err = d.Reopen(name)
	if err != nil {
		t.Fatal(err)
	}
	copied, err := syscall.Dup(int(w.f.(*diskFile).Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(copied)
	_ = w.Close() // it was not resumed, which is an error
	f, err := Open(w.Path())
	if err != nil || f.Busy {
		t.Fatalf("busy: %v", err)
	}
	again, err := syscall.Dup(int(f.f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(again)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if w, err = d.Reopen(name); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
}

// TestTorn: nothing is cut before the resumed line, and then exactly the torn piece.
func TestTorn(t *testing.T) {
	t.Parallel()
	d := TestDir(t)
	w, _, _, err := script(d)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	torn := append(slices.Clone(b), "{\"type\":\x00\x00"...)
	if err := os.WriteFile(w.Path(), torn, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := d.Reopen(filepath.Base(w.Path()))
	if err != nil {
		t.Fatal(err)
	}
	if again.Journal().Torn() != 10 {
		t.Errorf("torn %d", again.Journal().Torn())
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(w.Path()); err != nil || !slices.Equal(got, torn) {
		t.Error("looking at it changed it", err)
	}
	if err := goOn(d, filepath.Base(w.Path()), 2); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(w.Path())
	if err != nil || !strings.HasPrefix(string(got), string(b)+`{"type":"resumed","seq":10,`) || !strings.Contains(string(got), `"cut_bytes":10}`) {
		t.Errorf("%s, %v", got, err)
	}
}

// TestBroken: what is no journal is refused, and stays as it was.
func TestBroken(t *testing.T) {
	t.Parallel()
	d := TestDir(t)
	w, _, _, err := script(d)
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		content string
		class   error
	}{
		"empty":   {"", journal.ErrNotBegun},
		"begun":   {string(good[:50]), journal.ErrNotBegun},
		"changed": {strings.Replace(string(good), `"rule":"changed"`, `"rule":"chanGed"`, 1), journal.ErrInvalid},
		"plan":    {`{"type":"plan",`, journal.ErrNotJournal},
	} {
		path := filepath.Join(d.Path(), name)
		if err := os.WriteFile(path, []byte(tc.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Reopen(name); !errors.Is(err, tc.class) || !strings.Contains(err.Error(), path+": line ") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Open(path); !errors.Is(err, tc.class) {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != tc.content {
			t.Errorf("%s was changed", name)
		}
	}
	bad := header()
	bad.User = ""
	if _, err := d.Create(bad); !errors.Is(err, journal.ErrInvalid) {
		t.Error(err)
	}
	if names, err := d.Names(); err != nil || len(names) != 1 {
		t.Errorf("a header that is refused made a file: %q, %v", names, err)
	}
}

// TestNotFiles: names of other directories, links, pipes and directories.
func TestNotFiles(t *testing.T) {
	t.Parallel()
	d := TestDir(t)
	w, _, _, err := script(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(w.Path(), filepath.Join(d.Path(), "link.jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(d.Path(), "dir.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(d.Path(), "pipe.jsonl"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", ".", "..", "../" + filepath.Base(d.Path()) + "/" + filepath.Base(w.Path()), "missing.jsonl", "link.jsonl", "dir.jsonl", "pipe.jsonl"} {
		begun := time.Now()
		if _, err := d.Reopen(name); err == nil {
			t.Errorf("%q was reopened", name)
		}
		f, err := Open(filepath.Join(d.Path(), name))
		if err == nil && name != "link.jsonl" && !strings.HasPrefix(name, "../") {
			t.Errorf("%q was opened", name)
		}
		if err == nil { // or the next one is refused only because it is in use
			_ = f.Close()
		}
		if time.Since(begun) > 10*time.Second {
			t.Errorf("%q: waited", name)
		}
	}
	if names, err := d.Names(); err != nil || len(names) != 1 {
		t.Errorf("%q, %v", names, err)
	}
}

// TestOpenDir: no temporary directory, whatever leads there.
func TestOpenDir(t *testing.T) {
	t.Parallel()
	if d, err := OpenDir("/usr"); err != nil || d.Path() != "/usr" {
		t.Errorf("/usr: %v", err)
	}
	inside := t.TempDir()
	for _, path := range []string{os.TempDir(), inside, inside + "/../" + filepath.Base(inside), "/tmp", "/tmp/", "//tmp/.", "/usr/../tmp", "/var/tmp", "/dev/shm"} {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if _, err := OpenDir(path); !errors.Is(err, ErrTemporary) {
			t.Errorf("%s: %v", path, err)
		}
	}
	file := filepath.Join(inside, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, inside + "/missing", "", "/usr/fsweep-is-not-here"} {
		if _, err := OpenDir(path); err == nil {
			t.Errorf("%q was taken", path)
		}
	}
}

func TestTemporary(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for _, dir := range []string{"tmp/x", "tmpx", "other/x"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"intmp": "tmp/x", "totmp": "tmp", "out": "other", "tmp/out": "../other"} {
		if err := os.Symlink(to, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		dir, temp string
		refused   bool
	}{
		{"tmp", "tmp", true},
		{"tmp/x", "tmp", true},
		{"tmpx", "tmp", false},
		{"other", "tmp", false},
		{"other/x", "other/x", true},
		{"other", "other/x", false},
		{"intmp", "tmp", true},
		{"totmp", "tmp", true},
		{"totmp/x", "tmp", true},
		{"tmp/out", "tmp", true}, // whoever empties tmp takes the link away
		{"other/x", "out", true},
		{"out/x", "out", true},
		{"out/x", "other", true},
		{"tmp/x", "out", false},
		{"tmp", "missing", false},
	} {
		got, err := temporary(filepath.Join(top, tc.dir), filepath.Join(top, tc.temp))
		if err != nil || (got != "") != tc.refused {
			t.Errorf("%s with %s: %q, %v", tc.dir, tc.temp, got, err)
		}
	}
}
