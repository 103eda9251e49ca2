package hdfs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// confMap is a configuration.
type confMap map[string]string

func (c confMap) conf() *Conf { return NewConf(c) }

// oneFile is a NameNode that knows one file.
type oneFile struct {
	execute.Inspector // the rest panics: readers ask for nothing else

	mu       sync.Mutex
	status   execute.Status
	open     bool
	gone     error
	defaults execute.Defaults
	blocks   *hadoop.LocatedBlocksProto
	active   execute.NameNode
	asked    int   // block locations
	asks     error // what they are refused with
}

const fileID = 16400

// newOneFile makes a closed file of so many bytes, which no DataNode has yet.
func newOneFile(length int64) *oneFile {
	return &oneFile{
		status: execute.Status{ID: fileID, Kind: execute.File, Length: length, MTimeMs: 1700000000123},
		blocks: &hadoop.LocatedBlocksProto{
			FileLength: proto.Uint64(uint64(length)), UnderConstruction: proto.Bool(false), IsLastBlockComplete: proto.Bool(true),
		},
		active: execute.NameNode{Address: "127.0.0.1:1"},
	}
}

// id is what a plan says of the file.
func (f *oneFile) id() execute.FileID {
	return execute.FileID{Path: "/flink/chk-7/_metadata", ID: fileID, Length: f.status.Length, MTimeMs: f.status.MTimeMs}
}

// change does something to the file while others look.
func (f *oneFile) change(do func(*oneFile)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do(f)
}

func (f *oneFile) Stat(ctx context.Context, ref execute.Ref) (*execute.Status, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id, _ := ref.ID(); id != fileID {
		return nil, fmt.Errorf("asked for %s", ref)
	}
	s := f.status
	return &s, errors.Join(f.gone, ctx.Err())
}

func (f *oneFile) Closed(ctx context.Context, ref execute.Ref) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id, _ := ref.ID(); id != fileID {
		return false, fmt.Errorf("asked for %s", ref)
	}
	return !f.open, ctx.Err()
}

func (f *oneFile) Defaults(context.Context) (execute.Defaults, error) { return f.defaults, nil }

func (f *oneFile) Active(context.Context) (execute.NameNode, error) { return f.active, nil }

func (f *oneFile) blockLocations(_ context.Context, ref execute.Ref) (*hadoop.LocatedBlocksProto, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	if id, _ := ref.ID(); id != fileID {
		return nil, fmt.Errorf("asked for %s", ref)
	}
	return proto.CloneOf(f.blocks), errors.Join(f.gone, f.asks)
}

// addBlock appends a block that DataNodes have.
func (f *oneFile) addBlock(id uint64, length int, nodes ...*hadoop.DatanodeIDProto) *hadoop.LocatedBlockProto {
	var offset uint64
	for _, b := range f.blocks.GetBlocks() {
		offset += b.GetB().GetNumBytes()
	}
	b := &hadoop.LocatedBlockProto{
		B: &hadoop.ExtendedBlockProto{
			PoolId: proto.String("BP-1"), BlockId: proto.Uint64(id), GenerationStamp: proto.Uint64(1001), NumBytes: proto.Uint64(uint64(length)),
		},
		Offset: proto.Uint64(offset), Corrupt: proto.Bool(false),
	}
	for _, n := range nodes {
		b.Locs = append(b.Locs, &hadoop.DatanodeInfoProto{Id: n})
	}
	f.blocks.Blocks = append(f.blocks.Blocks, b)
	return b
}

// nodeID describes a DataNode to clients.
func nodeID(t testing.TB, transfer, web string) *hadoop.DatanodeIDProto {
	t.Helper()
	port := func(address string) *uint32 {
		if address == "" {
			return proto.Uint32(0)
		}
		_, p, err := net.SplitHostPort(address)
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil {
			t.Fatal(err)
		}
		return proto.Uint32(uint32(n))
	}
	return &hadoop.DatanodeIDProto{
		IpAddr: proto.String("127.0.0.1"), HostName: proto.String("dn.test"), DatanodeUuid: proto.String("u"),
		XferPort: port(transfer), InfoPort: port(web), IpcPort: proto.Uint32(1), InfoSecurePort: proto.Uint32(0),
	}
}

// fakeDataNode speaks the read side of the data transfer protocol. Each hook can spoil it.
type fakeDataNode struct {
	t        testing.TB
	listener net.Listener
	blocks   map[uint64][]byte
	chunk    int
	packet   int                                              // bytes of data
	damage   func(sent []byte, chunk int)                     // of a chunk, after its checksum was made
	answer   func(w io.Writer, id, offset, count uint64) bool // in place of the whole; false: go on
	reads    chan uint64                                      // block ids, as they are asked for
}

// usedAddresses are those of all fake DataNodes so far.
var usedAddresses sync.Map

// freshListener listens where no fake DataNode was before: the library remembers for the whole
// process which addresses failed, and asks those last.
func freshListener(t testing.TB) net.Listener {
	t.Helper()
	for {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if _, used := usedAddresses.LoadOrStore(l.Addr().String(), true); !used {
			return l
		}
		_ = l.Close() // nobody knows it
	}
}

func startDataNode(t testing.TB, blocks map[uint64][]byte) *fakeDataNode {
	t.Helper()
	l := freshListener(t)
	d := &fakeDataNode{t: t, listener: l, blocks: blocks, chunk: 512, packet: 64 << 10, reads: make(chan uint64, 1000)}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				d.serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return d
}

func (d *fakeDataNode) address() string { return d.listener.Addr().String() }

// serve answers one request to read a block.
func (d *fakeDataNode) serve(conn net.Conn) {
	// Whoever is silent on purpose ends with the client.
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	in := bufio.NewReader(conn)
	head := make([]byte, 3) // version 28, READ_BLOCK
	if _, err := io.ReadFull(in, head); err != nil || head[1] != 28 || head[2] != 81 {
		d.t.Errorf("request starts with %x: %v", head, err)
		return
	}
	length, err := binary.ReadUvarint(in)
	if err != nil {
		d.t.Error(err)
		return
	}
	message := make([]byte, length)
	if _, err := io.ReadFull(in, message); err != nil {
		d.t.Error(err)
		return
	}
	block := []byte(field([]byte(field([]byte(field(message, 1)), 1)), 1))
	id, offset, count := number(block, 2), number(message, 2), number(message, 3)
	d.reads <- id
	if d.answer != nil && d.answer(conn, id, offset, count) {
		return
	}
	content, ok := d.blocks[id]
	if !ok {
		_, _ = conn.Write(opResponse(1, 0, "Replica not found"))
		return
	}
	start := int(offset) / d.chunk * d.chunk
	_, _ = conn.Write(opResponse(0, d.chunk, "", uint64(start)))
	d.send(conn, content[start:min(len(content), int(offset+count))])
	_, _ = io.Copy(io.Discard, in) // until the client closes
}

// send sends data as packets, an empty one at the end.
func (d *fakeDataNode) send(w io.Writer, data []byte) {
	n := 0
	for len(data) > 0 {
		part := data[:min(len(data), d.packet)]
		data = data[len(part):]
		var sums, body []byte
		for c := range chunks(part, d.chunk) {
			sums = binary.BigEndian.AppendUint32(sums, crc32.Checksum(c, crc32.MakeTable(crc32.Castagnoli)))
			sent := bytes.Clone(c)
			if d.damage != nil {
				d.damage(sent, n)
			}
			body = append(body, sent...)
			n++
		}
		if _, err := w.Write(append(packetHead(len(sums)+len(body)+4, len(body), false), append(sums, body...)...)); err != nil {
			return
		}
	}
	_, _ = w.Write(packetHead(4, 0, true))
}

func chunks(data []byte, size int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(data) > 0 {
			n := min(size, len(data))
			if !yield(data[:n]) {
				return
			}
			data = data[n:]
		}
	}
}

// packetHead is the length of a packet, and its header.
func packetHead(length, data int, last bool) []byte {
	h := protowire.AppendFixed64(protowire.AppendTag(nil, 1, protowire.Fixed64Type), 0)
	h = protowire.AppendFixed64(protowire.AppendTag(h, 2, protowire.Fixed64Type), 0)
	h = protowire.AppendVarint(protowire.AppendTag(h, 3, protowire.VarintType), protowire.EncodeBool(last))
	h = protowire.AppendFixed32(protowire.AppendTag(h, 4, protowire.Fixed32Type), uint32(data))
	b := binary.BigEndian.AppendUint32(nil, uint32(length))
	return append(binary.BigEndian.AppendUint16(b, uint16(len(h))), h...)
}

// opResponse is a BlockOpResponseProto with its length.
func opResponse(status uint64, chunk int, message string, start ...uint64) []byte {
	m := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), status)
	if len(start) > 0 {
		sum := varints(nil, map[protowire.Number]uint64{1: 2, 2: uint64(chunk)}) // CRC32C
		info := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), sum)
		info = varints(info, map[protowire.Number]uint64{2: start[0]})
		m = protowire.AppendBytes(protowire.AppendTag(m, 4, protowire.BytesType), info)
	}
	if message != "" {
		m = protowire.AppendString(protowire.AppendTag(m, 5, protowire.BytesType), message)
	}
	return protowire.AppendBytes(nil, m)
}

// netDial dials.
func netDial(ctx context.Context, network, address string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, address)
}

// pattern makes bytes that differ wherever one looks.
func pattern(n int) []byte {
	b := make([]byte, n)
	x := uint32(2463534242)
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x)
	}
	return b
}

// readAll reads a file with a reader and gives what use saw, and how often it was called.
func readAll(ctx context.Context, r execute.Reader, file execute.FileID) (got []byte, calls int, err error) {
	err = r.Read(ctx, file, func(from io.Reader) error {
		calls++
		var err error
		got, err = io.ReadAll(from)
		return err
	})
	return got, calls, err
}

// onlyWay is a reader with one way to read.
func onlyWay(t testing.TB, f *oneFile, conf confMap, name string) *fileReader {
	t.Helper()
	r, err := newFileReader(f, conf.conf(), "alice", simpleAuth("alice"), nil, netDial, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range r.ways {
		if w.String() == name {
			r.ways = []way{w}
			return r
		}
	}
	t.Fatalf("no way %s", name)
	return nil
}
