package hdfs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// scriptedWay gives bytes, or fails.
type scriptedWay struct {
	name  string
	err   error
	bytes []byte
	do    func() // when it is opened
	opens int
}

func (w *scriptedWay) String() string { return w.name }

func (w *scriptedWay) open(context.Context, *foundFile) (io.ReadCloser, error) {
	w.opens++
	if w.do != nil {
		w.do()
	}
	if w.bytes == nil {
		return nil, w.err
	}
	var end io.Reader = strings.NewReader("")
	if w.err != nil {
		end = iotest.ErrReader(w.err)
	}
	return io.NopCloser(io.MultiReader(bytes.NewReader(w.bytes), end)), nil
}

// ready is a file with content at a DataNode that nobody asks.
func ready(t *testing.T, content []byte) *oneFile {
	f := newOneFile(int64(len(content)))
	if len(content) > 0 {
		f.addBlock(7, len(content), nodeID(t, "127.0.0.1:1", "127.0.0.1:2"))
	}
	return f
}

// TestReaderFallsBack: to the next way as long as nothing was passed on.
func TestReaderFallsBack(t *testing.T) {
	t.Parallel()
	small, large := []byte("_metadata of a checkpoint"), pattern(readAhead+10)
	broken := errors.New("broken")
	refused := errors.Join(execute.ErrUnreadable, errors.New("ciphertext"))
	for name, tc := range map[string]struct {
		content       []byte
		first         scriptedWay
		opens, calls  int // of the second way, of use
		ok            bool
		says, saysNot string
	}{
		"the first one":            {small, scriptedWay{bytes: small}, 0, 1, true, "", ""},
		"refused":                  {small, scriptedWay{err: refused}, 1, 1, true, "", ""},
		"failed":                   {small, scriptedWay{err: broken}, 1, 1, true, "", ""},
		"failed within":            {small, scriptedWay{err: broken, bytes: small[:5]}, 1, 1, true, "", ""},
		"failed behind":            {small, scriptedWay{err: broken, bytes: small}, 1, 1, true, "", ""},
		"too short":                {small, scriptedWay{bytes: small[:5]}, 1, 1, true, "", ""},
		"too long":                 {small, scriptedWay{bytes: append(slices.Clip(small), 0)}, 1, 1, true, "", ""},
		"large, failed early":      {large, scriptedWay{err: broken, bytes: large[:readAhead-1]}, 1, 1, true, "", ""},
		"large, failed late":       {large, scriptedWay{err: broken, bytes: large[:readAhead]}, 0, 1, false, "broken", "cannot be read"},
		"large, too short":         {large, scriptedWay{bytes: large[:readAhead+9]}, 0, 1, false, "after 1048585 of 1048586 bytes", "cannot be read"},
		"large, too long":          {large, scriptedWay{bytes: append(slices.Clip(large), 0)}, 0, 1, false, "more bytes", "cannot be read"},
		"large, exactly the ahead": {large[:readAhead], scriptedWay{err: broken, bytes: large[:readAhead-1]}, 1, 1, true, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := ready(t, tc.content)
			first, second := &tc.first, &scriptedWay{name: "second", bytes: tc.content}
			r := &fileReader{nameNode: f, ways: []way{first, second}}
			got, calls, err := readAll(t.Context(), r, f.id())
			if (err == nil) != tc.ok || calls != tc.calls || second.opens != tc.opens {
				t.Fatalf("%d calls, second opened %d times, %v", calls, second.opens, err)
			}
			if tc.ok && !bytes.Equal(got, tc.content) {
				t.Errorf("%d bytes of %d", len(got), len(tc.content))
			}
			if !tc.ok && (!strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), tc.saysNot)) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestReaderUnreadable: all reasons are said, and stay what they are.
func TestReaderUnreadable(t *testing.T) {
	t.Parallel()
	f := ready(t, []byte("x"))
	other := errors.New("connection refused")
	r := &fileReader{nameNode: f, ways: []way{
		&scriptedWay{name: "native", err: errors.Join(execute.ErrUnreadable)}, &scriptedWay{name: "WebHDFS", err: other},
	}}
	_, calls, err := readAll(t.Context(), r, f.id())
	if !errors.Is(err, execute.ErrUnreadable) || !errors.Is(err, other) || calls != 0 {
		t.Errorf("%d calls, %v", calls, err)
	}
	if want := `inode 16400 ("/flink/chk-7/_metadata"): file cannot be read: native: file cannot be read; WebHDFS: connection refused`; err.Error() != want {
		t.Errorf("%q\n%q", err, want)
	}
}

// TestReaderChecks: before, and after, whatever use says.
func TestReaderChecks(t *testing.T) {
	t.Parallel()
	content := []byte("_metadata")
	mine := errors.New("decoder")
	for name, tc := range map[string]struct {
		change func(*oneFile)
		want   error
	}{
		"longer":             {func(f *oneFile) { f.status.Length++ }, execute.ErrChanged},
		"modified":           {func(f *oneFile) { f.status.MTimeMs++ }, execute.ErrChanged},
		"modified backwards": {func(f *oneFile) { f.status.MTimeMs-- }, execute.ErrChanged},
		"a directory":        {func(f *oneFile) { f.status.Kind = execute.Directory }, execute.ErrChanged},
		"open":               {func(f *oneFile) { f.open = true }, execute.ErrChanged},
		"gone":               {func(f *oneFile) { f.gone = execute.ErrNotFound }, execute.ErrNotFound},
		"replaced":           {func(f *oneFile) { f.gone = &execute.ReplacedError{Asked: fileID, Got: 1} }, execute.ErrNotFound},
		"no NameNode":        {func(f *oneFile) { f.gone = execute.ErrUnavailable }, execute.ErrUnavailable},
	} {
		f := ready(t, content)
		id := f.id()
		tc.change(f)
		w := &scriptedWay{bytes: content}
		if _, calls, err := readAll(t.Context(), &fileReader{nameNode: f, ways: []way{w}}, id); !errors.Is(err, tc.want) || calls+w.opens+f.asked != 0 {
			t.Errorf("%s before: %d calls, %v", name, calls, err)
		}
		for _, says := range []error{nil, mine} {
			f := ready(t, content)
			id := f.id()
			err := (&fileReader{nameNode: f, ways: []way{w}}).Read(t.Context(), id, func(from io.Reader) error {
				f.change(tc.change)
				if got, err := io.ReadAll(from); err != nil || !bytes.Equal(got, content) {
					t.Errorf("%s: %q, %v", name, got, err)
				}
				return says
			})
			if !errors.Is(err, tc.want) || says != nil && !errors.Is(err, says) {
				t.Errorf("%s after, use says %v: %v", name, says, err)
			}
		}
	}
	// Between the look and the blocks.
	f := ready(t, content)
	f.blocks.FileLength = proto.Uint64(10)
	if _, calls, err := readAll(t.Context(), &fileReader{nameNode: f}, f.id()); !errors.Is(err, execute.ErrChanged) || calls != 0 {
		t.Errorf("blocks of another length: %v", err)
	}
	// What use says is given as it is.
	f = ready(t, content)
	err := (&fileReader{nameNode: f, ways: []way{&scriptedWay{bytes: content}}}).Read(t.Context(), f.id(), func(io.Reader) error { return mine })
	if err != mine { //nolint:errorlint // the very value is meant
		t.Errorf("%v", err)
	}
}

// TestReaderBlocks: a file whose blocks are not the whole of it is not read.
func TestReaderBlocks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*hadoop.LocatedBlocksProto)
		want   error
		says   string
	}{
		"one missing":        {func(l *hadoop.LocatedBlocksProto) { l.Blocks = l.Blocks[:1] }, execute.ErrUnreadable, "end at 100 of 200 bytes"},
		"the first missing":  {func(l *hadoop.LocatedBlocksProto) { l.Blocks = l.Blocks[1:] }, execute.ErrUnreadable, "does not continue"},
		"none":               {func(l *hadoop.LocatedBlocksProto) { l.Blocks = nil }, execute.ErrUnreadable, "end at 0"},
		"one too many":       {func(l *hadoop.LocatedBlocksProto) { l.Blocks = append(l.Blocks, l.Blocks[1]) }, execute.ErrUnreadable, "does not continue"},
		"an empty one":       {func(l *hadoop.LocatedBlocksProto) { l.Blocks[0].B.NumBytes = nil }, execute.ErrUnreadable, "0 bytes"},
		"a huge one":         {func(l *hadoop.LocatedBlocksProto) { l.Blocks[1].B.NumBytes = proto.Uint64(1<<64 - 1) }, execute.ErrUnreadable, "does not continue"},
		"a corrupt one":      {func(l *hadoop.LocatedBlocksProto) { l.Blocks[1].Corrupt = proto.Bool(true) }, execute.ErrUnreadable, "corrupt"},
		"one without copies": {func(l *hadoop.LocatedBlocksProto) { l.Blocks[1].Locs = nil }, execute.ErrUnreadable, "no DataNode has block 8 at 100"},
		"open":               {func(l *hadoop.LocatedBlocksProto) { l.UnderConstruction = proto.Bool(true) }, execute.ErrChanged, "under construction"},
	} {
		f := newOneFile(200)
		f.addBlock(7, 100, nodeID(t, "127.0.0.1:1", ""))
		f.addBlock(8, 100, nodeID(t, "127.0.0.1:1", ""))
		tc.change(f.blocks)
		w := &scriptedWay{bytes: make([]byte, 200)}
		_, calls, err := readAll(t.Context(), &fileReader{nameNode: f, ways: []way{w}}, f.id())
		if !errors.Is(err, tc.want) || calls+w.opens != 0 || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %d calls, %v", name, calls, err)
		}
	}
}

// TestReaderEmptyFile: no DataNode is needed, and none is there.
func TestReaderEmptyFile(t *testing.T) {
	t.Parallel()
	f := newOneFile(0)
	r, err := newFileReader(f, NewConf(nil), "alice", simpleAuth("alice"), nil, netDial, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if got, calls, err := readAll(t.Context(), r, f.id()); err != nil || calls != 1 || len(got) != 0 {
		t.Errorf("%q, %d calls, %v", got, calls, err)
	}
	f.asks = execute.ErrPermission
	if _, calls, err := readAll(t.Context(), r, f.id()); !errors.Is(err, execute.ErrPermission) || calls != 0 {
		t.Errorf("of someone else: %d calls, %v", calls, err)
	}
}

// TestReaderBothWays: with the real ones, the native one first, and WebHDFS where that cannot.
func TestReaderBothWays(t *testing.T) {
	t.Parallel()
	content := pattern(700_000)
	d := startDataNode(t, map[uint64][]byte{7: content})
	w := startWeb(t, content, httptest.NewServer)
	f := newOneFile(int64(len(content)))
	f.addBlock(7, len(content), nodeID(t, d.address(), w.dataNode.Listener.Addr().String()))
	r, err := newFileReader(f, confMap{"dfs.namenode.http-address": w.nameNode.Listener.Addr().String()}.conf(), "alice", simpleAuth("alice"), nil, netDial, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	read := func(what string, native, web int) {
		t.Helper()
		got, _, err := readAll(t.Context(), r, f.id())
		if err != nil || !bytes.Equal(got, content) || len(d.reads) != native || int(w.asked.Load()) != web {
			t.Errorf("%s: %d bytes, native %d times, WebHDFS %d times, %v", what, len(got), len(d.reads), w.asked.Load(), err)
		}
	}
	read("plain", 1, 0)
	d.damage = damageChunk(900)
	read("corrupt", 2, 1)
	f.status.Encrypted = true
	read("encrypted", 2, 2)
}

// TestExactReaderOnce: the first error stays, and an empty read says nothing.
func TestExactReaderOnce(t *testing.T) {
	t.Parallel()
	e := newExactReader(t.Context(), strings.NewReader("abc"), 5)
	if n, err := e.Read(nil); n != 0 || err != nil {
		t.Error(n, err)
	}
	if err := iotest.TestReader(newExactReader(t.Context(), strings.NewReader("abcde"), 5), []byte("abcde")); err != nil {
		t.Error(err)
	}
	got, err := io.ReadAll(e)
	if string(got) != "abc" || !errors.Is(err, errShort) {
		t.Errorf("%q, %v", got, err)
	}
	e.from = strings.NewReader("de")
	if n, again := e.Read(make([]byte, 2)); n != 0 || !errors.Is(again, errShort) {
		t.Error(n, again)
	}
}
