package hdfs

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"fsweep/execute"
)

// webServer is where a NameNode answers HTTP.
type webServer struct{ scheme, address string }

// url is what asks something about an inode.
func (s webServer) url(operation string, id uint64) *url.URL {
	return &url.URL{Scheme: s.scheme, Host: s.address, Path: "/webhdfs/v1" + execute.ByID(id).Path(), RawQuery: "op=" + operation}
}

// httpServer finds where a NameNode answers WebHDFS.
func httpServer(conf *Conf, nn execute.NameNode) (webServer, error) {
	enabled, err := conf.Bool("dfs.webhdfs.enabled", true)
	if err != nil {
		return webServer{}, err
	}
	if !enabled {
		return webServer{}, fmt.Errorf("%w: dfs.webhdfs.enabled is false", execute.ErrUnreadable)
	}
	return webServerOf(conf, nn)
}

// webServerOf finds it in the configuration. Where that names none, it is Hadoop 3's
// default port on the host of the RPC address.
func webServerOf(conf *Conf, nn execute.NameNode) (webServer, error) {
	policy, err := conf.Get("dfs.http.policy")
	if err != nil {
		return webServer{}, err
	}
	switch strings.ToUpper(policy) {
	case "", "HTTP_ONLY":
		return webAddress(conf, nn, "http", "dfs.namenode.http-address", "9870")
	case "HTTPS_ONLY", "HTTP_AND_HTTPS":
		return webAddress(conf, nn, "https", "dfs.namenode.https-address", "9871")
	}
	return webServer{}, fmt.Errorf("%w: dfs.http.policy is %q", execute.ErrUnreadable, policy)
}

// webAddress finds the address of one NameNode. A host that means "on all interfaces" is
// that of the RPC address.
func webAddress(conf *Conf, nn execute.NameNode, scheme, key, port string) (webServer, error) {
	host, _, err := net.SplitHostPort(nn.Address)
	if err != nil {
		return webServer{}, fmt.Errorf("address of the NameNode: %w", err)
	}
	address, err := ownKey(conf, key, nn)
	if err != nil {
		return webServer{}, err
	}
	if address != "" {
		var given string
		if given, port, err = net.SplitHostPort(address); err != nil {
			return webServer{}, fmt.Errorf("%w: %s is %q", execute.ErrUnreadable, key, address)
		}
		if ip := net.ParseIP(given); given != "" && (ip == nil || !ip.IsUnspecified()) {
			host = given
		}
	}
	return webServer{scheme: scheme, address: net.JoinHostPort(host, port)}, nil
}

// ownKey gives a NameNode's own value of a key: with nameservice and NameNode, if it has
// them, so that no other one is asked.
func ownKey(conf *Conf, key string, nn execute.NameNode) (string, error) {
	parts := slices.DeleteFunc([]string{key, nn.Nameservice, nn.ID}, func(part string) bool { return part == "" })
	value, err := conf.Get(strings.Join(parts, "."))
	if value == "" && err == nil && nn.ID == "" {
		value, err = conf.Get(key)
	}
	return value, err
}
