package execute

import (
	"context"
	"fmt"
	"io"
	"time"
)

// ImageServers gives the images that the NameNodes of one nameservice keep: their saved
// namespaces, as files. No call changes anything.
type ImageServers interface {
	// ImageServers asks each NameNode, standbys too, at the same time, and gives them in
	// the order of their ids. One that does not tell has an Err; that is no error of the
	// call.
	ImageServers(ctx context.Context) []ImageServer

	// Saved asks one NameNode again which image is its newest and when it was saved. The
	// transaction is that of this moment; the time can be one of up to
	// [SavedDelay] ago, and then that of the image before.
	Saved(ctx context.Context, server *ImageServer) (txid, savedMs int64, err error)

	// Image asks a NameNode for its newest image. The caller reads the body and closes
	// it; that it has Length bytes with that MD5 the caller checks. The errors are
	// [*ImageError], or that of ctx.
	Image(ctx context.Context, server *ImageServer) (*Image, error)
}

// SavedDelay is how long a NameNode repeats a time that it told before: what its JMX
// says of metrics is remembered for 10 seconds, unless its hadoop-metrics2.properties
// have another period. A second is for clocks.
const SavedDelay = 11 * time.Second

// NoImage is the transaction of a NameNode that does not tell which image it has.
const NoImage = -1

// ImageServer is what one NameNode says before it is asked for its image.
type ImageServer struct {
	NameNode
	URL         string // scheme://host:port of its web server
	Role        Role
	ClusterID   string // "" if it is not told
	BlockPoolID string // names the namespace in a federation; "" if it is not told
	TxID        int64  // the last transaction in its newest image, or NoImage
	// Err is why this NameNode cannot be asked for an image.
	Err error
	// JMX is why it did not tell TxID and ids; nil if it did.
	JMX error
}

// Image is one that a NameNode is about to send.
type Image struct {
	Name   string // fsimage_ and 19 digits
	TxID   int64  // the digits
	Length int64  // bytes, at least 1
	MD5    [16]byte
	Body   io.ReadCloser
}

// ImageFault says what kept a NameNode from giving its image.
type ImageFault uint8

// The faults. Those from ImageGone on may be gone a moment later.
const (
	ImageRefused    ImageFault = iota + 1 // 401, 403: the user may not have it
	ImageNotServed                        // 404: there is no such page
	ImageRedirected                       // it names another address, which is not followed
	ImageUntrusted                        // its certificate was not accepted
	ImageUnclear                          // an answer that makes no sense
	ImageUnverified                       // it tells no MD5
	ImageEmpty                            // only the image of a namespace that was just formatted
	ImageGone                             // 410: the image was replaced, or cannot be found
	ImageFailed                           // 5xx
	ImageNoAnswer                         // no connection, or it broke
	ImageDamaged                          // what came does not have the MD5 that was told
)

// Again tells whether it is worth asking again a little later.
func (f ImageFault) Again() bool { return f >= ImageGone }

// ImageError is why a NameNode gave no image.
type ImageError struct {
	NameNode NameNode
	URL      string // of its web server
	Fault    ImageFault
	Text     string // what it answered or what is wrong, for people; quoted where it is the NameNode's
	Err      error  // the cause, if there is one
}

// Error names the NameNode.
func (e *ImageError) Error() string {
	text := e.Text
	switch {
	case text == "" && e.Err != nil:
		text = e.Err.Error()
	case e.Err != nil:
		text = fmt.Sprintf("%s: %v", text, e.Err)
	}
	return e.NameNode.Label() + " (" + e.URL + "): " + text
}

// Unwrap gives the cause.
func (e *ImageError) Unwrap() error { return e.Err }

// Label is how messages call a NameNode: its id, or its address.
func (n NameNode) Label() string {
	if n.ID != "" {
		return n.ID
	}
	return n.Address
}
