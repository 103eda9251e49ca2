package hdfs

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoregistry"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

func TestNativeReads(t *testing.T) {
	t.Parallel()
	for _, sizes := range [][]int{
		{1}, {511}, {512}, {513}, {64 << 10}, {64<<10 + 1}, {1 << 20, 1 << 20, 77}, {3<<20 + 5}, {1, 1, 1},
	} {
		var all []byte
		blocks := map[uint64][]byte{}
		total := 0
		for _, n := range sizes {
			total += n
		}
		f := newOneFile(int64(total))
		d := startDataNode(t, blocks)
		for i, n := range sizes {
			id := uint64(1000 + i)
			blocks[id] = pattern(n + i)[i:]
			all = append(all, blocks[id]...)
			f.addBlock(id, n, nodeID(t, d.address(), ""))
		}
		got, calls, err := readAll(t.Context(), onlyWay(t, f, nil, "native"), f.id())
		if err != nil || calls != 1 || !bytes.Equal(got, all) {
			t.Errorf("blocks of %v bytes: %d bytes, %d calls, %v", sizes, len(got), calls, err)
		}
	}
}

// TestNativeReplicas: what one DataNode does wrong, another one makes good, wherever in
// the block it happens and however much is asked for at once.
func TestNativeReplicas(t *testing.T) {
	t.Parallel()
	content := pattern(300_000)
	for name, spoil := range map[string]func(*fakeDataNode){
		"a corrupt first chunk": func(d *fakeDataNode) { d.damage = damageChunk(0) },
		"a corrupt chunk":       func(d *fakeDataNode) { d.damage = damageChunk(333) },
		"the last chunk":        func(d *fakeDataNode) { d.damage = damageChunk(len(content) / 512) },
		"no such block":         func(d *fakeDataNode) { d.blocks = nil },
		"a short block":         func(d *fakeDataNode) { d.blocks = map[uint64][]byte{7: content[:100_000]} },
		"closed at once":        func(d *fakeDataNode) { d.answer = write(nil) },
		"closed in a packet":    func(d *fakeDataNode) { d.answer = cutAfter(d, 70_001) },
		"silent":                func(d *fakeDataNode) { d.answer = silent },
		"refused, shortly":      func(d *fakeDataNode) { d.answer = write([]byte{2, 8, 5}) }, // ERROR_ACCESS_TOKEN
		"an empty response":     func(d *fakeDataNode) { d.answer = write([]byte{0}) },
		"half a response":       func(d *fakeDataNode) { d.answer = write(opResponse(0, 512, "", 0)[:7]) },
		"no response":           func(d *fakeDataNode) { d.answer = write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) },
		"a huge response":       func(d *fakeDataNode) { d.answer = write([]byte{0xff, 0xff, 0xff, 0xff, 0x7f}) },
		"chunks of 0 bytes":     func(d *fakeDataNode) { d.answer = write(opResponse(0, 0, "", 0)) },
		"chunks of 100 bytes":   func(d *fakeDataNode) { d.chunk = 100 },
		"a packet of 2 GiB":     func(d *fakeDataNode) { d.answer = firstPacket(1<<31-1, 1<<31-1) },
		"a packet of -1 bytes":  func(d *fakeDataNode) { d.answer = firstPacket(4, -1) },
		"a packet too long":     func(d *fakeDataNode) { d.answer = firstPacket(4+4+513, 512) },
		"a header too long":     func(d *fakeDataNode) { d.answer = junkPacket(60_000) },
		"a junk header":         func(d *fakeDataNode) { d.answer = junkPacket(20) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad, good := startDataNode(t, map[uint64][]byte{7: content}), startDataNode(t, map[uint64][]byte{7: content})
			spoil(bad)
			f := newOneFile(int64(len(content)))
			f.addBlock(7, len(content), nodeID(t, bad.address(), ""), nodeID(t, good.address(), ""))
			got, _, err := readAll(t.Context(), onlyWay(t, f, nil, "native"), f.id())
			if err != nil || !bytes.Equal(got, content) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			if len(bad.reads) == 0 {
				t.Error("the bad DataNode was not asked")
			}
			// Without the good one it is an error, and no byte too many is seen.
			f.blocks.Blocks = nil
			f.addBlock(7, len(content), nodeID(t, bad.address(), ""))
			got, calls, err := readAll(t.Context(), onlyWay(t, f, nil, "native"), f.id())
			if !errors.Is(err, execute.ErrUnreadable) || calls != 0 {
				t.Errorf("alone: %d bytes, %d calls, %v", len(got), calls, err)
			}
		})
	}
}

func damageChunk(n int) func([]byte, int) {
	return func(sent []byte, i int) {
		if i == n {
			sent[0] ^= 1
		}
	}
}

func write(b []byte) func(io.Writer, uint64, uint64, uint64) bool {
	return func(w io.Writer, _, _, _ uint64) bool {
		_, _ = w.Write(b)
		return true
	}
}

// silent answers when the client has given up.
func silent(w io.Writer, _, _, _ uint64) bool {
	_, _ = io.Copy(io.Discard, w.(io.Reader))
	return true
}

func cutAfter(d *fakeDataNode, n int) func(io.Writer, uint64, uint64, uint64) bool {
	return func(w io.Writer, id, _, _ uint64) bool {
		var b bytes.Buffer
		b.Write(opResponse(0, d.chunk, "", 0))
		d.send(&b, d.blocks[id])
		_, _ = w.Write(b.Bytes()[:n])
		return true
	}
}

func firstPacket(length, data int) func(io.Writer, uint64, uint64, uint64) bool {
	return write(append(append(opResponse(0, 512, "", 0), packetHead(length, data, false)...), make([]byte, 2000)...))
}

func junkPacket(header int) func(io.Writer, uint64, uint64, uint64) bool {
	b := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint32(opResponse(0, 512, "", 0), 4), uint16(header))
	return write(append(b, bytes.Repeat([]byte{0xff}, header)...))
}

// TestNativeLateDamage: beyond what is read ahead nothing can be made good by another way,
// but the reader of the file sees the error, and not a shorter file.
func TestNativeLateDamage(t *testing.T) {
	t.Parallel()
	content := pattern(readAhead + 200_000)
	d := startDataNode(t, map[uint64][]byte{7: content})
	d.damage = damageChunk((readAhead + 100_000) / 512)
	f := newOneFile(int64(len(content)))
	f.addBlock(7, len(content), nodeID(t, d.address(), ""))
	r := onlyWay(t, f, nil, "native")
	got, calls, err := readAll(t.Context(), r, f.id())
	if err == nil || errors.Is(err, execute.ErrUnreadable) || errors.Is(err, io.ErrUnexpectedEOF) || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
	if len(got) > readAhead+100_000 || !bytes.Equal(got, content[:len(got)]) {
		t.Errorf("%d bytes, the first ones right: %t", len(got), bytes.Equal(got, content[:len(got)]))
	}
	// Who does not care for the error of a read is told all the same.
	err = r.Read(t.Context(), f.id(), func(from io.Reader) error {
		_, _ = io.Copy(io.Discard, from)
		return nil
	})
	if err == nil {
		t.Error("a broken stream went unnoticed")
	}
}

func TestNativeRefuses(t *testing.T) {
	t.Parallel()
	const cell = 1 << 20
	plain := pattern(1000)
	for name, tc := range map[string]struct {
		length int
		change func(*oneFile)
		conf   confMap
		reason string
	}{
		"an encryption zone": {1000, func(f *oneFile) { f.status.Encrypted = true }, nil, "ciphertext"},
		"encrypted blocks": {1000, func(f *oneFile) {
			f.blocks.FileEncryptionInfo = &hadoop.FileEncryptionInfoProto{KeyName: proto.String("k")}
		}, nil, "ciphertext"},
		"two cells": {cell + 1, func(f *oneFile) {
			f.status.ErasureCoded, f.blocks.EcPolicy = true, &hadoop.ErasureCodingPolicyProto{Id: proto.Uint32(2)}
		}, nil, "larger than a cell"},
		"an unknown policy": {1000, func(f *oneFile) {
			f.blocks.EcPolicy = &hadoop.ErasureCodingPolicyProto{Id: proto.Uint32(64)}
		}, nil, "larger than a cell"},
		"a lost first cell": {1000, func(f *oneFile) {
			f.blocks.EcPolicy = &hadoop.ErasureCodingPolicyProto{Id: proto.Uint32(2)}
			f.blocks.Blocks[0].BlockIndices = []byte{3}
		}, nil, "first cell is lost"},
		"encrypted transfer":   {1000, func(f *oneFile) { f.defaults.EncryptTransfer = true }, nil, "protected (privacy)"},
		"configured privacy":   {1000, nil, confMap{"dfs.encrypt.data.transfer": "true"}, "protected (privacy)"},
		"protection integrity": {1000, nil, confMap{"dfs.data.transfer.protection": "authentication,integrity"}, "protected (integrity)"},
		"authentication":       {1000, nil, confMap{"dfs.data.transfer.protection": "authentication"}, "protected (authentication)"},
		"unknown protection":   {1000, nil, confMap{"dfs.data.transfer.protection": "new"}, "protected (privacy)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startDataNode(t, map[uint64][]byte{7: plain})
			f := newOneFile(int64(tc.length))
			f.addBlock(7, tc.length, nodeID(t, d.address(), ""))
			if tc.change != nil {
				tc.change(f)
			}
			_, calls, err := readAll(t.Context(), onlyWay(t, f, tc.conf, "native"), f.id())
			if !errors.Is(err, execute.ErrUnreadable) || calls != 0 || !strings.Contains(err.Error(), tc.reason) {
				t.Errorf("%d calls, %v", calls, err)
			}
			if len(d.reads) != 0 {
				t.Error("a DataNode was asked")
			}
		})
	}
}

// TestNativeOneCell: the first internal block has the id of the group, and nobody else is
// asked for it.
func TestNativeOneCell(t *testing.T) {
	t.Parallel()
	content := pattern(5000)
	id := uint64(1)<<63 + 16
	first, parity := startDataNode(t, map[uint64][]byte{id: content}), startDataNode(t, map[uint64][]byte{id: make([]byte, 5000)})
	f := newOneFile(5000)
	b := f.addBlock(id, 5000, nodeID(t, parity.address(), ""), nodeID(t, first.address(), ""))
	b.BlockIndices = []byte{3, 0}
	f.status.ErasureCoded, f.blocks.EcPolicy = true, &hadoop.ErasureCodingPolicyProto{Id: proto.Uint32(2)}
	got, _, err := readAll(t.Context(), onlyWay(t, f, nil, "native"), f.id())
	if err != nil || !bytes.Equal(got, content) || len(parity.reads) != 0 {
		t.Errorf("%d bytes, %v; parity asked %d times", len(got), err, len(parity.reads))
	}
}

// TestNativeEndsWithContext: a silent DataNode holds nobody longer than the context does,
// and nothing goes on behind the back of the caller.
func TestNativeEndsWithContext(t *testing.T) {
	content := pattern(2 * readAhead)
	late := func(d *fakeDataNode) func(io.Writer, uint64, uint64, uint64) bool {
		return func(w io.Writer, id, o, n uint64) bool {
			cutAfter(d, readAhead+readAhead/2)(w, id, o, n)
			return silent(w, id, o, n)
		}
	}
	for name, answer := range map[string]func(*fakeDataNode) func(io.Writer, uint64, uint64, uint64) bool{
		"at once": func(*fakeDataNode) func(io.Writer, uint64, uint64, uint64) bool { return silent },
		"later":   late,
	} {
		t.Run(name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			d := startDataNode(t, map[uint64][]byte{7: content})
			d.answer = answer(d)
			f := newOneFile(int64(len(content)))
			f.addBlock(7, len(content), nodeID(t, d.address(), ""))
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			r := onlyWay(t, f, nil, "native")
			began := time.Now()
			_, _, err := readAll(ctx, r, f.id())
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 1500*time.Millisecond {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
			d.listener.Close()
			for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
				}
			}
		})
	}
}

// TestNativeAsksOnlyKnown: what the library would dial beside the file's DataNodes.
func TestNativeAsksOnlyKnown(t *testing.T) {
	t.Parallel()
	s := &nativeStream{ctx: t.Context(), addresses: map[string]string{"127.0.0.1:9": "127.0.0.1:9"}}
	if _, err := s.connectDataNode(t.Context(), "tcp", "127.0.0.1:10"); err == nil || !strings.Contains(err.Error(), "no DataNode") {
		t.Error(err)
	}
	w := &nativeWay{}
	blocks := newOneFile(1)
	n := nodeID(t, "[::1]:9866", "")
	n.IpAddr = proto.String("2001:db8::1")
	blocks.addBlock(1, 1, n)
	if got := w.addresses(blocks.blocks)["2001:db8::1:9866"]; got != "[2001:db8::1]:9866" {
		t.Errorf("IPv6: %q", got)
	}
}

// TestAnswererKnowsOneFile: whatever else is asked is an error.
func TestAnswererKnowsOneFile(t *testing.T) {
	t.Parallel()
	a := &answerer{path: "/.reserved/.inodes/5", length: 9, blocks: []byte{1}}
	path := func(p string) []byte {
		return protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), p)
	}
	for method, request := range map[string][]byte{
		"getFileInfo": path("/.reserved/.inodes/6"), "getBlockLocations": path("/"), "delete": path(a.path), "rename2": nil, "create": nil, "": nil,
		"getListing": path(a.path), "addBlock": nil, "setTimes": path(a.path), "getDataEncryptionKey": nil,
	} {
		if got := a.answer(method, request); got != nil {
			t.Errorf("%s: %x", method, got)
		}
	}
	if a.answer("getFileInfo", path(a.path)) == nil || !bytes.Equal(a.answer("getBlockLocations", path(a.path)), []byte{10, 1, 1}) {
		t.Error("its own file is unknown")
	}
}

// TestRegistry: our messages and the library's stand beside each other in the registry of
// protobuf, which panics at start when two have a name.
func TestRegistry(t *testing.T) {
	t.Parallel()
	own := (&hadoop.LocatedBlocksProto{}).ProtoReflect().Descriptor()
	theirs, err := protoregistry.GlobalTypes.FindMessageByName("hadoop.hdfs.LocatedBlocksProto")
	if err != nil || own.FullName() == theirs.Descriptor().FullName() {
		t.Errorf("%v, %v", own.FullName(), err)
	}
	if got, err := protoregistry.GlobalTypes.FindMessageByName(own.FullName()); err != nil || got.Descriptor() != own {
		t.Errorf("%v: %v", own.FullName(), err)
	}
}
