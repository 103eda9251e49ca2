package cli

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// MemoryError says that a program needs more memory than it may have. It ends
// with this error before the kernel ends it without one.
type MemoryError struct {
	Used, Limit int64  // bytes
	Source      string // of the limit
}

// Error gives the figures.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("not enough memory: %s are in use and the limit is %s (%s)",
		humanize.IBytes(uint64(e.Used)), humanize.IBytes(uint64(e.Limit)), e.Source)
}

// memoryLimit is how much memory of its own a program may use.
type memoryLimit struct {
	bytes  int64 // math.MaxInt64: there is no limit
	source string
}

// systemMemory finds the limits of the running process: the one that GOMEMLIMIT
// sets, which counts alone if it is there, or else the lowest of its control
// groups and of what the machine has left.
type systemMemory struct {
	root string // of the file system: / but in tests
	own  int64  // what GOMEMLIMIT sets
}

func (s systemMemory) limit() memoryLimit {
	if s.own < math.MaxInt64 {
		return memoryLimit{s.own, "GOMEMLIMIT"}
	}
	low := memoryLimit{math.MaxInt64, ""}
	consider := func(bytes int64, source string) {
		if bytes > 0 && bytes < low.bytes {
			low = memoryLimit{bytes, source}
		}
	}
	for _, file := range s.cgroupFiles() {
		if v, ok := s.number(file); ok {
			// Page tables and buffers of the kernel count there too.
			consider(v-v/10, path.Join("/", file))
		}
	}
	info := s.fields("proc/meminfo", ":")
	if left, ok := info["MemAvailable"]; ok {
		consider((left+info["SwapFree"])*1024/20*19, "free memory of this machine")
	}
	return low
}

// cgroupFiles are those that hold a limit for the process: of its group and of
// all above it.
func (s systemMemory) cgroupFiles() []string {
	b, err := os.ReadFile(filepath.Join(s.root, "proc/self/cgroup"))
	if err != nil {
		return nil
	}
	var files []string
	for line := range strings.Lines(string(b)) {
		// hierarchy:controllers:group; version 2 has hierarchy 0 and no controllers
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		mount, name := "", ""
		switch {
		case parts[0] == "0" && parts[1] == "":
			mount, name = "sys/fs/cgroup", "memory.max"
		case strings.Contains(","+parts[1]+",", ",memory,"):
			mount, name = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		// In a container the group's path can be that of the host, and only its
		// root be visible.
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			files = append(files, path.Join(mount, group, name))
			if group == "/" {
				break
			}
		}
	}
	return files
}

// number reads a file that holds one number; false for "max" and the like.
func (s systemMemory) number(file string) (int64, bool) {
	b, err := os.ReadFile(filepath.Join(s.root, file))
	if err != nil {
		return 0, false
	}
	v, err := strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64)
	return v, err == nil
}

// fields reads the numbers of a file with a name and a number on each line.
func (s systemMemory) fields(file, separator string) map[string]int64 {
	b, _ := os.ReadFile(filepath.Join(s.root, file)) // without the file there are none
	m := map[string]int64{}
	for line := range strings.Lines(string(b)) {
		name, value, ok := strings.Cut(line, separator)
		if words := strings.Fields(value); ok && len(words) > 0 {
			if v, err := strconv.ParseInt(words[0], 10, 64); err == nil {
				m[name] = v
			}
		}
	}
	return m
}

// used is the memory that the process has to itself, in bytes: pages of the
// program's file are not counted, since the kernel can drop them.
func (s systemMemory) used() (int64, bool) {
	b, err := os.ReadFile(filepath.Join(s.root, "proc/self/statm"))
	if err != nil {
		return 0, false
	}
	words := strings.Fields(string(b))
	if len(words) < 3 {
		return 0, false
	}
	resident, err1 := strconv.ParseInt(words[1], 10, 64)
	shared, err2 := strconv.ParseInt(words[2], 10, 64)
	return (resident - shared) * int64(os.Getpagesize()), err1 == nil && err2 == nil
}

// watchInterval is short beside the time that filling memory takes.
const watchInterval = 10 * time.Millisecond

// watchMemory cancels with a [MemoryError] when the process uses more memory than
// it may have. It ends with ctx. Where the system does not tell, it does nothing.
func watchMemory(ctx context.Context, cancel context.CancelCauseFunc) {
	system := systemMemory{root: "/", own: debug.SetMemoryLimit(-1)}
	limit := system.limit()
	if _, ok := system.used(); !ok || limit.bytes == math.MaxInt64 {
		return
	}
	if system.own == math.MaxInt64 {
		debug.SetMemoryLimit(limit.bytes) // the collector works harder close to it
	}
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		// The collector keeps to the limit as long as it can, but not to the page.
		if used, _ := system.used(); used > limit.bytes+limit.bytes/32 {
			cancel(&MemoryError{used, limit.bytes, limit.source})
			return
		}
	}
}
