package hdfs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/execute/hdfs/kerberos"
	"fsweep/proto/hadoop"
)

// conn is one connection to one NameNode. It carries one call at a time and belongs to one
// goroutine at a time. After anything but an answer to the call it is broken and may
// not be used any more.
type conn struct {
	nn     execute.NameNode
	raw    net.Conn
	stream io.ReadWriter // what frames go through
	in     *bufio.Reader
	broken bool
	seen   time.Time // when it was last used
	active time.Time // when the NameNode last said that it is ACTIVE; zero if it did not
}

// lostError: there is no answer to a call.
type lostError struct {
	call string
	nn   execute.NameNode
	left bool // all of the request may have left this process
	err  error
}

func (e *lostError) Error() string {
	if final(e.err) {
		return fmt.Sprintf("NameNode %s: %v", e.nn.Address, e.err)
	}
	return fmt.Sprintf("%s: NameNode %s: no answer: %v", e.call, e.nn.Address, e.err)
}

func (e *lostError) Unwrap() error { return e.err }

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// connect opens a connection and says who we are. The server answers only if it does not
// like that, and then to the first call.
func connect(ctx context.Context, dial dialFunc, nn execute.NameNode, auth authentication, client [16]byte, of protocol) (*conn, error) {
	lost := func(err error) error { return &lostError{call: "connect", nn: nn, err: err} }
	raw, err := dial(ctx, "tcp", nn.Address)
	if err != nil {
		if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound && nn.Nameservice == "" {
			err = fmt.Errorf("%w, nor does dfs.nameservices of the configuration have that name", err)
		}
		return nil, lost(err)
	}
	c := &conn{nn: nn, raw: raw}
	hello, err := contextFrame(client, auth.user(), of)
	if err != nil {
		c.close()
		return nil, lost(err)
	}
	err = c.within(ctx, func() error {
		if _, err := raw.Write([]byte{'h', 'r', 'p', 'c', rpcVersion, 0, auth.mechanism()}); err != nil {
			return err
		}
		if c.stream, err = auth.open(ctx, nn, raw); err != nil {
			return err
		}
		c.in = bufio.NewReader(c.stream)
		_, err := c.stream.Write(hello)
		return err
	})
	if err != nil {
		c.close()
		return nil, lost(err)
	}
	return c, nil
}

func (c *conn) close() {
	c.broken = true
	_ = c.raw.Close() // what could fail is over anyway
}

// within runs something on the connection that ends when ctx does. The connection is
// broken afterwards if ctx was done meanwhile.
func (c *conn) within(ctx context.Context, do func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	deadline, _ := ctx.Deadline() // the zero time stands for none
	if err := c.raw.SetDeadline(deadline); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.raw.SetDeadline(time.Unix(1, 0)) })
	err := do()
	if !stop() {
		c.broken = true
	}
	switch {
	case err != nil && ctx.Err() != nil && kerberos.Ours(err): // which may have been a KDC that took the time
		return fmt.Errorf("%w (%w)", err, context.Cause(ctx))
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return context.DeadlineExceeded // the connection's clock was a moment ahead of the context's
	}
	return err
}

// call sends one request and decodes the answer to it. An error is a [*execute.RemoteError],
// which is an answer, too, or a [*lostError].
func (c *conn) call(ctx context.Context, p permitted, ids callIDs, caller string, result proto.Message) error {
	lost := &lostError{call: p.method, nn: c.nn}
	out, err := requestFrame(p, ids, caller)
	if err != nil {
		lost.err = err
		return lost
	}
	var got answer
	err = c.within(ctx, func() error {
		// A frame of which the end did not leave is none for the server.
		n, err := c.stream.Write(out)
		lost.left = n >= len(out)
		if err != nil {
			return err
		}
		got, err = c.receive(p, ids)
		return err
	})
	if err == nil {
		err = c.judge(p, got, result)
	}
	var remote *execute.RemoteError
	if err == nil || errors.As(err, &remote) {
		return err
	}
	c.broken = true
	lost.err = err
	return lost
}

// receive reads the answer to a call.
func (c *conn) receive(p permitted, ids callIDs) (answer, error) {
	frame, err := readFrame(c.in, p.limit)
	if err != nil {
		return answer{}, err
	}
	a, err := parseAnswer(frame)
	if err != nil {
		return answer{}, err
	}
	h := a.header
	own := int32(h.GetCallId()) == ids.call
	if fatal := h.GetStatus() == hadoop.RpcResponseHeaderProto_FATAL; fatal {
		c.broken = true
		// A server that does not let us in says so with an id of its own. Nothing was
		// carried out, as the server never came to the call, but only that of the call is proof.
		if !own && p.changes {
			return answer{}, fmt.Errorf("fatal answer to call %d: %q: %q", int32(h.GetCallId()), h.GetExceptionClassName(), firstLines(h))
		}
		return a, nil
	}
	if !own {
		return answer{}, fmt.Errorf("answer to call %d in place of %d", int32(h.GetCallId()), ids.call)
	}
	if id := h.GetClientId(); len(id) > 0 && string(id) != string(ids.client[:]) {
		return answer{}, errors.New("answer to another client")
	}
	return a, nil
}

// judge gives the result of an answer.
func (c *conn) judge(p permitted, a answer, result proto.Message) error {
	if a.header.GetStatus() == hadoop.RpcResponseHeaderProto_SUCCESS {
		if err := a.decode(result); err != nil {
			return fmt.Errorf("answer cannot be decoded: %w", err)
		}
		return nil
	}
	if a.header.GetErrorDetail() == hadoop.RpcResponseHeaderProto_ERROR_SERIALIZING_RESPONSE {
		return fmt.Errorf("the NameNode carried it out, but could not answer: %q", firstLines(a.header))
	}
	if p.changes && perhapsDone(a.header) {
		return fmt.Errorf("the NameNode failed before or behind the change: %q: %q", a.header.GetExceptionClassName(), firstLines(a.header))
	}
	remote := remoteError(p.method, c.nn, a.header)
	if remote.Class == "" {
		return errors.New("an error without a class")
	}
	return remote
}

// perhapsDone tells whether a failure may come from behind a change. What refuses one does so
// before it, and is an exception of Hadoop's, of java.io, or one of the two of java.lang that are
// named here. Others are failures of the Java machine or of its code, which can also be those of
// an audit logger, or of memory, when all is done. And a server that could not write the edits of a
// change, which then is in its memory and perhaps in the edit log, aborts the answer: that
// one is fatal, has the id of the call and says ERROR_RPC_SERVER (FSEditLogAsync, Server.Call).
func perhapsDone(h *hadoop.RpcResponseHeaderProto) bool {
	class := h.GetExceptionClassName()
	switch class {
	case standbyClass, observerClass, retriableClass, argumentClass, unsupported:
		return false
	}
	aborted := h.GetStatus() == hadoop.RpcResponseHeaderProto_FATAL && h.GetErrorDetail() == hadoop.RpcResponseHeaderProto_ERROR_RPC_SERVER
	return aborted || strings.HasPrefix(class, "java.lang.") || strings.HasPrefix(class, "java.util.")
}
