package hdfs

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// FuzzAnswer reads bytes as what a NameNode sends. Nothing may panic; what is taken for an answer
// must have all that is required, and nothing before or behind it.
func FuzzAnswer(f *testing.F) {
	call := &seen{header: &hadoop.RpcRequestHeaderProto{CallId: proto.Int32(7), ClientId: make([]byte, 16)}}
	f.Add(done(call, &hadoop.GetFileLinkInfoResponseProto{Fs: directory(20000)}).raw)
	f.Add(done(call, &hadoop.GetListingResponseProto{DirList: &hadoop.DirectoryListingProto{
		PartialListing: []*hadoop.HdfsFileStatusProto{directory(20000), directory(20001)}, RemainingEntries: proto.Uint32(1),
	}}).raw)
	f.Add(failed(call, accessClass, "x").raw)
	for _, r := range hostile(call) {
		f.Add(r.raw)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		frame, err := readFrame(bytes.NewReader(in), maxFrame)
		if err != nil {
			return
		}
		if len(frame) == 0 || len(frame) > len(in)-4 {
			t.Fatalf("frame of %d bytes out of %d", len(frame), len(in))
		}
		a, err := parseAnswer(frame)
		if err != nil {
			return
		}
		if a.header.CallId == nil || a.header.Status == nil {
			t.Fatalf("header %v", a.header)
		}
		if a.header.GetStatus() != hadoop.RpcResponseHeaderProto_SUCCESS {
			remote := remoteError("x", execute.NameNode{}, a.header)
			if len(remote.Message) > 4*maxMessage {
				t.Fatalf("message of %d bytes", len(remote.Message))
			}
			return
		}
		var status hadoop.GetFileLinkInfoResponseProto
		if a.decode(&status) == nil && status.Fs != nil {
			if s, err := toStatus(status.Fs); err == nil && (s.ID == 0 || s.Kind == 0 || s.Length < 0 || s.Children < 0 || s.Permission > 0o1777) {
				t.Fatalf("status %+v", s)
			}
		}
		var list hadoop.GetListingResponseProto
		if a.decode(&list) == nil && list.DirList != nil && list.DirList.RemainingEntries == nil {
			t.Fatal("a listing without what is required")
		}
	})
}
