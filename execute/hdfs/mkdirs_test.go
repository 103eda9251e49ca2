package hdfs

import (
	"errors"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// Making directories is asked for again, with a new id, until there is an answer or time is up.
func TestMkdirsAsksAgain(t *testing.T) {
	t.Parallel()
	nn := newFakeNN(t, Active)
	lose := 2
	nn.on(func(s *seen) *reply {
		if s.method == "mkdirs" && lose > 0 {
			lose--
			return &reply{drop: true}
		}
		return nil
	})
	c := client(t, nil, nn)
	if err := c.Mover().Mkdirs(t.Context(), "/a/b", 0o1700); err != nil {
		t.Fatal(err)
	}
	sent := nn.seen("mkdirs")
	if len(sent) != 3 {
		t.Fatalf("sent %d times", len(sent))
	}
	var q hadoop.MkdirsRequestProto
	nn.unmarshal(sent[2].body, &q)
	if q.GetSrc() != "/a/b" || q.GetMasked().GetPerm() != 0o1700 || !q.GetCreateParent() {
		t.Errorf("request %v", &q)
	}
	nn.on(func(s *seen) *reply {
		if s.method == "mkdirs" {
			return &reply{drop: true}
		}
		return nil
	})
	hasty := client(t, func(o *Options) { o.Patience = time.Second }, nn)
	if err := hasty.Mover().Mkdirs(t.Context(), "/a/b", 0o700); !errors.Is(err, execute.ErrUnknown) {
		t.Errorf("never an answer: %v", err)
	}
	lost := false
	nn.on(func(s *seen) *reply {
		switch {
		case s.method != "mkdirs":
			return nil
		case !lost:
			lost = true
			return &reply{drop: true}
		}
		return failed(s, standbyClass, "x")
	})
	if err := hasty.Mover().Mkdirs(t.Context(), "/a/b", 0o700); !errors.Is(err, execute.ErrUnknown) {
		t.Errorf("no answer, then standby: %v", err)
	}
	nn.on(func(s *seen) *reply {
		if s.method == "mkdirs" {
			return done(s, &hadoop.MkdirsResponseProto{Result: proto.Bool(false)})
		}
		return nil
	})
	var remote *execute.RemoteError
	if err := c.Mover().Mkdirs(t.Context(), "/a/b", 0o700); !errors.As(err, &remote) {
		t.Errorf("false: %v", err)
	}
}
