package flink

import (
	"bytes"
	"strings"
)

// prefix gives scheme and authority of a URI, which is what comes before the
// first slash of its path: "hdfs://nn:8020", "file:", or nothing.
func prefix(path []byte) []byte {
	colon := bytes.IndexByte(path, ':')
	slash := bytes.IndexByte(path, '/')
	if colon <= 0 || slash != colon+1 {
		return nil
	}
	if !bytes.HasPrefix(path[slash:], []byte("//")) {
		return path[:slash]
	}
	if end := bytes.IndexByte(path[slash+2:], '/'); end >= 0 {
		return path[:slash+2+end]
	}
	return path
}

// parent gives the directory that holds a file: of an absolute path with scheme
// and authority, of a relative one from where it starts.
func parent(path []byte, relative bool) []byte {
	n := 0
	if !relative {
		n = len(prefix(path))
	}
	switch last := bytes.LastIndexByte(path[n:], '/'); {
	case last > 0:
		return path[:n+last]
	case last == 0:
		return path[:n+1]
	case relative:
		return []byte(".")
	}
	return path // there is no path: file and directory are one
}

// components splits a path, without scheme and authority, into names.
func components(path string) []string {
	path = path[len(prefix([]byte(path))):]
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// isCheckpoint tells whether a name is chk-N.
func isCheckpoint(name string) bool {
	digits, ok := strings.CutPrefix(name, "chk-")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// isState tells whether a name is that of a directory in a run.
func isState(name string) bool {
	return name == "shared" || name == "taskowned" || isCheckpoint(name)
}

func isHex(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789abcdef") == ""
}

// isJobID tells whether a name is the id of a job, which names a run.
func isJobID(name string) bool { return isHex(name, 32) }

// isReused tells whether other runs have the same id: one that Flink makes from
// the name of the cluster is that of all jobs that ever run under this name.
func isReused(id string) bool { return strings.HasSuffix(id, "0000000000000000") }

// isSavepoint tells whether a name is one that Flink gives to savepoints.
func isSavepoint(name string) bool {
	rest, ok := strings.CutPrefix(name, "savepoint-")
	job, random, cut := strings.Cut(rest, "-")
	return ok && cut && isHex(job, 6) && isHex(random, 12)
}
