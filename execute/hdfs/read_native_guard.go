package hdfs

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"google.golang.org/protobuf/encoding/protowire"
)

// Bounds of what a DataNode may announce.
const (
	maxOpResponse = 64 << 10  // BlockOpResponseProto, which may carry a message
	maxPacketHead = 4 << 10   // PacketHeaderProto, about 25 bytes
	maxPacketData = 16 << 20  // PacketReceiver.MAX_PACKET_SIZE
	maxChunk      = 1 << 20   // bytes per checksum
	checksumNull  = uint64(0) // ChecksumTypeProto: none
	checksumBytes = int64(4)  // CRC32 and CRC32C
	guardBuffer   = 128 << 10 // at least the largest head
	headPrefix    = 4 + 2     // packet length, header length
	varint32      = 5         // bytes of the longest length
	statusSuccess = uint64(0) // Status
)

var errClosedEarly = errors.New("the DataNode closed the connection too early")

var errBadAnswer = errors.New("DataNode's answer not understood")

// guardedConn is a connection to a DataNode for one read of a block. It hands the bytes on
// as they are, but looks at every length before the library sees it: that reserves
// memory for whatever is announced, and divides by the size of a chunk.
type guardedConn struct {
	net.Conn
	in       *bufio.Reader
	pass     int64 // bytes that may be handed on unseen
	answered bool
	chunk    int64 // bytes per checksum
	checksum int64 // bytes of a checksum
	minChunk int64 // chunks must be larger
	bad      error
}

func newGuardedConn(conn net.Conn, minChunk int64) *guardedConn {
	return &guardedConn{Conn: conn, in: bufio.NewReaderSize(conn, guardBuffer), minChunk: minChunk}
}

// Read implements [net.Conn].
func (g *guardedConn) Read(p []byte) (int, error) {
	if g.bad != nil {
		return 0, g.bad
	}
	for g.pass == 0 {
		look := g.packet
		if !g.answered {
			look = g.response
		}
		if err := look(); err != nil {
			return 0, g.fail(err)
		}
	}
	n, err := g.in.Read(p[:min(int64(len(p)), g.pass)])
	g.pass -= int64(n)
	if err != nil {
		err = g.fail(err)
	}
	return n, err
}

// fail ends the connection. The library knows how many bytes a block has and reads no
// further, so no end is in order; it would take io.EOF inside a chunk for one, and
// ask the same DataNode for the rest for ever.
func (g *guardedConn) fail(err error) error {
	if errors.Is(err, io.EOF) {
		err = errClosedEarly
	}
	g.bad = err
	return err
}

// response looks at the BlockOpResponseProto.
func (g *guardedConn) response() error {
	head, err := g.in.Peek(varint32) // a refusal can be shorter
	length, n := protowire.ConsumeVarint(head)
	switch {
	case n < 0 && err != nil:
		return err
	case n < 0 || length > maxOpResponse:
		return fmt.Errorf("%w: no response to a read", errBadAnswer)
	}
	all, err := g.in.Peek(n + int(length))
	if err != nil {
		return err
	}
	if err := g.readInfo(all[n:]); err != nil {
		return err
	}
	g.answered, g.pass = true, int64(len(all))
	return nil
}

// readInfo takes the sizes of chunks and checksums from a BlockOpResponseProto.
func (g *guardedConn) readInfo(message []byte) error {
	if !eachField(message, func(protowire.Number, protowire.Type, []byte) {}) {
		return fmt.Errorf("%w: no response to a read", errBadAnswer)
	}
	if status := number(message, 1); status != statusSuccess {
		return fmt.Errorf("the DataNode refused: %s %s", statusName(status), field(message, 5))
	}
	sum := []byte(field([]byte(field(message, 4)), 1)) // readOpChecksumInfo.checksum
	chunk := number(sum, 2)
	if chunk <= uint64(g.minChunk) || chunk > maxChunk {
		return fmt.Errorf("%w: %d bytes have one checksum", errBadAnswer, chunk)
	}
	g.chunk, g.checksum = int64(chunk), checksumBytes
	if number(sum, 1) == checksumNull {
		g.checksum = 0
	}
	return nil
}

// statusName gives the name of a Status.
func statusName(status uint64) string {
	names := []string{"SUCCESS", "ERROR", "ERROR_CHECKSUM", "ERROR_INVALID", "ERROR_EXISTS", "ERROR_ACCESS_TOKEN", "CHECKSUM_OK", "ERROR_UNSUPPORTED"}
	if status < uint64(len(names)) {
		return names[status]
	}
	return fmt.Sprintf("status %d", status)
}

// packet looks at the head of a packet.
func (g *guardedConn) packet() error {
	prefix, err := g.in.Peek(headPrefix)
	if err != nil {
		return err
	}
	length := int64(int32(binary.BigEndian.Uint32(prefix))) // of itself, checksums and data
	headLength := int(binary.BigEndian.Uint16(prefix[4:]))
	if headLength > maxPacketHead {
		return fmt.Errorf("%w: a packet's header of %d bytes", errBadAnswer, headLength)
	}
	head, err := g.in.Peek(headPrefix + headLength)
	if err != nil {
		return err
	}
	data, ok := dataLength(head[headPrefix:])
	if !ok || data < 0 || data > maxPacketData || length != 4+data+g.checksum*((data+g.chunk-1)/g.chunk) {
		return fmt.Errorf("%w: a packet of %d bytes, %d of them data", errBadAnswer, length, data)
	}
	g.pass = int64(headPrefix+headLength) + length - 4
	return nil
}

// dataLength gives PacketHeaderProto.dataLen.
func dataLength(header []byte) (length int64, ok bool) {
	formed := eachField(header, func(n protowire.Number, t protowire.Type, raw []byte) {
		if v, size := protowire.ConsumeFixed32(raw); n == 4 && t == protowire.Fixed32Type && size > 0 {
			length, ok = int64(int32(v)), true
		}
	})
	return length, ok && formed
}
