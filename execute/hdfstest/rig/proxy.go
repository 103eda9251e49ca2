package rig

import (
	"errors"
	"net"
	"sync"
	"time"
)

// Proxy stands before the RPC port of a NameNode. It passes everything on until
// [Proxy.Handle] tells it to do otherwise with some requests.
//
// It understands requests of connections that are neither wrapped nor encrypted.
// Its methods can be used by several goroutines.
type Proxy struct {
	target   string
	listener net.Listener
	wg       sync.WaitGroup

	mu       sync.Mutex
	handle   func(Request) Fault
	requests []Request
	conns    map[*conn]bool
	count    int // connections so far
	closed   bool
}

// Request is one call as it passes.
type Request struct {
	Method     string // rename2
	CallID     int32
	RetryCount int32
	ClientID   string // 16 bytes
	Conn       int    // the connection, counted from 1
}

// Fault is what happens to a request. The zero value lets it pass.
type Fault struct {
	Delay  time.Duration // before anything else; later requests of the connection wait too
	Action Action
	Bytes  int // of [CutRequest] and [CutAnswer]
}

// Action is what a [Fault] does to a request. Those that lose something end the
// connection, on both sides.
type Action uint8

// The actions.
const (
	Pass       Action = iota
	Drop              // the NameNode never sees it
	CutRequest        // the NameNode gets the first Bytes of it
	DropSent          // passed on, and the connection ends at once: the NameNode may carry it out or not
	DropAnswer        // the NameNode answers, the client learns nothing
	CutAnswer         // the client gets the first Bytes of the answer
	Hang              // the NameNode answers, the client learns nothing and the connection stays
)

// NewProxy listens on a free port of 127.0.0.1 and passes on to target, host:port.
func NewProxy(target string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{target: target, listener: l, conns: make(map[*conn]bool)}
	p.wg.Add(1)
	go p.accept()
	return p, nil
}

// Addr is where it listens, host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Handle asks f about every request from now on; nil lets all of them pass. Calls of f
// do not overlap.
func (p *Proxy) Handle(f func(Request) Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.handle = f
}

// HandleNext does fault to the next request of a method, and to no other.
func (p *Proxy) HandleNext(method string, fault Fault) {
	done := false
	p.Handle(func(r Request) Fault {
		if done || r.Method != method {
			return Fault{}
		}
		done = true
		return fault
	})
}

// Requests gives all that came so far, and forgets them.
func (p *Proxy) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.requests
	p.requests = nil
	return seen
}

// Disconnect ends all connections, as a server does with idle ones, and gives their
// number. Clients may connect again.
func (p *Proxy) Disconnect() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.conns)
	for c := range p.conns {
		c.end()
	}
	return n
}

// Connections is the number of those that are open.
func (p *Proxy) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}

// Close ends it.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	_ = p.listener.Close() // a second Close is no mistake
	p.Disconnect()
	p.wg.Wait()
}

func (p *Proxy) accept() {
	defer p.wg.Done()
	for {
		client, err := p.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		p.wg.Go(func() { p.serve(client) })
	}
}

// serve passes one connection on, in both directions, until one of them ends.
func (p *Proxy) serve(client net.Conn) {
	server, err := net.DialTimeout("tcp", p.target, 5*time.Second)
	if err != nil {
		if tcp, ok := client.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // nobody listens: closer to a refusal than an orderly end
		}
		_ = client.Close()
		return
	}
	c := &conn{proxy: p, client: client, server: server, faults: make(map[int32]Fault)}
	defer c.end()
	p.mu.Lock()
	p.count++
	c.number = p.count
	closed := p.closed
	p.conns[c] = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.conns, c)
		p.mu.Unlock()
	}()
	if closed {
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() { defer c.end(); c.passAnswers() })
	wg.Go(func() { defer c.end(); c.passRequests() })
	wg.Wait()
}

// judge records a request and says what to do with it.
func (p *Proxy) judge(r Request) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, r)
	if p.handle == nil {
		return Fault{}
	}
	return p.handle(r)
}
