package main

import (
	"strings"
	"testing"

	"fsweep/execute"
	"fsweep/execute/hdfs"
)

// TestSameNameservice: policy and flag must mean the same one, and the message has the
// words of the policy.
func TestSameNameservice(t *testing.T) {
	t.Parallel()
	one := cluster{ns: hdfs.Nameservice{NameNodes: []execute.NameNode{{Address: "nn.test:8020"}}}, uri: "hdfs://nn.test:8020"}
	pair := cluster{ns: hdfs.Nameservice{Name: "ns1", HA: true, NameNodes: []execute.NameNode{{Address: "nn.test:8020"}, {Address: "nn2.test:8020"}}}, uri: "hdfs://ns1"}
	for _, c := range []struct {
		is     *cluster
		wanted string
		same   bool
	}{
		{&one, "", true},
		{&one, "nn.test", true},
		{&one, "NN.test:8020", true},
		{&one, "nn.test:9000", false},
		{&one, "ns1", false},
		{&pair, "ns1", true},
		{&pair, "ns2", false},
		{&pair, "nn.test:8020", false},
	} {
		err := c.is.same(c.wanted, "the policy")
		if (err == nil) != c.same {
			t.Errorf("%s and %q: %v", c.is.uri, c.wanted, err)
		}
		if err != nil && !strings.Contains(err.Error(), `the policy is for nameservice "`+c.wanted+`", and this is `+c.is.uri) {
			t.Errorf("%q: %v", c.wanted, err)
		}
	}
}
