package hdfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"testing/iotest"

	"google.golang.org/protobuf/encoding/protowire"
)

// bytesConn is a DataNode that has sent these bytes and closed.
type bytesConn struct {
	net.Conn
	io.Reader
}

func (c bytesConn) Read(p []byte) (int, error) { return c.Reader.Read(p) }

// FuzzGuardedConn: whatever a DataNode sends, what comes out is the beginning of it, with
// no length in it that the library would reserve too much for, and no end that it would
// take for one in order.
func FuzzGuardedConn(f *testing.F) {
	d := &fakeDataNode{chunk: 512, packet: 2048}
	var good bytes.Buffer
	good.Write(opResponse(0, 512, "", 0))
	d.send(&good, pattern(5000))
	f.Add(good.Bytes())
	f.Add(good.Bytes()[:300])
	f.Add([]byte{2, 8, 5})
	f.Add(opResponse(1, 0, "Replica not found"))
	f.Add(append(opResponse(0, 512, "", 0), packetHead(1<<31-1, 1<<31-1, false)...))
	f.Add(append(opResponse(0, 0, "", 0), packetHead(4, 0, true)...))
	f.Fuzz(func(t *testing.T, sent []byte) {
		var outs [2][]byte
		for i, from := range []io.Reader{bytes.NewReader(sent), iotest.OneByteReader(bytes.NewReader(sent))} {
			g := newGuardedConn(bytesConn{Reader: from}, nativeRead)
			for buf := make([]byte, 7+100*i); ; {
				n, err := g.Read(buf)
				outs[i] = append(outs[i], buf[:n]...)
				if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatal("an end in order")
				}
				if err != nil {
					break
				}
			}
		}
		if !bytes.HasPrefix(sent, outs[0]) || !bytes.Equal(outs[0], outs[1]) {
			t.Fatalf("%x\n%x\n%x", sent, outs[0], outs[1])
		}
		announced(t, outs[0])
	})
}

// announced looks at what the library would read of it, in the simplest way.
func announced(t *testing.T, b []byte) {
	if len(b) == 0 {
		return
	}
	response, n := protowire.ConsumeBytes(b)
	if n < 0 || len(response) > 64<<10 {
		t.Fatalf("a response of %d bytes, %d let through", len(response), len(b))
	}
	sum := []byte(field([]byte(field(response, 4)), 1))
	chunk, checksum := int(number(sum, 2)), 4
	if number(sum, 1) == 0 {
		checksum = 0
	}
	if chunk <= nativeRead || chunk > 1<<20 || number(response, 1) != 0 {
		t.Fatalf("status %d, chunks of %d bytes", number(response, 1), chunk)
	}
	for b = b[n:]; len(b) > 0; {
		if len(b) < 6 || len(b) < 6+int(binary.BigEndian.Uint16(b[4:])) {
			t.Fatal("a part of a packet's header was let through")
		}
		head := int(binary.BigEndian.Uint16(b[4:]))
		data := -1
		for h := b[6 : 6+head]; len(h) > 0; {
			num, typ, tag := protowire.ConsumeTag(h)
			if num == 4 && typ == protowire.Fixed32Type {
				data = int(int32(binary.LittleEndian.Uint32(h[tag:])))
			}
			h = h[tag+protowire.ConsumeFieldValue(num, typ, h[tag:]):]
		}
		if data < 0 || data > 16<<20 {
			t.Fatalf("a packet of %d bytes", data)
		}
		whole := 6 + head + data + checksum*((data+chunk-1)/chunk)
		b = b[min(whole, len(b)):]
	}
}
