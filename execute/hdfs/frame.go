package hdfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"fsweep/proto/hadoop"
)

// maxFrame bounds one frame of either direction, as NameNodes do (ipc.maximum.data.length).
const maxFrame = 64 << 20

// Call ids that are no calls.
const connectionContextID = -3

// Frames of Hadoop RPC, version 9 (docs/format/hdfs-rpc.md):
//
//	request:  length of all behind it (4 bytes, big endian), then three times: length as
//	          a varint, message. RpcRequestHeaderProto, RequestHeaderProto, the request.
//	answer:   length, RpcResponseHeaderProto with its length, the answer with its length.
//	          Nothing is behind the header if the call failed.

// callIDs name a call: the NameNode's retry cache knows it by them.
type callIDs struct {
	client  [16]byte
	call    int32
	retries int32 // how often it was sent before
}

// requestFrame gives the bytes of a call.
func requestFrame(p permitted, ids callIDs, caller string) ([]byte, error) {
	header := &hadoop.RpcRequestHeaderProto{
		RpcKind:    hadoop.RpcKindProto_RPC_PROTOCOL_BUFFER.Enum(),
		RpcOp:      hadoop.RpcRequestHeaderProto_RPC_FINAL_PACKET.Enum(),
		CallId:     proto.Int32(ids.call),
		ClientId:   ids.client[:],
		RetryCount: proto.Int32(ids.retries),
	}
	if caller != "" {
		header.CallerContext = &hadoop.RPCCallerContextProto{Context: proto.String(caller)}
	}
	return frame(header, &hadoop.RequestHeaderProto{
		MethodName:                 proto.String(p.method),
		DeclaringClassProtocolName: proto.String(string(p.of)),
		ClientProtocolVersion:      proto.Uint64(protocolVersion),
	}, rawMessage(p.body))
}

// contextFrame gives the first frame of a connection: who speaks which protocol. In
// simple authentication that is all a NameNode asks of a user.
func contextFrame(client [16]byte, user string, of protocol) ([]byte, error) {
	m := &hadoop.IpcConnectionContextProto{Protocol: proto.String(string(of))}
	if user != "" {
		m.UserInfo = &hadoop.UserInformationProto{EffectiveUser: proto.String(user)}
	}
	return frame(&hadoop.RpcRequestHeaderProto{
		RpcKind:    hadoop.RpcKindProto_RPC_PROTOCOL_BUFFER.Enum(),
		RpcOp:      hadoop.RpcRequestHeaderProto_RPC_FINAL_PACKET.Enum(),
		CallId:     proto.Int32(connectionContextID),
		ClientId:   client[:],
		RetryCount: proto.Int32(-1),
	}, m)
}

// rawMessage is one that is encoded already.
type rawMessage []byte

func frame(parts ...any) ([]byte, error) {
	out := make([]byte, 4, 256)
	for _, part := range parts {
		raw, ok := part.(rawMessage)
		if !ok {
			var err error
			if raw, err = (proto.MarshalOptions{Deterministic: true}).Marshal(part.(proto.Message)); err != nil {
				return nil, err
			}
		}
		out = protowire.AppendBytes(out, raw)
	}
	if len(out)-4 > maxFrame {
		return nil, fmt.Errorf("request of %d bytes: larger than NameNodes take", len(out)-4)
	}
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	return out, nil
}

// readFrame reads one frame of at most limit bytes. Memory grows with the bytes that
// arrive, never with the length that is announced.
func readFrame(r io.Reader, limit int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	if string(head[:]) == "HTTP" {
		return nil, errors.New("it speaks HTTP, so it is not the RPC port of a NameNode")
	}
	n := int32(binary.BigEndian.Uint32(head[:]))
	if n <= 0 || int(n) > limit {
		return nil, fmt.Errorf("answer with a length of %d bytes", n)
	}
	var buf bytes.Buffer
	if got, err := io.Copy(&buf, io.LimitReader(r, int64(n))); err != nil {
		return nil, err
	} else if got < int64(n) {
		return nil, io.ErrUnexpectedEOF
	}
	return buf.Bytes(), nil
}

// answer is what a frame from the server says.
type answer struct {
	header *hadoop.RpcResponseHeaderProto
	result []byte // nil of a failed call
}

// parseAnswer takes a frame apart. The result is part of frame.
func parseAnswer(frame []byte) (answer, error) {
	header, n := protowire.ConsumeBytes(frame)
	if n < 0 {
		return answer{}, errors.New("answer is cut off in its header")
	}
	a := answer{header: &hadoop.RpcResponseHeaderProto{}}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(header, a.header); err != nil {
		return answer{}, fmt.Errorf("header of an answer: %w", err)
	}
	rest := frame[n:]
	if a.header.GetStatus() != hadoop.RpcResponseHeaderProto_SUCCESS {
		if len(rest) > 0 {
			return answer{}, fmt.Errorf("%d bytes behind the answer of a failed call", len(rest))
		}
		return a, nil
	}
	body, n := protowire.ConsumeBytes(rest)
	if n < 0 {
		return answer{}, errors.New("answer is cut off")
	}
	if len(rest) > n {
		return answer{}, fmt.Errorf("%d bytes behind an answer", len(rest)-n)
	}
	a.result = body
	return a, nil
}

// decode reads the result into message. What is required must be there; fields that are not known are
// left out.
func (a answer) decode(message proto.Message) error {
	return proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(a.result, message)
}
