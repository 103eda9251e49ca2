package hdfs

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"time"
)

// configuredProtection gives the protection that the configuration asks for, the
// highest of several.
func configuredProtection(conf *Conf) (transferProtection, error) {
	encrypt, err := conf.Bool("dfs.encrypt.data.transfer", false)
	if err != nil {
		return privateTransfer, err
	}
	names, err := conf.List("dfs.data.transfer.protection")
	if err != nil {
		return privateTransfer, err
	}
	highest := openTransfer
	if encrypt {
		highest = privateTransfer
	}
	for _, name := range names {
		switch strings.ToLower(name) {
		case "authentication":
			highest = max(highest, authenticTransfer)
		case "integrity":
			highest = max(highest, integralTransfer)
		default: // privacy; and what is not known asks for no less
			highest = privateTransfer
		}
	}
	return highest, nil
}

// watched makes connections that give up when the other side is silent for idle.
func watched(dial dialFunc, idle time.Duration) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, idle)
		defer cancel()
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &idleConn{Conn: conn, idle: idle}, nil
	}
}

// idleConn has a deadline of its own for each read and write, and takes no other.
type idleConn struct {
	net.Conn
	idle time.Duration
}

// Read reads.
func (c *idleConn) Read(p []byte) (int, error) {
	if err := c.Conn.SetReadDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// Write writes.
func (c *idleConn) Write(p []byte) (int, error) {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// SetDeadline does nothing.
func (c *idleConn) SetDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing.
func (c *idleConn) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing.
func (c *idleConn) SetWriteDeadline(time.Time) error { return nil }

// connections are all that one read of a file has opened. They are closed together:
// when the read ends, or when its context does, which ends whatever waits for them.
type connections struct {
	mu     sync.Mutex
	open   []net.Conn
	closed bool
}

var errClosed = errors.New("the file is not read any more")

// add takes a connection, or closes it when the read is over.
func (c *connections) add(conn net.Conn) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = conn.Close() // nobody has written to it
		return errClosed
	}
	c.open = append(c.open, conn)
	return nil
}

// close closes all and those to come.
func (c *connections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, conn := range c.open {
		_ = conn.Close() // only read from
	}
	c.open = nil
}
