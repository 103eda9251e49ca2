package cli

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
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
		meminfo = "MemTotal:       24000000 kB\nMemAvailable:    2000000 kB\nSwapFree:              0 kB\nHugePages_Total:       0\n"
		free    = 2000000 * 1024 / 20 * 19
		none    = math.MaxInt64
	)
	for name, c := range map[string]struct {
		files  map[string]string
		own    int64
		bytes  int64
		source string
	}{
		"nothing is known":        {nil, none, none, ""},
		"GOMEMLIMIT counts alone": {map[string]string{"proc/meminfo": meminfo}, 1 << 40, 1 << 40, "GOMEMLIMIT"},
		"what the machine has":    {map[string]string{"proc/meminfo": meminfo}, none, free, "free memory of this machine"},
		"swap counts":             {map[string]string{"proc/meminfo": "MemAvailable: 1000 kB\nSwapFree: 1000 kB\n"}, none, 2000 * 1024 / 20 * 19, "free memory of this machine"},
		"group of version 2":      {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1000000\n", "proc/meminfo": meminfo}, none, 900000, "/sys/fs/cgroup/a/b/memory.max"},
		"one above is lower":      {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1000000\n", "sys/fs/cgroup/a/memory.max": "500000\n"}, none, 450000, "/sys/fs/cgroup/a/memory.max"},
		"no limit in version 2":   {map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n", "proc/meminfo": meminfo}, none, free, "free memory of this machine"},
		"a container's root":      {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1000000\n"}, none, 900000, "/sys/fs/cgroup/memory.max"},
		"group of version 1":      {map[string]string{"proc/self/cgroup": "7:cpu:/x\n4:hugetlb,memory:/a\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "1000000\n"}, none, 900000, "/sys/fs/cgroup/memory/a/memory.limit_in_bytes"},
		"no limit in version 1":   {map[string]string{"proc/self/cgroup": "4:memory:/a\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "9223372036854771712\n", "proc/meminfo": meminfo}, none, free, "free memory of this machine"},
		"a path of the host's":    {map[string]string{"proc/self/cgroup": "4:memory:/docker/f00\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "1000000\n"}, none, 900000, "/sys/fs/cgroup/memory/memory.limit_in_bytes"},
		"garbage":                 {map[string]string{"proc/self/cgroup": "x\n4\n::\n4:memory:../../..\n", "proc/meminfo": "MemAvailable: ?\n:\nMemAvailable\n"}, none, none, ""},
		"the machine has less":    {map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "99000000000\n", "proc/meminfo": meminfo}, none, free, "free memory of this machine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := systemMemory{root: fakeRoot(t, c.files), own: c.own}.limit()
			if got != (memoryLimit{c.bytes, c.source}) {
				t.Errorf("%+v, want %d of %q", got, c.bytes, c.source)
			}
		})
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
