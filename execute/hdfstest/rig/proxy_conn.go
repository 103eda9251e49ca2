package rig

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxFrame is more than any NameNode or client sends.
const maxFrame = 128 << 20

// conn is one connection through a proxy.
type conn struct {
	proxy          *Proxy
	number         int
	client, server net.Conn

	mu     sync.Mutex
	faults map[int32]Fault // what waits for the answer of a call
}

func (c *conn) end() {
	_ = c.client.Close() // both may be closed already
	_ = c.server.Close()
}

// passRequests passes on what the client sends: "hrpc", three bytes, then frames.
func (c *conn) passRequests() {
	var preamble [7]byte
	if _, err := io.ReadFull(c.client, preamble[:]); err != nil {
		return
	}
	if _, err := c.server.Write(preamble[:]); err != nil {
		return
	}
	for {
		frame, err := readFrame(c.client)
		if err != nil || !c.passRequest(frame) {
			return
		}
	}
}

// passRequest returns false when the connection is to end.
func (c *conn) passRequest(frame []byte) bool {
	r, ok := parseRequest(frame[4:])
	if !ok { // the context of the connection, a ping
		_, err := c.server.Write(frame)
		return err == nil
	}
	r.Conn = c.number
	f := c.proxy.judge(r)
	time.Sleep(f.Delay)
	switch f.Action {
	case Drop:
		return false
	case CutRequest:
		_, _ = c.server.Write(frame[:min(f.Bytes, len(frame))]) // it ends in any case
		return false
	case DropAnswer, CutAnswer, Hang:
		c.mu.Lock()
		c.faults[r.CallID] = f
		c.mu.Unlock()
	case Pass, DropSent:
	}
	_, err := c.server.Write(frame)
	return err == nil && f.Action != DropSent
}

func (c *conn) passAnswers() {
	for {
		frame, err := readFrame(c.server)
		if err != nil {
			return
		}
		id, ok := parseAnswer(frame[4:])
		var f Fault
		if ok {
			c.mu.Lock()
			f = c.faults[id]
			delete(c.faults, id)
			c.mu.Unlock()
		}
		switch f.Action {
		case Hang:
			continue
		case DropAnswer:
			return
		case CutAnswer:
			_, _ = c.client.Write(frame[:min(f.Bytes, len(frame))]) // it ends in any case
			return
		case Pass, Drop, DropSent, CutRequest:
		}
		if _, err := c.client.Write(frame); err != nil {
			return
		}
	}
}

// readFrame reads a frame with its length, four bytes.
func readFrame(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxFrame {
		return nil, errors.New("frame too large")
	}
	frame := make([]byte, 4+n)
	copy(frame, head[:])
	_, err := io.ReadFull(r, frame[4:])
	return frame, err
}

// Fields of RpcRequestHeaderProto, RequestHeaderProto and RpcResponseHeaderProto of
// Hadoop's RpcHeader.proto and ProtobufRpcEngine.proto.
const (
	requestCallID     = 3
	requestClientID   = 4
	requestRetryCount = 5
	requestMethod     = 1
	answerCallID      = 1
)

// parseRequest gives false for what is no call of a method: its call id is negative.
func parseRequest(b []byte) (Request, bool) {
	var r Request
	header, n := protowire.ConsumeBytes(b)
	if n < 0 {
		return r, false
	}
	ok := fields(header, func(num protowire.Number, v uint64, bytes []byte) {
		switch num {
		case requestCallID:
			r.CallID = int32(protowire.DecodeZigZag(v))
		case requestRetryCount:
			r.RetryCount = int32(protowire.DecodeZigZag(v))
		case requestClientID:
			r.ClientID = string(bytes)
		default:
		}
	})
	if !ok || r.CallID < 0 {
		return r, false
	}
	call, n := protowire.ConsumeBytes(b[n:])
	if n < 0 {
		return r, false
	}
	ok = fields(call, func(num protowire.Number, _ uint64, bytes []byte) {
		if num == requestMethod {
			r.Method = string(bytes)
		}
	})
	return r, ok && r.Method != ""
}

func parseAnswer(b []byte) (int32, bool) {
	header, n := protowire.ConsumeBytes(b)
	if n < 0 {
		return 0, false
	}
	var id int32
	found := false
	ok := fields(header, func(num protowire.Number, v uint64, _ []byte) {
		if num == answerCallID {
			id, found = int32(uint32(v)), true
		}
	})
	return id, ok && found
}

// fields gives each field of a message that is a number or bytes.
func fields(b []byte, f func(num protowire.Number, v uint64, bytes []byte)) bool {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return false
		}
		b = b[n:]
		var v uint64
		var bytes []byte
		switch typ {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			bytes, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return false
		}
		f(num, v, bytes)
		b = b[n:]
	}
	return true
}
