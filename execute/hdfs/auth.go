package hdfs

import (
	"context"
	"io"

	"fsweep/execute"
)

// authentication tells a NameNode who the user is. It is the place for Kerberos: SASL
// talks before the first call (frames with call id -33) and then may wrap all that
// follows, for integrity or privacy.
type authentication interface {
	// mechanism is the byte in the preamble of a connection.
	mechanism() byte
	// open does what there is to do on a fresh connection, after the preamble, within ctx
	// (deadlines of the stream are set), and gives the stream for all frames from now
	// on, the connection context included. Its Write must give the length of what it got
	// as soon as all of it may have left the process, and less if that is impossible.
	open(ctx context.Context, nn execute.NameNode, stream io.ReadWriter) (io.ReadWriter, error)
	// user is the name to put into the connection context.
	user() string
}

// Bytes of the preamble.
const (
	authSimple = 0
	rpcVersion = 9
)

// simple is authentication by saying a name.
type simple struct{ name string }

func (simple) mechanism() byte { return authSimple }
func (s simple) user() string  { return s.name }

func (simple) open(_ context.Context, _ execute.NameNode, stream io.ReadWriter) (io.ReadWriter, error) {
	return stream, nil
}
