package hdfs

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// Reader gives what reads the files of the cluster. It dials DataNodes and the WebHDFS
// addresses of NameNodes, besides what the Client does.
func (c *Client) Reader() (execute.Reader, error) {
	return newFileReader(c, c.opts.Conf, c.user, c.webAuth(), c.opts.RootCAs, c.opts.Dial, readIdle)
}

// blockLocations asks for the blocks in a listing of the file alone, which leaves its
// access time as it is; getBlockLocations, the usual call, moves it. Whoever may list a file
// need not be allowed to read it, so that is asked first. There are no block tokens in
// the answer.
func (c *Client) blockLocations(ctx context.Context, file execute.Ref) (*hadoop.LocatedBlocksProto, error) {
	read := &hadoop.CheckAccessRequestProto{Path: proto.String(file.Path()), Mode: hadoop.FsActionProto_READ.Enum()}
	if err := c.about(ctx, file, read, &hadoop.CheckAccessResponseProto{}); err != nil {
		return nil, err
	}
	var a hadoop.GetListingResponseProto
	request := &hadoop.GetListingRequestProto{Src: proto.String(file.Path()), StartAfter: []byte{}, NeedLocation: proto.Bool(true)}
	if err := c.about(ctx, file, request, &a); err != nil {
		return nil, err
	}
	if a.DirList == nil {
		return nil, notFound(file)
	}
	list := a.DirList.GetPartialListing()
	if len(list) != 1 || len(list[0].GetPath()) > 0 || list[0].Locations == nil {
		return nil, fmt.Errorf("%w: %s is no file", execute.ErrChanged, file)
	}
	return list[0].Locations, nil
}
