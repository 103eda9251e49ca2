package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"
)

// fakeRoot makes files below a directory that stands for /.
func fakeRoot(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	const (
		used    = 1 << 20
		meminfo = "MemTotal:       24000000 kB\nMemAvailable:    2000000 kB\nSwapFree:              0 kB\nHugePages_Total:       0\n"
		free    = used + 2000000*1024 - 64<<20
		none    = math.MaxInt64
		machine = "free memory of this machine"
		v2      = "sys/fs/cgroup/a/b/"
		v1      = "sys/fs/cgroup/memory/a/"
	)
	type files = map[string]string
	for name, c := range map[string]struct {
		files  files
		own    string
		bytes  int64
		source string
	}{
		"nothing is known":        {nil, "", none, ""},
		"GOMEMLIMIT counts alone": {files{"proc/meminfo": meminfo}, "1TiB", 1 << 40, "GOMEMLIMIT"},
		"off":                     {files{"proc/meminfo": meminfo}, "off", none, ""},
		"what the machine has":    {files{"proc/meminfo": meminfo}, "", free, machine},
		"the machine has nothing": {files{"proc/meminfo": "MemTotal: 1000 kB\nMemAvailable: 0 kB\n"}, "", used - 20480, machine},
		"swap counts":             {files{"proc/meminfo": "MemAvailable: 1000 kB\nSwapFree: 1000 kB\n"}, "", used + 2000*1024, machine},
		"group of version 2":      {files{"proc/self/cgroup": "0::/a/b\n", v2 + "memory.max": "1000000000\n", "proc/meminfo": meminfo}, "", 900000000, "/" + v2 + "memory.max"},
		"one above is lower":      {files{"proc/self/cgroup": "0::/a/b\n", v2 + "memory.max": "1000000000\n", "sys/fs/cgroup/a/memory.max": "500000000\n"}, "", 450000000, "/sys/fs/cgroup/a/memory.max"},
		"soft limit":              {files{"proc/self/cgroup": "0::/a/b\n", v2 + "memory.max": "max\n", v2 + "memory.high": "1000000000\n"}, "", 900000000, "/" + v2 + "memory.high"},
		"no limit in version 2":   {files{"proc/self/cgroup": "0::/a/b\n", v2 + "memory.max": "max\n", "proc/meminfo": meminfo}, "", free, machine},
		"a container's root":      {files{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1000000000\n"}, "", 900000000, "/sys/fs/cgroup/memory.max"},
		"group of version 1":      {files{"proc/self/cgroup": "7:cpu:/x\n4:hugetlb,memory:/a\n", v1 + "memory.limit_in_bytes": "1000000000\n"}, "", 900000000, "/" + v1 + "memory.limit_in_bytes"},
		"no limit in version 1":   {files{"proc/self/cgroup": "4:memory:/a\n", v1 + "memory.limit_in_bytes": "9223372036854771712\n", "proc/meminfo": meminfo}, "", free, machine},
		"a path of the host's":    {files{"proc/self/cgroup": "4:memory:/docker/f00\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "1000000000\n"}, "", 900000000, "/sys/fs/cgroup/memory/memory.limit_in_bytes"},
		"another container's":     {files{"proc/self/cgroup": "0::/../a/b\n", v2 + "memory.max": "1000\n", "proc/meminfo": meminfo}, "", free, machine},
		"small group":             {files{"proc/self/cgroup": "0::/a/b\n", v2 + "memory.max": "134217728\n"}, "", 96 << 20, "/" + v2 + "memory.max"},
		"tiny group":              {files{"proc/self/cgroup": "0::/a/b\n", v2 + "memory.max": "30000000\n"}, "", 20000000, "/" + v2 + "memory.max"},
		"the machine has less":    {files{"proc/self/cgroup": "0::/a/b\n", v2 + "memory.max": "99000000000\n", "proc/meminfo": meminfo}, "", free, machine},
		"others in the group": {files{
			"proc/self/cgroup": "0::/a/b\n", v2 + "memory.max": "1000000000\n", v2 + "memory.current": "701048576\n", // with what is used
			v2 + "memory.stat": "anon 5\ninactive_file 300000000\nactive_file 7\n",
		}, "", 500000000, "/" + v2 + "memory.max"},
		"others in a group of version 1": {files{
			"proc/self/cgroup": "4:memory:/a\n", v1 + "memory.limit_in_bytes": "1000000000\n", v1 + "memory.usage_in_bytes": "401048576\n",
			v1 + "memory.stat": "inactive_file 1\ntotal_inactive_file 300000000\n",
		}, "", 800000000, "/" + v1 + "memory.limit_in_bytes"},
		"others have all": {files{"proc/self/cgroup": "0::/a/b\n", v2 + "memory.max": "1000000000\n", v2 + "memory.current": "2000000000\n"}, "", 0, "/" + v2 + "memory.max"},
		"garbage":         {files{"proc/self/cgroup": "x\n4\n::\n4:memory:../../..\n", "proc/meminfo": "MemAvailable: ?\n:\nMemAvailable\n"}, "", none, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := systemMemory{root: fakeRoot(t, c.files), own: c.own, set: 1 << 40}.limit(used)
			if got != (memoryLimit{c.bytes, c.source}) {
				t.Errorf("%+v, want %d of %q", got, c.bytes, c.source)
			}
		})
	}
}

// TestWatchMemory: limits are read again before the alarm, as others may have
// given memory back.
func TestWatchMemory(t *testing.T) {
	page := int64(os.Getpagesize())
	pages := func(n int64) string { return fmt.Sprintf("9999 %d 0 1 0 0 0\n", n) }
	root := fakeRoot(t, map[string]string{"proc/self/statm": pages(100), "proc/meminfo": fmt.Sprintf("MemTotal: 900000000 kB\nMemAvailable: %d kB\n", 20_000*page>>10)})
	write := func(file, content string) {
		// Under another name first: a half written file must not be seen.
		next := filepath.Join(root, "next")
		if err := os.WriteFile(next, []byte(content), 0o600); err != nil {
			t.Error(err)
		}
		if err := os.Rename(next, filepath.Join(root, file)); err != nil {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	before := debug.SetMemoryLimit(-1)
	ended := make(chan error, 1)
	go func() { ended <- systemMemory{root: root, set: before}.watch(ctx) }()
	time.Sleep(5 * watchInterval)
	write("proc/meminfo", fmt.Sprintf("MemTotal: 900000000 kB\nMemAvailable: %d kB\n", 100_000*page>>10)) // somebody else ended
	write("proc/self/statm", pages(50_000))                                                               // more than there was at the start
	select {
	case err := <-ended:
		t.Fatalf("false alarm: %v", err)
	case <-time.After(10 * watchInterval):
	}
	write("proc/meminfo", "MemTotal: 900000000 kB\nMemAvailable: 0 kB\n")
	write("proc/self/statm", pages(400_000))
	err := <-ended
	memory, ok := errors.AsType[*MemoryError](err)
	if !ok || memory.Source != "free memory of this machine" || memory.Used <= memory.Limit {
		t.Errorf("%v", err)
	}
	if now := debug.SetMemoryLimit(-1); now != before {
		t.Errorf("the runtime's limit stays %d, it was %d", now, before)
	}
}

func TestMemoryUsed(t *testing.T) {
	t.Parallel()
	page := int64(os.Getpagesize())
	for content, want := range map[string]int64{"900 50 20 1 0 40 0\n": 30 * page, "": -1, "1 2": -1, "a b c": -1} {
		used, ok := systemMemory{root: fakeRoot(t, map[string]string{"proc/self/statm": content})}.used()
		if ok != (want >= 0) || ok && used != want {
			t.Errorf("%q: %d, %v; want %d", content, used, ok, want)
		}
	}
}

// TestMemoryError: the command ends with it, whatever it was doing.
func TestMemoryError(t *testing.T) {
	t.Parallel()
	env, read := testEnv(t)
	err := &MemoryError{Used: 130 << 20, Limit: 128 << 20, Source: "GOMEMLIMIT"}
	env.print(err)
	if got, want := read(env.Stderr), "prog: error: not enough memory: 130 MiB are in use and the limit is 128 MiB (GOMEMLIMIT)\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if code := ExitCode(err); code != ExitFailure {
		t.Errorf("exit code %d", code)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(err)
	if _, ok := errors.AsType[*MemoryError](context.Cause(ctx)); !ok {
		t.Error("the cause is lost")
	}
}
