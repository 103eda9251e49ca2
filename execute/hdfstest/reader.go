package hdfstest

import (
	"bytes"
	"errors"
	"io"

	"fsweep/execute"
)

func readerCases() []test {
	with := func(name string, run func(c *scene), needs ...need) test {
		return test{name, append([]need{dataNodes}, needs...), run}
	}
	return []test{
		with("the bytes of a file", func(c *scene) { c.reads(c.put("f", "some bytes\x00\xff")) }),
		with("an empty file", func(c *scene) { c.reads(c.put("f", "")) }),
		with("a file of 3 MiB", func(c *scene) { c.reads(c.put("f", string(bytes.Repeat([]byte("0123456789abcdef"), 3<<16)))) }),
		with("a file that was moved", func(c *scene) {
			f := c.file(c.put("f", "abc"))
			c.admin.Rename(c, c.at("f"), c.at("moved"))
			c.reading(f, "abc")
		}),
		with("a file that was moved while the old name is taken", func(c *scene) {
			f := c.file(c.put("f", "abc"))
			c.admin.Rename(c, c.at("f"), c.at("moved"))
			c.put("f", "xyz")
			c.reading(f, "abc")
		}),
		with("an erasure coded file: its bytes, or ErrUnreadable", func(c *scene) {
			c.admin.PutErasureCoded(c, c.at("d/f"), []byte("some bytes"))
			f := c.file(c.at("d/f"))
			got, err := c.read(f)
			if !errors.Is(err, execute.ErrUnreadable) && (err != nil || string(got) != "some bytes") {
				c.Errorf("%q, %v", got, err)
			}
		}, coding),
		with("a file in an encryption zone: its bytes, or ErrUnreadable", func(c *scene) {
			c.admin.EncryptionZone(c, c.mkdir("zone"))
			f := c.file(c.put("zone/f", "some bytes"))
			got, err := c.read(f)
			if !errors.Is(err, execute.ErrUnreadable) && (err != nil || string(got) != "some bytes") {
				c.Errorf("%q, %v", got, err)
			}
		}, zones),
		with("another length or mtime than expected: ErrChanged, nothing is read", func(c *scene) {
			f := c.file(c.put("f", "abc"))
			for _, other := range []execute.FileID{
				{Path: f.Path, ID: f.ID, Length: 2, MTimeMs: f.MTimeMs},
				{Path: f.Path, ID: f.ID, Length: 4, MTimeMs: f.MTimeMs},
				{Path: f.Path, ID: f.ID, Length: 3, MTimeMs: f.MTimeMs + 1},
			} {
				c.notRead(other, execute.ErrChanged)
			}
		}),
		with("a file that has grown: ErrChanged", func(c *scene) {
			f := c.file(c.put("f", "abc"))
			c.admin.Append(c, f.Path, []byte("d"))
			c.notRead(f, execute.ErrChanged)
		}),
		with("a file that is gone: ErrNotFound", func(c *scene) {
			f := c.file(c.put("f", "abc"))
			c.admin.Delete(c, f.Path)
			c.notRead(f, execute.ErrNotFound)
		}),
		with("a file that was created again: ErrNotFound", func(c *scene) {
			f := c.file(c.put("f", "abc"))
			c.put("f", "abc")
			c.admin.SetTimes(c, f.Path, f.MTimeMs, -1)
			c.notRead(f, execute.ErrNotFound)
		}),
		with("a file that only a snapshot holds, with a new one at its path: ErrNotFound", func(c *scene) {
			c.snapshotted()
			f := c.file(c.at("d/f"))
			c.put("d/f", "abc")
			c.admin.SetTimes(c, f.Path, f.MTimeMs, -1)
			c.notRead(f, execute.ErrNotFound)
		}),
		with("an open file: ErrChanged", func(c *scene) {
			c.admin.Open(c, c.at("open"))
			c.admin.Chown(c, c.at("open"), owner, "")
			c.notRead(c.file(c.at("open")), execute.ErrChanged)
		}),
		with("a directory: ErrChanged", func(c *scene) {
			st := c.stat(c.mkdir("d"))
			c.notRead(execute.FileID{Path: c.at("d"), ID: st.ID, MTimeMs: st.MTimeMs}, execute.ErrChanged)
		}),
		with("READ is needed", func(c *scene) {
			c.put("f", "abc")
			c.admin.Chown(c, c.at("f"), foreigner, "")
			c.admin.Chmod(c, c.at("f"), 0o600)
			if got, err := c.read(c.file(c.at("f"))); err == nil {
				c.Errorf("%q was read", got)
			}
		}),
		with("a file that grows during the read: ErrChanged", func(c *scene) {
			f := c.file(c.put("f", "abc"))
			c.changing(f, execute.ErrChanged, func() { c.admin.Append(c, f.Path, []byte("d")) })
		}),
		with("a file that is deleted during the read: ErrNotFound", func(c *scene) {
			f := c.file(c.put("f", "abc"))
			c.changing(f, execute.ErrNotFound, func() { c.admin.Delete(c, f.Path) })
		}),
		with("the error of the use is given", func(c *scene) {
			mine := errors.New("enough")
			err := c.Read(c.ctx(), c.file(c.put("f", "abc")), func(io.Reader) error { return mine })
			if !errors.Is(err, mine) {
				c.Errorf("%v, want %v", err, mine)
			}
		}),
		with("the use may stop early", func(c *scene) {
			err := c.Read(c.ctx(), c.file(c.put("f", "abc")), func(r io.Reader) error {
				_, err := io.ReadFull(r, make([]byte, 1))
				return err
			})
			if err != nil {
				c.Error(err)
			}
		}),
	}
}

// file names a file in its present state.
func (s *scene) file(path string) execute.FileID {
	s.Helper()
	st := s.stat(path)
	return execute.FileID{Path: path, ID: st.ID, Length: st.Length, MTimeMs: st.MTimeMs}
}

func (s *scene) read(f execute.FileID) (got []byte, err error) {
	s.Helper()
	calls := 0
	err = s.Read(s.ctx(), f, func(r io.Reader) error {
		calls++
		var err error
		got, err = io.ReadAll(r)
		return err
	})
	if calls > 1 || err == nil && calls != 1 || errors.Is(err, execute.ErrUnreadable) && calls != 0 {
		s.Errorf("use was called %d times, error %v", calls, err)
	}
	return got, err
}

func (s *scene) reading(f execute.FileID, want string) {
	s.Helper()
	got, err := s.read(f)
	if err != nil || string(got) != want {
		s.Errorf("%d bytes, %v, want %d bytes", len(got), err, len(want))
	}
}

// reads checks that a file holds what the case has put.
func (s *scene) reads(path string) {
	s.Helper()
	s.reading(s.file(path), s.contents[path])
}

func (s *scene) notRead(f execute.FileID, kind error) {
	s.Helper()
	called := false
	err := s.Read(s.ctx(), f, func(io.Reader) error { called = true; return nil })
	s.fails(err, kind)
	if called {
		s.Errorf("use was called: %v", err)
	}
}

// changing changes a file while it is read.
func (s *scene) changing(f execute.FileID, kind error, change func()) {
	s.Helper()
	err := s.Read(s.ctx(), f, func(r io.Reader) error {
		change()
		_, _ = io.Copy(io.Discard, r)
		return nil
	})
	s.fails(err, kind)
}
