package cleanup

import (
	"bytes"
	"strings"

	"fsweep/proto/live"
	"fsweep/proto/policy"
)

// JobMap tells which job a savepoint belongs to.
type JobMap struct {
	dirs map[string]string // by name of the savepoint's directory
	runs map[string]string // by the 6 hex digits in it
	seen map[string]string // while it is read: names of jobs, so that each is in memory once
}

// ReadJobMap reads a job map. A line has the name of a savepoint directory, or the
// 6 hex digits in such names, then blanks, then the job's name, which may have
// blanks in it, but no # behind one: comments are lines that start with #. An error is
// a [*ListError] with the line.
func ReadJobMap(in Input) (*JobMap, error) {
	m := &JobMap{dirs: map[string]string{}, runs: map[string]string{}, seen: map[string]string{}}
	if err := in.Each(m.add); err != nil {
		return nil, err
	}
	m.seen = nil
	return m, nil
}

func (m *JobMap) add(line []byte) error {
	cut := bytes.IndexAny(line, " \t")
	if cut < 0 {
		return live.Errorf("%q has no job after the savepoint", line)
	}
	key, job := string(line[:cut]), strings.TrimSpace(string(line[cut:]))
	if err := policy.CheckName(job); err != nil {
		return live.Errorf("the job: %w", err)
	}
	into := m.dirs
	switch {
	case key == "000000" || key == "ffffff":
		return live.Errorf("%q stands in the savepoints of all jobs in application mode; name the directories", key)
	case isHex(key, 6):
		into = m.runs
	case !isSavepoint(key):
		return live.Errorf("%q is neither a directory such as savepoint-1a2b3c-0123456789ab nor 6 hex digits", key)
	}
	if before, ok := into[key]; ok {
		return live.Errorf("%q is here a second time; before it belonged to %q", key, before)
	}
	if m.seen[job] == "" {
		m.seen[job] = job
	}
	into[key] = m.seen[job]
	return nil
}

// Job gives the job of a savepoint directory: by its own name, else by its digits.
func (m *JobMap) Job(dir string) (job string, ok bool) {
	if job, ok = m.dirs[dir]; ok || !isSavepoint(dir) {
		return job, ok
	}
	job, ok = m.runs[dir[len("savepoint-"):][:6]]
	return job, ok
}

// isHex tells n lower-case hex digits.
func isHex(s string, n int) bool { return len(s) == n && strings.Trim(s, "0123456789abcdef") == "" }

// isSavepoint tells the names that Flink gives to savepoints.
func isSavepoint(s string) bool {
	rest, ok := strings.CutPrefix(s, "savepoint-")
	run, random, cut := strings.Cut(rest, "-")
	return ok && cut && isHex(run, 6) && isHex(random, 12)
}
