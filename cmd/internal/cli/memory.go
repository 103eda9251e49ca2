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
	own  string // GOMEMLIMIT; empty: not set
	set  int64  // what the runtime made of it
}

// limit looks what others leave to a process that uses so many bytes itself.
func (s systemMemory) limit(used int64) memoryLimit {
	low := memoryLimit{math.MaxInt64, ""}
	switch {
	case s.own == "off":
		return low
	case s.own != "":
		return memoryLimit{s.set, "GOMEMLIMIT"}
	}
	consider := func(bytes int64, source string) {
		if bytes < low.bytes {
			low = memoryLimit{max(bytes, 0), source}
		}
	}
	for _, g := range s.cgroups() {
		for _, name := range g.limits {
			if v, ok := s.number(path.Join(g.dir, name)); ok && v < math.MaxInt64/2 {
				consider(v-reserve(v)-s.others(g, used), path.Join("/", g.dir, name))
			}
		}
	}
	info := s.fields("proc/meminfo")
	if left, ok := info["MemAvailable:"]; ok {
		spare := min(info["MemTotal:"]*1024/50, 64<<20) // without it the kernel ends something
		consider(used+(left+info["SwapFree:"])*1024-spare, "free memory of this machine")
	}
	return low
}

// reserve is what of a group's limit is left for page tables and buffers of the
// kernel, and for the moment between two looks.
func reserve(limit int64) int64 { return max(limit/10, min(32<<20, limit/3)) }

// cgroup is a control group that the process is in.
type cgroup struct {
	dir    string
	limits []string // files
	usage  string   // file
	cache  string   // name, in memory.stat, of what the kernel can take back
}

// others is what other processes of a group take.
func (s systemMemory) others(g cgroup, used int64) int64 {
	usage, ok := s.number(path.Join(g.dir, g.usage))
	if !ok {
		return 0
	}
	return max(usage-s.fields(path.Join(g.dir, "memory.stat"))[g.cache]-used, 0)
}

// cgroups are the process's group and all above it.
func (s systemMemory) cgroups() []cgroup {
	b, err := os.ReadFile(filepath.Join(s.root, "proc/self/cgroup"))
	if err != nil {
		return nil
	}
	var groups []cgroup
	for line := range strings.Lines(string(b)) {
		// hierarchy:controllers:group; version 2 has hierarchy 0 and no controllers
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 || strings.Contains(parts[2], "..") { // that of another container
			continue
		}
		mount, g := "", cgroup{}
		switch {
		case parts[0] == "0" && parts[1] == "":
			mount, g = "sys/fs/cgroup", cgroup{"", []string{"memory.max", "memory.high"}, "memory.current", "inactive_file"}
		case strings.Contains(","+parts[1]+",", ",memory,"):
			mount, g = "sys/fs/cgroup/memory", cgroup{"", []string{"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_inactive_file"}
		default:
			continue
		}
		// In a container the group's path can be that of the host, and only its
		// root be visible.
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			g.dir = path.Join(mount, group)
			groups = append(groups, g)
			if group == "/" {
				break
			}
		}
	}
	return groups
}

// number reads a file that holds one number; false for "max" and the like.
func (s systemMemory) number(file string) (int64, bool) {
	b, err := os.ReadFile(filepath.Join(s.root, file))
	if err != nil {
		return 0, false
	}
	v, err := strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64)
	return v, err == nil && v >= 0
}

// fields reads the numbers of a file with a name and a number on each line.
func (s systemMemory) fields(file string) map[string]int64 {
	b, _ := os.ReadFile(filepath.Join(s.root, file)) // without the file there are none
	m := map[string]int64{}
	for line := range strings.Lines(string(b)) {
		if words := strings.Fields(line); len(words) >= 2 {
			if v, err := strconv.ParseInt(words[1], 10, 64); err == nil {
				m[words[0]] = v
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

const (
	// watchInterval is short beside the time that filling memory takes.
	watchInterval = 10 * time.Millisecond
	// othersInterval is how often others are looked at.
	othersInterval = time.Second
)

// watch ends with a [MemoryError] when the process uses more memory than it may
// have, or with nil when ctx ends. Where the system does not tell, it is nil at
// once.
func (s systemMemory) watch(ctx context.Context) error {
	used, ok := s.used()
	limit := s.limit(used)
	if !ok || s.own == "off" {
		return nil
	}
	if s.own == "" { // the collector works harder close to it
		defer debug.SetMemoryLimit(s.set)
		debug.SetMemoryLimit(limit.bytes)
	}
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	looked := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		used, _ = s.used()
		// The collector keeps to the limit as long as it can, but not to the page.
		over := func() bool { return used-limit.bytes > limit.bytes/32 }
		if s.own == "" && (over() || time.Since(looked) > othersInterval) {
			limit, looked = s.limit(used), time.Now()
			debug.SetMemoryLimit(limit.bytes)
		}
		if over() {
			return &MemoryError{used, limit.bytes, limit.source}
		}
	}
}

// watchMemory cancels with a [MemoryError] when the process uses more memory than
// it may have. It ends with ctx.
func watchMemory(ctx context.Context, cancel context.CancelCauseFunc) {
	s := systemMemory{root: "/", own: os.Getenv("GOMEMLIMIT"), set: debug.SetMemoryLimit(-1)}
	if err := s.watch(ctx); err != nil {
		cancel(err)
	}
}
