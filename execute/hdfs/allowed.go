package hdfs

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"fsweep/proto/hadoop"
)

// protocol is one that NameNodes speak. A connection belongs to one, which the server's own
// authorization goes by.
type protocol string

// The protocols of which calls are sent. All of the latter two that is permitted is one
// call each that any user may make, and that changes nothing.
const (
	clientProtocol   protocol = "org.apache.hadoop.hdfs.protocol.ClientProtocol"
	namenodeProtocol protocol = "org.apache.hadoop.hdfs.server.protocol.NamenodeProtocol"
	mappingsProtocol protocol = "org.apache.hadoop.tools.GetUserMappingsProtocol"

	protocolVersion = 1 // of all of them
)

// What fsweep may ask a NameNode is listed here and nowhere else. A connection sends
// nothing but values of type permitted, and this file is the only one that makes them.
// The bytes of the request are made here too, so that what was checked is what is sent.
//
// There is no way to delete, create, overwrite, append, truncate or concatenate; to set
// permissions, owners, times, quotas, attributes or policies; nor to touch snapshots, leases or
// the NameNode itself. Not even messages for that are among those that fsweep knows.

// permitted is one call that may be sent.
type permitted struct {
	of      protocol
	method  string
	changes bool // it is one of the two that change something
	body    []byte
	limit   int // bytes of an answer
}

const (
	smallAnswer = 1 << 20
	largeAnswer = maxFrame
)

// look permits calls that change nothing. It refuses all others.
func look(request proto.Message) (permitted, error) {
	p := permitted{of: clientProtocol, limit: smallAnswer}
	switch r := request.(type) {
	case *hadoop.MsyncRequestProto:
		p.method = "msync"
	case *hadoop.GetFileLinkInfoRequestProto: // the status of an object, also of a symbolic link itself
		p.method = "getFileLinkInfo"
	case *hadoop.GetListingRequestProto: // with locations it is what lists DataNodes; it leaves access times alone
		p.method, p.limit = "getListing", largeAnswer
	case *hadoop.GetContentSummaryRequestProto:
		p.method = "getContentSummary"
	case *hadoop.GetXAttrsRequestProto:
		p.method, p.limit = "getXAttrs", largeAnswer
	case *hadoop.IsFileClosedRequestProto:
		p.method = "isFileClosed"
	case *hadoop.GetEZForPathRequestProto:
		p.method = "getEZForPath"
	case *hadoop.GetSnapshottableDirListingRequestProto:
		p.method, p.limit = "getSnapshottableDirListing", largeAnswer
	case *hadoop.GetServerDefaultsRequestProto:
		p.method = "getServerDefaults"
	case *hadoop.CheckAccessRequestProto:
		p.method = "checkAccess"
	case *hadoop.GetDataEncryptionKeyRequestProto: // Routers do not know it; the key is not looked at
		p.method = "getDataEncryptionKey"
	case *hadoop.VersionRequestProto:
		p.of, p.method = namenodeProtocol, "versionRequest"
	case *hadoop.GetGroupsForUserRequestProto:
		p.of, p.method = mappingsProtocol, "getGroupsForUser"
	case *hadoop.SetSafeModeRequestProto:
		if r.GetAction() != hadoop.SafeModeActionProto_SAFEMODE_GET {
			return permitted{}, fmt.Errorf("%w: setSafeMode %v", errRefused, r.GetAction())
		}
		p.method = "setSafeMode"
	default:
		return permitted{}, fmt.Errorf("%w: a request of type %T", errRefused, request)
	}
	return p.with(request)
}

// change permits the two calls that change something: mkdirs, and rename2 that overwrites nothing.
func change(request proto.Message) (permitted, error) {
	p := permitted{of: clientProtocol, limit: smallAnswer, changes: true}
	switch r := request.(type) {
	case *hadoop.MkdirsRequestProto:
		if perm := r.GetMasked().GetPerm(); perm&^permissionBits != 0 {
			return permitted{}, fmt.Errorf("%w: mkdirs with permission %o", errRefused, perm)
		}
		p.method = "mkdirs"
	case *hadoop.Rename2RequestProto:
		if r.OverwriteDest == nil || *r.OverwriteDest {
			return permitted{}, fmt.Errorf("%w: rename2 that overwrites", errRefused)
		}
		if r.MoveToTrash != nil && !*r.MoveToTrash {
			return permitted{}, fmt.Errorf("%w: rename2 with moveToTrash=false, which Hadoop 2 takes as true", errRefused)
		}
		p.method = "rename2"
	default:
		return permitted{}, fmt.Errorf("%w: a request of type %T", errRefused, request)
	}
	return p.with(request)
}

func (p permitted) with(request proto.Message) (permitted, error) {
	if len(request.ProtoReflect().GetUnknown()) > 0 {
		return permitted{}, fmt.Errorf("%w: %s with fields that are not known", errRefused, p.method)
	}
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
	if err != nil {
		return permitted{}, fmt.Errorf("%s: %w", p.method, err)
	}
	p.body = body
	return p, nil
}
