package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync/atomic"

	library "github.com/colinmarc/hdfs/v2"
	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// nativeRead is how much is read at once. The library passes bytes on before it has
// compared their checksum if a read asks for a chunk or more (512 bytes, unless
// dfs.bytes-per-checksum says otherwise), and only afterwards goes to another replica:
// a corrupt block would be taken for a good one. In smaller reads it compares first.
const nativeRead = 256

// nativeWay reads from DataNodes by the data transfer protocol, with the block reader of
// github.com/colinmarc/hdfs. Nothing else of that library is used: what it takes for
// the NameNode is an [answerer] in this process, which repeats what our own client was
// told about this one file. So it sends no RPC, renews no lease, asks no observer, knows
// no other NameNode and needs no credentials for one.
type nativeWay struct {
	user     string
	hostname bool // dfs.client.use.datanode.hostname
	dial     dialFunc
}

func newNativeWay(conf *Conf, user string, dial dialFunc) (*nativeWay, error) {
	hostname, err := conf.Bool("dfs.client.use.datanode.hostname", false)
	if err != nil {
		return nil, err
	}
	return &nativeWay{user: user, hostname: hostname, dial: dial}, nil
}

// String names it.
func (*nativeWay) String() string { return "native" }

// open implements [way].
func (w *nativeWay) open(ctx context.Context, f *foundFile) (io.ReadCloser, error) {
	blocks, err := plainBlocks(f)
	if err != nil {
		return nil, err
	}
	answer, err := proto.Marshal(blocks)
	if err != nil {
		return nil, err
	}
	// A DataNode that gives too few bytes of a block is asked again and again: there is
	// an end of that after a few rounds through all replicas.
	s := &nativeStream{left: newBudget(blocks), addresses: w.addresses(blocks), dial: w.dial, ctx: ctx}
	s.stop = context.AfterFunc(ctx, s.conns.close)
	path := execute.ByID(f.ID).Path()
	err = guardPanic(func() (err error) {
		s.client, err = library.NewClient(library.ClientOptions{
			Addresses:           []string{"answerer"},
			User:                w.user,
			UseDatanodeHostname: w.hostname,
			NamenodeDialFunc: func(context.Context, string, string) (net.Conn, error) {
				return s.connectAnswerer(&answerer{path: path, length: f.Length, blocks: answer})
			},
			DatanodeDialFunc: s.connectDataNode,
		})
		if err == nil {
			s.file, err = s.client.Open(path)
		}
		return err
	})
	if err != nil {
		_ = s.Close() // the error that matters is at hand
		return nil, err
	}
	return s, nil
}

// plainBlocks gives the blocks of a file that the library can read, and refuses others.
func plainBlocks(f *foundFile) (*hadoop.LocatedBlocksProto, error) {
	switch {
	case f.status.Encrypted || f.blocks.FileEncryptionInfo != nil:
		return nil, fmt.Errorf("%w: in an encryption zone, DataNodes give ciphertext", execute.ErrUnreadable)
	case f.tokens:
		return nil, fmt.Errorf("%w: with Kerberos a DataNode wants a block token, which comes only with a call that moves the access time", execute.ErrUnreadable)
	case f.protection != openTransfer:
		return nil, fmt.Errorf("%w: the data transfer is protected (%s)", execute.ErrUnreadable, f.protection)
	case f.status.ErasureCoded || f.blocks.EcPolicy != nil:
		blocks, ok := firstCells(f.blocks)
		if !ok {
			return nil, fmt.Errorf("%w: erasure coded and larger than a cell, or its first cell is lost", execute.ErrUnreadable)
		}
		return withTokens(blocks), nil
	}
	return withTokens(f.blocks), nil
}

// addresses gives the DataNodes that may be dialed: what the library asks for, and what
// that means. It writes IPv6 addresses without brackets.
func (w *nativeWay) addresses(blocks *hadoop.LocatedBlocksProto) map[string]string {
	known := make(map[string]string)
	for _, dn := range dataNodes(blocks) {
		host, port := dn.GetIpAddr(), strconv.FormatUint(uint64(dn.GetXferPort()), 10)
		if w.hostname {
			host = dn.GetHostName()
		}
		known[host+":"+port] = net.JoinHostPort(host, port)
	}
	return known
}

// newBudget gives the number of connections that reading a file may take.
func newBudget(blocks *hadoop.LocatedBlocksProto) *atomic.Int64 {
	n := new(atomic.Int64)
	for _, b := range blocks.GetBlocks() {
		n.Add(int64(3*len(b.GetLocs()) + 3))
	}
	return n
}

// nativeStream is one file that the library reads.
type nativeStream struct {
	ctx       context.Context // of the read that it belongs to
	stop      func() bool
	conns     connections
	addresses map[string]string
	left      *atomic.Int64
	dial      dialFunc
	client    *library.Client
	file      *library.FileReader
}

// connectAnswerer gives the library its NameNode.
func (s *nativeStream) connectAnswerer(a *answerer) (net.Conn, error) {
	near, far := net.Pipe()
	if err := s.conns.add(near); err != nil {
		return nil, err
	}
	go a.serve(far) // until the pipe is closed
	return near, nil
}

// connectDataNode dials one of the file's DataNodes. The library's context never ends.
func (s *nativeStream) connectDataNode(_ context.Context, network, address string) (net.Conn, error) {
	to, known := s.addresses[address]
	if !known {
		return nil, fmt.Errorf("%s is no DataNode of this file", address)
	}
	if s.left.Add(-1) < 0 {
		return nil, errors.New("too many attempts")
	}
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	conn, err := s.dial(s.ctx, network, to)
	if err != nil {
		return nil, err
	}
	if err := s.conns.add(conn); err != nil {
		return nil, err
	}
	return newGuardedConn(conn, nativeRead), nil
}

// Read implements [io.Reader].
func (s *nativeStream) Read(p []byte) (n int, err error) {
	p = p[:min(len(p), nativeRead)]
	panicked := guardPanic(func() error {
		n, err = s.file.Read(p)
		return nil
	})
	if panicked != nil {
		return 0, panicked
	}
	return n, err
}

// Close implements [io.Closer]. It closes the connections first, so that nothing waits.
func (s *nativeStream) Close() error {
	s.stop()
	s.conns.close()
	return guardPanic(func() error {
		if s.file != nil {
			_ = s.file.Close() // its connections are closed
		}
		if s.client != nil {
			_ = s.client.Close() // ends the goroutine that would renew leases
		}
		return nil
	})
}

// guardPanic turns a panic of the library into an error: some of what a DataNode can
// send makes it slice out of range.
func guardPanic(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the HDFS library failed: %v", p)
		}
	}()
	return call()
}
