package hdfs

import (
	"encoding/binary"
	"errors"
	"io"
	"net"

	"google.golang.org/protobuf/encoding/protowire"
)

// answerer plays a NameNode for the HDFS library, at the other end of a pipe in this
// process. It knows one file, which the real NameNode has described to our own client,
// and answers only what reading that file takes.
type answerer struct {
	path   string // by inode id
	length int64
	blocks []byte // LocatedBlocksProto
}

// answererFrame bounds what is read of a request: the library is in this process, and
// asks with a path.
const answererFrame = 64 << 10

var errBadRequest = errors.New("request not understood")

// serve answers until the pipe is closed.
func (a *answerer) serve(conn net.Conn) {
	defer conn.Close()
	hello := make([]byte, len("hrpc")+3) // version, service class, authentication
	if _, err := io.ReadFull(conn, hello); err != nil {
		return
	}
	for {
		frame, err := readRequest(conn)
		if err != nil {
			return
		}
		callID, method, request, err := splitRequest(frame)
		if err != nil {
			return
		}
		if callID < 0 { // the connection's context, which has no answer
			continue
		}
		if _, err := conn.Write(respond(uint64(callID), a.answer(method, request))); err != nil {
			return
		}
	}
}

// answer gives the answer to a call, nil if there is none.
func (a *answerer) answer(method string, request []byte) []byte {
	switch method {
	case "getFileInfo":
		if field(request, 1) != a.path {
			return nil
		}
		return only(a.fileStatus())
	case "getBlockLocations":
		if field(request, 1) != a.path {
			return nil
		}
		return only(a.blocks)
	case "getServerDefaults":
		return only(serverDefaults())
	case "renewLease":
		return []byte{} // nothing is leased
	}
	return nil
}

// only makes an answer that consists of one message, which is its field 1.
func only(message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), message)
}

// fileStatus is an HdfsFileStatusProto with what is required and the length.
func (a *answerer) fileStatus() []byte {
	b := varints(nil, map[protowire.Number]uint64{1: 2, 3: uint64(a.length), 7: 0, 8: 0}) // 2: a file
	for _, empty := range []protowire.Number{2, 5, 6} {                                   // path, owner, group
		b = protowire.AppendBytes(protowire.AppendTag(b, empty, protowire.BytesType), nil)
	}
	permission := varints(nil, map[protowire.Number]uint64{1: 0})
	return protowire.AppendBytes(protowire.AppendTag(b, 4, protowire.BytesType), permission)
}

// serverDefaults is an FsServerDefaultsProto that says that transfer is not encrypted.
// The rest is for writers.
func serverDefaults() []byte {
	return varints(nil, map[protowire.Number]uint64{1: 0, 2: 0, 3: 0, 4: 0, 5: 0, 6: 0})
}

func varints(b []byte, fields map[protowire.Number]uint64) []byte {
	for number, value := range fields {
		b = protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), value)
	}
	return b
}

// respond makes a frame: RpcResponseHeaderProto and the answer, or an error.
func respond(callID uint64, answer []byte) []byte {
	status := uint64(0) // SUCCESS
	if answer == nil {
		status = 1 // ERROR
	}
	header := varints(nil, map[protowire.Number]uint64{1: callID, 2: status})
	if answer == nil {
		header = protowire.AppendTag(header, 4, protowire.BytesType)
		header = protowire.AppendString(header, "java.lang.UnsupportedOperationException")
	}
	body := protowire.AppendBytes(nil, header)
	if answer != nil {
		body = protowire.AppendBytes(body, answer)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// readRequest reads a length of four bytes and so many bytes.
func readRequest(r io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > answererFrame {
		return nil, errBadRequest
	}
	frame := make([]byte, n)
	_, err := io.ReadFull(r, frame)
	return frame, err
}

// splitRequest takes RpcRequestHeaderProto, RequestHeaderProto and the request apart.
func splitRequest(frame []byte) (callID int64, method string, request []byte, err error) {
	parts := make([][]byte, 3)
	for i := 0; i < len(parts) && len(frame) > 0; i++ {
		part, n := protowire.ConsumeBytes(frame)
		if n < 0 {
			return 0, "", nil, errBadRequest
		}
		parts[i], frame = part, frame[n:]
	}
	return protowire.DecodeZigZag(number(parts[0], 3)), field(parts[1], 1), parts[2], nil
}

// number gives a varint field of a message, 0 if it has none.
func number(message []byte, want protowire.Number) (value uint64) {
	eachField(message, func(n protowire.Number, t protowire.Type, raw []byte) {
		if v, size := protowire.ConsumeVarint(raw); n == want && t == protowire.VarintType && size > 0 {
			value = v
		}
	})
	return value
}

// field gives a bytes field of a message, "" if it has none.
func field(message []byte, want protowire.Number) (value string) {
	eachField(message, func(n protowire.Number, t protowire.Type, raw []byte) {
		if v, size := protowire.ConsumeBytes(raw); n == want && t == protowire.BytesType && size > 0 {
			value = string(v)
		}
	})
	return value
}

// eachField calls see with each field's value as it is encoded, up to the first that is
// not well formed; false: there was one.
func eachField(message []byte, see func(protowire.Number, protowire.Type, []byte)) bool {
	for len(message) > 0 {
		n, t, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return false
		}
		size := protowire.ConsumeFieldValue(n, t, message[tag:])
		if size < 0 {
			return false
		}
		see(n, t, message[tag:tag+size])
		message = message[tag+size:]
	}
	return true
}
