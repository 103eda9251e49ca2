package hdfs

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// Survey is a client that also answers what a person asks before a plan is carried
// out. It has nothing that changes anything.
type Survey struct{ client *Client }

// The ports of a survey, without Mover.
var _ execute.Surveyor = (*Survey)(nil)

// NewSurvey makes one of a client, which goes on to belong to the caller.
func NewSurvey(c *Client) *Survey { return &Survey{c} }

// User implements [execute.Surveyor].
func (s *Survey) User() string { return s.client.User() }

// Access implements [execute.Surveyor].
func (s *Survey) Access(ctx context.Context, ref execute.Ref, want execute.Access) error {
	return s.client.CheckAccess(ctx, ref, Access(want)) // the same bits
}

// NameNodes implements [execute.Surveyor].
func (s *Survey) NameNodes(ctx context.Context) []execute.NameNodeState {
	ctx, cancel := s.client.bound(ctx)
	defer cancel()
	states := s.client.NameNodes(ctx)
	out := make([]execute.NameNodeState, len(states))
	var wg sync.WaitGroup
	for i := range states {
		out[i] = execute.NameNodeState{NameNode: states[i].NameNode}
		switch states[i].State {
		case Active:
			out[i].Role = execute.ActiveRole
		case Standby:
			out[i].Role = execute.StandbyRole
		case Observer:
			out[i].Role = execute.ObserverRole
		case Unreachable, Refusing:
			out[i].Err = states[i].Err
		}
		if states[i].State == Unreachable {
			continue // it would cost the same time once more
		}
		wg.Go(func() { s.software(ctx, &out[i]) })
		wg.Go(func() { out[i].Ahead = s.clock(ctx, out[i].NameNode) })
	}
	wg.Wait()
	return out
}

// software asks a NameNode for its version, and the ids of its namespace. It is a call of
// the protocol that NameNodes speak with each other; where the server does not let
// others in, which it does not with Kerberos and authorization, that stays unknown.
func (s *Survey) software(ctx context.Context, n *execute.NameNodeState) {
	var a hadoop.VersionResponseProto
	if err := s.other(ctx, n.NameNode, namenodeProtocol, &hadoop.VersionRequestProto{}, &a); err != nil {
		return
	}
	info := a.GetInfo()
	n.BlockPoolID = info.GetBlockPoolID()
	n.Version, n.ClusterID, n.NamespaceID = info.GetSoftwareVersion(), info.GetStorageInfo().GetClusterID(), int64(info.GetStorageInfo().GetNamespceID())
}

// Groups implements [execute.Surveyor]. They are those by which the ACTIVE NameNode
// decides, not those of this machine.
func (s *Survey) Groups(ctx context.Context) ([]string, error) {
	ctx, cancel := s.client.bound(ctx)
	defer cancel()
	active, err := s.client.Active(ctx)
	if err != nil {
		return nil, err
	}
	var a hadoop.GetGroupsForUserResponseProto
	if err := s.other(ctx, active, mappingsProtocol, &hadoop.GetGroupsForUserRequestProto{User: proto.String(s.client.User())}, &a); err != nil {
		return nil, err
	}
	return append([]string{}, a.GetGroups()...), nil
}

// other makes one call of another protocol, on a connection of its own.
func (s *Survey) other(ctx context.Context, nn execute.NameNode, of protocol, request, result proto.Message) error {
	ctx, cancel := context.WithTimeout(ctx, s.client.opts.TryTimeout)
	defer cancel()
	conn, err := connect(ctx, s.client.opts.Dial, nn, s.client.auth, s.client.id, of)
	if err != nil {
		return err
	}
	defer conn.close()
	return s.client.ask(ctx, conn, request, result)
}

// clockTimeout is how long a web server may take for a page that is not read.
const clockTimeout = 5 * time.Second

// clock tells how much the clock of a NameNode is ahead: no RPC tells its time, but
// every answer of its web server does, to the second, also one that refuses. nil if
// the configuration has no address of it or there is no answer.
func (s *Survey) clock(ctx context.Context, nn execute.NameNode) *time.Duration {
	address := s.web(nn)
	if address == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, clockTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, address, http.NoBody)
	if err != nil {
		return nil
	}
	client := &http.Client{
		Transport:     &http.Transport{DialContext: s.client.opts.Dial, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	sent := time.Now()
	response, err := client.Do(request)
	if err != nil {
		return nil
	}
	_ = response.Body.Close() // of HEAD there is none
	middle := sent.Add(time.Since(sent) / 2)
	at, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		return nil
	}
	// The header drops what is below a second; half of one is the best guess.
	ahead := at.Add(time.Second / 2).Sub(middle)
	if ahead.Abs() <= time.Second {
		ahead = 0
	}
	return &ahead
}

// web gives the URL of the web server of a NameNode; "" if it is not configured.
func (s *Survey) web(nn execute.NameNode) string {
	suffixes := []string{""}
	if nn.Nameservice != "" {
		suffixes = []string{"." + nn.Nameservice, ""}
	}
	if nn.ID != "" {
		suffixes = []string{"." + nn.Nameservice + "." + nn.ID}
	}
	for _, scheme := range []string{"http", "https"} {
		for _, suffix := range suffixes {
			v, err := s.client.opts.Conf.Get("dfs.namenode." + scheme + "-address" + suffix)
			host, port, bad := net.SplitHostPort(v)
			if err != nil || bad != nil {
				continue
			}
			if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
				host, _, _ = net.SplitHostPort(nn.Address) // it listens everywhere
			}
			u := url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port), Path: "/"}
			return u.String()
		}
	}
	return ""
}
