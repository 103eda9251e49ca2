package hdfs

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// fakeNN is a NameNode's end of the wire, for faults that no real one makes on demand. It
// takes frames apart by itself; what it answers is what a test says.
type fakeNN struct {
	t  testing.TB
	ln net.Listener

	mu     sync.Mutex
	state  State
	calls  []*seen
	opened int
	users  []string
	// answer decides before the default does; nil: the default.
	answer func(*seen) *reply
	open   map[net.Conn]bool
	wg     sync.WaitGroup
}

// seen is one request as it came.
type seen struct {
	conn   int
	of     string // protocol
	method string
	header *hadoop.RpcRequestHeaderProto
	head   []byte // header of the method
	body   []byte
	frame  []byte
}

// reply is what goes back. The zero value is nothing, for ever.
type reply struct {
	raw  []byte // bytes to write
	drop bool   // close behind them
}

func newFakeNN(t testing.TB, state State) *fakeNN {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeNN{t: t, ln: ln, state: state, open: map[net.Conn]bool{}}
	f.wg.Go(f.accept)
	t.Cleanup(f.stop)
	return f
}

func (f *fakeNN) stop() {
	_ = f.ln.Close()
	f.mu.Lock()
	for c := range f.open {
		_ = c.Close()
	}
	f.mu.Unlock()
	f.wg.Wait()
}

func (f *fakeNN) addr() string { return f.ln.Addr().String() }

func (f *fakeNN) accept() {
	for {
		c, err := f.ln.Accept()
		if err != nil {
			return
		}
		f.mu.Lock()
		f.opened++
		n := f.opened
		f.open[c] = true
		f.mu.Unlock()
		f.wg.Go(func() { f.serve(c, n) })
	}
}

// serve reads the preamble, the connection context, then calls.
func (f *fakeNN) serve(c net.Conn, number int) {
	defer c.Close()
	preamble := make([]byte, 7)
	if _, err := io.ReadFull(c, preamble); err != nil {
		return
	}
	if want := []byte{'h', 'r', 'p', 'c', 9, 0, 0}; !bytes.Equal(preamble, want) {
		f.t.Errorf("preamble %x, want %x", preamble, want)
		return
	}
	var of string
	for {
		frame, err := wholeFrame(c)
		if err != nil {
			return // the other end went away
		}
		parts := splitFrame(f.t, frame)
		s := &seen{conn: number, header: &hadoop.RpcRequestHeaderProto{}, frame: frame}
		f.unmarshal(parts[0], s.header)
		if s.header.GetCallId() == -3 {
			var ctx hadoop.IpcConnectionContextProto
			f.unmarshal(parts[1], &ctx)
			if of = ctx.GetProtocol(); of == "" || len(parts) != 2 {
				f.t.Errorf("connection context %v", &ctx)
			}
			f.mu.Lock()
			f.users = append(f.users, ctx.GetUserInfo().GetEffectiveUser())
			f.mu.Unlock()
			continue
		}
		var head hadoop.RequestHeaderProto
		f.unmarshal(parts[1], &head)
		s.method, s.head, s.body = head.GetMethodName(), parts[1], parts[2]
		s.of = head.GetDeclaringClassProtocolName()
		if s.of != of {
			f.t.Errorf("%s of %s on a connection of %s", s.method, s.of, of)
		}
		r := f.reply(s)
		if _, err := c.Write(r.raw); err != nil || r.drop {
			return
		}
	}
}

func (f *fakeNN) reply(s *seen) *reply {
	f.mu.Lock()
	f.calls = append(f.calls, s)
	answer := f.answer
	f.mu.Unlock()
	if answer != nil {
		if r := answer(s); r != nil {
			return r
		}
	}
	return f.usual(s)
}

// usual answers as a NameNode does whose only inodes are / and a few directories: an even
// id lies in id/2, by the name of the id.
func (f *fakeNN) usual(s *seen) *reply {
	f.mu.Lock()
	state := f.state
	f.mu.Unlock()
	switch state {
	case Standby:
		return failed(s, standbyClass, "Operation category READ is not supported in state standby")
	case Observer:
		return failed(s, observerClass, "Operation category WRITE is not supported in state observer")
	}
	switch s.method {
	case "msync":
		return done(s, &hadoop.MsyncResponseProto{})
	case "getDataEncryptionKey":
		return done(s, &hadoop.GetDataEncryptionKeyResponseProto{})
	case "mkdirs":
		return done(s, &hadoop.MkdirsResponseProto{Result: proto.Bool(true)})
	case "rename2":
		return done(s, &hadoop.Rename2ResponseProto{})
	case "getFileLinkInfo":
		var q hadoop.GetFileLinkInfoRequestProto
		f.unmarshal(s.body, &q)
		if q.GetSrc() == "/" {
			return done(s, &hadoop.GetFileLinkInfoResponseProto{Fs: directory(rootID)})
		}
		var id uint64
		var rest string
		if n, _ := fmt.Sscanf(q.GetSrc(), "/.reserved/.inodes/%d%s", &id, &rest); n == 0 {
			return done(s, &hadoop.GetFileLinkInfoResponseProto{})
		}
		if rest == "/.." {
			id /= 2
		}
		return done(s, &hadoop.GetFileLinkInfoResponseProto{Fs: directory(id)})
	}
	return failed(s, "java.lang.AssertionError", "the test gives no answer to "+s.method)
}

// directory is a status with all that is required.
func directory(id uint64) *hadoop.HdfsFileStatusProto {
	return &hadoop.HdfsFileStatusProto{
		FileType:         hadoop.HdfsFileStatusProto_IS_DIR.Enum(),
		Path:             []byte{},
		Length:           proto.Uint64(0),
		Permission:       &hadoop.FsPermissionProto{Perm: proto.Uint32(0o755)},
		Owner:            proto.String("flink"),
		Group:            proto.String("hdfs"),
		ModificationTime: proto.Uint64(1700000000000),
		AccessTime:       proto.Uint64(0),
		FileId:           proto.Uint64(id),
		ChildrenNum:      proto.Int32(3),
	}
}

func (f *fakeNN) unmarshal(b []byte, m proto.Message) {
	if err := proto.Unmarshal(b, m); err != nil {
		f.t.Errorf("%T: %v", m, err)
	}
}

func (f *fakeNN) set(state State) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state = state
}

func (f *fakeNN) on(answer func(*seen) *reply) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = answer
}

// methods gives the names of all calls so far, in their order.
func (f *fakeNN) methods() []string {
	var names []string
	for _, s := range f.seen("") {
		names = append(names, s.method)
	}
	return names
}

// seen gives the calls of a method; of all for "".
func (f *fakeNN) seen(method string) []*seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.calls), func(s *seen) bool { return method != "" && s.method != method })
}

func (f *fakeNN) connections() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.opened
}

func wholeFrame(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(head[:]))
	_, err := io.ReadFull(r, frame)
	return frame, err
}

// splitFrame takes the messages with their lengths apart.
func splitFrame(t testing.TB, frame []byte) [][]byte {
	var parts [][]byte
	for len(frame) > 0 {
		b, n := protowire.ConsumeBytes(frame)
		if n < 0 {
			t.Errorf("frame with a part that is cut off: %x", frame)
			break
		}
		parts, frame = append(parts, b), frame[n:]
	}
	for len(parts) < 2 {
		parts = append(parts, nil)
	}
	return parts
}

// framed puts messages behind each other as the wire has them.
func framed(messages ...proto.Message) []byte {
	out := make([]byte, 4)
	for _, m := range messages {
		b, err := proto.MarshalOptions{AllowPartial: true}.Marshal(m)
		if err != nil {
			panic(err)
		}
		out = protowire.AppendBytes(out, b)
	}
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	return out
}

func responseHeader(s *seen, status hadoop.RpcResponseHeaderProto_RpcStatusProto) *hadoop.RpcResponseHeaderProto {
	return &hadoop.RpcResponseHeaderProto{
		CallId:              proto.Uint32(uint32(s.header.GetCallId())),
		Status:              status.Enum(),
		ServerIpcVersionNum: proto.Uint32(9),
		ClientId:            s.header.GetClientId(),
		RetryCount:          proto.Int32(s.header.GetRetryCount()),
	}
}

func done(s *seen, m proto.Message) *reply {
	return &reply{raw: framed(responseHeader(s, hadoop.RpcResponseHeaderProto_SUCCESS), m)}
}

// failed answers with an exception, with the stack trace that NameNodes send along.
func failed(s *seen, class, message string) *reply {
	h := responseHeader(s, hadoop.RpcResponseHeaderProto_ERROR)
	h.ExceptionClassName = proto.String(class)
	h.ErrorMsg = proto.String(message + "\n\tat org.apache.hadoop.hdfs.Some.thing(Some.java:1)\n")
	h.ErrorDetail = hadoop.RpcResponseHeaderProto_ERROR_APPLICATION.Enum()
	return &reply{raw: framed(h)}
}

// client opens one that talks to fakes: to one as such, to several as an HA nameservice.
func client(t testing.TB, change func(*Options), nodes ...*fakeNN) *Client {
	conf := map[string]string{"fs.defaultFS": "hdfs://" + nodes[0].addr()}
	if len(nodes) > 1 {
		conf["fs.defaultFS"], conf["dfs.nameservices"] = "hdfs://ns", "ns"
		var ids string
		for i, n := range nodes {
			id := fmt.Sprintf("nn%d", i)
			ids += id + ","
			conf["dfs.namenode.rpc-address.ns."+id] = n.addr()
		}
		conf["dfs.ha.namenodes.ns"] = ids
	}
	o := Options{
		Conf: NewConf(conf), User: "alice",
		CallTimeout: time.Minute, Patience: 15 * time.Second, TryTimeout: 10 * time.Second,
		LookupEnv: func(string) (string, bool) { return "", false },
	}
	if change != nil {
		change(&o)
	}
	c, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// aMove fits to what fakes answer: 40000 lies in 20000.
func aMove() execute.Move {
	return execute.Move{ID: 40000, ParentID: 20000, From: "/flink/a/ö", To: "/user/alice/.Trash/Current/flink/a/ö", Trash: true, Context: "run 7"}
}

func newCall(t testing.TB, m *Mover) execute.Call {
	call, err := m.NewCall(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return call
}
