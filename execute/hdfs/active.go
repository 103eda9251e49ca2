package hdfs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// rootID is the inode id of / in every HDFS.
const rootID = 16385

const (
	firstPause = 100 * time.Millisecond
	maxPause   = 3 * time.Second
)

// held is a connection to a NameNode that was ACTIVE at most freshFor ago. Whoever has it
// gives it back.
type held struct {
	*conn
	node   *node
	client *Client
}

func (h *held) release() { h.client.give(h.node, h.conn) }

// ask sends a request that changes nothing, once.
func (h *held) ask(ctx context.Context, request, result proto.Message) error {
	ctx, cancel := context.WithTimeout(ctx, h.client.opts.TryTimeout)
	defer cancel()
	return h.client.ask(ctx, h.conn, request, result)
}

func (c *Client) ask(ctx context.Context, conn *conn, request, result proto.Message) error {
	p, err := look(request)
	if err != nil {
		return err
	}
	ids, err := c.newIDs()
	if err != nil {
		return err
	}
	return conn.call(ctx, p, ids, "", result)
}

// onActive runs do with a connection to the ACTIVE NameNode, and again with another one
// as long as its error says that this was the wrong NameNode, the wrong time, or a lost
// connection on which nothing was changed. It gives up after a while, or when ctx is done.
func (c *Client) onActive(ctx context.Context, do func(h *held) error) error {
	patience := time.Now().Add(c.opts.Patience)
	pause := firstPause
	for {
		err := c.once(ctx, do)
		if _, lost := errors.AsType[*lostError](err); lost && final(err) && !errors.Is(err, execute.ErrUnknown) {
			return &loginError{err} // it would be the same in a moment
		}
		if err == nil || !temporary(err) {
			return err
		}
		if ctx.Err() != nil || time.Now().Add(pause).After(patience) {
			return unavailable(ctx, err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return unavailable(ctx, err)
		case <-timer.C:
		}
		pause = min(2*pause, maxPause)
	}
}

func (c *Client) once(ctx context.Context, do func(h *held) error) error {
	h, err := c.active(ctx)
	if err != nil {
		return err
	}
	defer h.release()
	if err = do(h); err != nil && temporary(err) {
		h.active = time.Time{}
		c.forget(h.node, err)
	}
	return err
}

// temporary tells whether to try again: there was no answer, and nothing can have changed;
// or the answer was that another NameNode or a later time is right.
func temporary(err error) bool {
	if _, lost := errors.AsType[*lostError](err); lost {
		return !errors.Is(err, execute.ErrUnknown) && !final(err)
	}
	return elsewhere(err)
}

// loginError is what a call ends with when the NameNode, or the KDC, lets the user not in. It
// changed nothing.
type loginError struct{ err error }

func (e *loginError) Error() string   { return e.err.Error() }
func (e *loginError) Unwrap() []error { return []error{execute.ErrUnavailable, e.err} }

// unavailable is what a call ends with that found no ACTIVE NameNode. Both it and the error of
// ctx are to be found in it.
func unavailable(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w: %w", execute.ErrUnavailable, cause, err)
	}
	return fmt.Errorf("%w: %w", execute.ErrUnavailable, err)
}

// forget drops what is known of a NameNode that did not answer as an ACTIVE one.
func (c *Client) forget(n *node, err error) {
	c.mu.Lock()
	if c.last == n {
		c.last = nil
	}
	c.mu.Unlock()
	if _, lost := errors.AsType[*lostError](err); !lost {
		return
	}
	// What else is idle to this NameNode is broken as well, most likely.
	n.mu.Lock()
	idle := n.idle
	n.idle = nil
	n.mu.Unlock()
	for _, conn := range idle {
		conn.close()
	}
}

// active gives a connection to the ACTIVE NameNode: one that was lately, or one that says so now.
func (c *Client) active(ctx context.Context) (*held, error) {
	c.mu.Lock()
	last := c.last
	c.mu.Unlock()
	if last == nil {
		return c.search(ctx)
	}
	conn, err := c.confirmed(ctx, last, freshFor)
	if err == nil {
		return &held{conn, last, c}, nil
	}
	if !temporary(err) {
		return nil, err
	}
	c.forget(last, err)
	return c.search(ctx)
}

// search asks all NameNodes at once and takes the first one that says that it is ACTIVE.
func (c *Client) search(ctx context.Context) (*held, error) {
	type found struct {
		n    *node
		conn *conn
		err  error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ch := make(chan found, len(c.nodes))
	for _, n := range c.nodes {
		go func() {
			conn, err := c.confirmed(ctx, n, 0)
			ch <- found{n, conn, err}
		}()
	}
	var winner *held
	var errs []error
	var final error
	for range c.nodes {
		f := <-ch
		switch {
		case f.err == nil && winner == nil:
			winner = &held{f.conn, f.n, c}
			cancel() // the others end at once
		case f.err == nil:
			c.give(f.n, f.conn)
		case !temporary(f.err) && final == nil:
			final = f.err
		default:
			errs = append(errs, f.err)
		}
	}
	if winner != nil {
		c.mu.Lock()
		c.last = winner.node
		c.mu.Unlock()
		return winner, nil
	}
	if final != nil {
		return nil, final
	}
	return nil, allOf(errs)
}

// allOf joins errors on one line.
func allOf(errs []error) error {
	err := errs[0]
	for _, next := range errs[1:] {
		err = fmt.Errorf("%w; %w", err, next)
	}
	return err
}

// confirmed gives a connection to a NameNode that said that it is ACTIVE, on that very
// connection and not longer ago than age.
func (c *Client) confirmed(ctx context.Context, n *node, age time.Duration) (*conn, error) {
	for {
		conn, fresh, err := c.take(ctx, n)
		if err != nil {
			return nil, err
		}
		if c.now().Sub(conn.active) < age {
			return conn, nil
		}
		err = c.confirm(ctx, n, conn)
		if err == nil {
			return conn, nil
		}
		c.give(n, conn)
		var lost *lostError
		if fresh || !errors.As(err, &lost) || ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
		// A server may have closed an old connection; that says nothing about the NameNode. Silence
		// does: on each of the other connections it would last as long once more.
	}
}

// confirm asks a NameNode whether it is ACTIVE; the first time also whether it is one at all.
func (c *Client) confirm(ctx context.Context, n *node, conn *conn) error {
	ctx, cancel := context.WithTimeout(ctx, c.opts.TryTimeout)
	defer cancel()
	asked := c.now()
	conn.active = time.Time{}
	n.mu.Lock()
	noMsync, greeted := n.noMsync, n.greeted
	n.mu.Unlock()
	if !noMsync {
		err := c.ask(ctx, conn, &hadoop.MsyncRequestProto{}, &hadoop.MsyncResponseProto{})
		if hasClass(err, noMethodClass) {
			noMsync = true
		} else if err != nil {
			return err
		}
	}
	if noMsync || !greeted {
		if err := c.greet(ctx, conn); err != nil {
			return err
		}
	}
	n.mu.Lock()
	n.noMsync, n.greeted = noMsync, true
	n.mu.Unlock()
	conn.active = asked
	return nil
}

// greet finds out whether a NameNode is one: / has the id that it has in every HDFS, and
// a call that Routers do not know is known. Both are reads that a standby refuses, at least one
// where there is no msync, which is where there are no observers.
func (c *Client) greet(ctx context.Context, conn *conn) error {
	var root hadoop.GetFileLinkInfoResponseProto
	if err := c.ask(ctx, conn, &hadoop.GetFileLinkInfoRequestProto{Src: proto.String("/")}, &root); err != nil {
		return err
	}
	if root.GetFs().GetFileId() != rootID || root.GetFs().GetNamespace() != "" {
		return routerError(conn.nn.Address)
	}
	err := c.ask(ctx, conn, &hadoop.GetDataEncryptionKeyRequestProto{}, &hadoop.GetDataEncryptionKeyResponseProto{})
	if hasClass(err, unsupported) {
		return routerError(conn.nn.Address)
	}
	if err != nil || c.login == nil {
		return err
	}
	return c.sameUser(ctx, conn)
}

// Active says which NameNode is ACTIVE now.
func (c *Client) Active(ctx context.Context) (execute.NameNode, error) {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	var nn execute.NameNode
	err := c.onActive(ctx, func(h *held) error {
		nn = h.nn
		return c.confirm(ctx, h.node, h.conn)
	})
	return nn, err
}
