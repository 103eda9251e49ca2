package journalfile

import (
	"errors"
	"fmt"
	"io"
)

var errCrash = errors.New("injected")

// machine is a system in memory that stops at a moment of the test's choice.
type machine struct {
	files map[string]*content
	log   []string // what was called

	bytes int    // that can still be written
	fail  string // the entry of log that fails, with its count behind a space: "sync 3"
	short bool   // writes take one byte at a time
	dead  bool   // everything fails from now on
	count map[string]int
}

type content struct {
	b      []byte
	synced int  // bytes that are on the disk
	named  bool // the directory was synced
	locked bool
}

func newMachine() *machine {
	return &machine{files: map[string]*content{}, bytes: 1 << 30, count: map[string]int{}}
}

func (m *machine) call(op string) error {
	m.count[op]++
	m.log = append(m.log, op)
	if m.dead || m.fail == fmt.Sprintf("%s %d", op, m.count[op]) {
		m.dead = true
		return errCrash
	}
	return nil
}

func (m *machine) create(path string) (file, error) {
	if err := m.call("create"); err != nil {
		return nil, err
	}
	if m.files[path] != nil {
		return nil, errors.New("exists")
	}
	m.files[path] = &content{}
	return &handle{m: m, c: m.files[path]}, nil
}

func (m *machine) open(path string) (file, error) {
	if err := m.call("open"); err != nil {
		return nil, err
	}
	return &handle{m: m, c: m.files[path]}, nil
}

func (m *machine) syncDir(string) error {
	err := m.call("syncDir")
	for _, c := range m.files {
		c.named = c.named || err == nil
	}
	return err
}

func (m *machine) remove(path string) error {
	if err := m.call("remove"); err != nil {
		return err
	}
	delete(m.files, path)
	return nil
}

type handle struct {
	m   *machine
	c   *content
	off int64
}

func (h *handle) lock() error {
	if err := h.m.call("lock"); err != nil {
		return err
	}
	if h.c.locked {
		return ErrLocked
	}
	h.c.locked = true
	return nil
}

func (h *handle) Write(p []byte) (int, error) {
	if err := h.m.call("write"); err != nil {
		return 0, err
	}
	n := min(len(p), h.m.bytes)
	if h.m.short {
		n = min(n, 1)
	}
	h.m.bytes -= n
	h.c.b = append(h.c.b, p[:n]...)
	if n < len(p) && h.m.bytes == 0 {
		h.m.dead = true
		return n, errCrash
	}
	return n, nil
}

func (h *handle) Sync() error {
	err := h.m.call("sync")
	if err == nil {
		h.c.synced = len(h.c.b)
	}
	return err
}

func (h *handle) Truncate(size int64) error {
	err := h.m.call("truncate")
	if err == nil {
		h.c.b = h.c.b[:size]
		h.c.synced = min(h.c.synced, int(size))
	}
	return err
}

func (h *handle) Seek(off int64, _ int) (int64, error) { h.off = off; return off, nil }

func (h *handle) Read(p []byte) (int, error) {
	if h.off >= int64(len(h.c.b)) {
		return 0, io.EOF
	}
	n := copy(p, h.c.b[h.off:])
	h.off += int64(n)
	return n, nil
}

func (h *handle) Close() error {
	h.c.locked = false
	return h.m.call("close")
}
