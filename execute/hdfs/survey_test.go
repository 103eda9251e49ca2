package hdfs

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"fsweep/execute"
)

func surveyOf(t *testing.T, values map[string]string) *Survey {
	t.Helper()
	c, err := Open(Options{Conf: NewConf(values), User: "flink", LookupEnv: func(string) (string, bool) { return "", false }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return NewSurvey(c)
}

// TestWebAddress: whose clock is looked at, by the configuration.
func TestWebAddress(t *testing.T) {
	t.Parallel()
	ha := map[string]string{
		"fs.defaultFS": "hdfs://ns1", "dfs.nameservices": "ns1", "dfs.ha.namenodes.ns1": "nn1,nn2",
		"dfs.namenode.rpc-address.ns1.nn1": "a:8020", "dfs.namenode.rpc-address.ns1.nn2": "b:8020",
		"dfs.namenode.http-address.ns1.nn1": "a:9870", "dfs.namenode.https-address.ns1.nn2": "b:9871",
		"dfs.namenode.http-address": "wrong:1", "dfs.namenode.http-address.ns1": "wrong:2",
	}
	one := func(values ...string) map[string]string {
		m := map[string]string{"fs.defaultFS": "hdfs://h:8020"}
		for i := 0; i < len(values); i += 2 {
			m[values[i]] = values[i+1]
		}
		return m
	}
	nn := execute.NameNode{Address: "h:8020"}
	for _, c := range []struct {
		conf map[string]string
		nn   execute.NameNode
		want string
	}{
		{ha, execute.NameNode{Nameservice: "ns1", ID: "nn1", Address: "a:8020"}, "http://a:9870/"},
		{ha, execute.NameNode{Nameservice: "ns1", ID: "nn2", Address: "b:8020"}, "https://b:9871/"},
		{one(), nn, ""},
		{one("dfs.namenode.http-address", "w:9870"), nn, "http://w:9870/"},
		{one("dfs.namenode.http-address", "0.0.0.0:9870"), nn, "http://h:9870/"},
		{one("dfs.namenode.http-address", "[::]:9870"), nn, "http://h:9870/"},
		{one("dfs.namenode.http-address", "no port"), nn, ""},
		{one("dfs.namenode.https-address", "w:9871"), nn, "https://w:9871/"},
		{
			one("fs.defaultFS", "hdfs://ns2", "dfs.nameservices", "ns2", "dfs.namenode.rpc-address.ns2", "h:8020", "dfs.namenode.http-address.ns2", "w:1"),
			execute.NameNode{Nameservice: "ns2", Address: "h:8020"},
			"http://w:1/",
		},
	} {
		if got := surveyOf(t, c.conf).web(c.nn); got != c.want {
			t.Errorf("%v %+v: %q, want %q", c.conf, c.nn, got, c.want)
		}
	}
}

// TestClock: the Date header of any answer tells, one that refuses as well; no answer,
// or one without a time, tells nothing, and redirections are not followed.
func TestClock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ahead  time.Duration
		header func(time.Time) string
		status int
		known  bool
	}{
		"the same":      {0, format, 200, true},
		"an hour ahead": {time.Hour, format, 401, true},
		"a day behind":  {-24 * time.Hour, format, 404, true},
		"redirected":    {time.Hour, format, 302, true},
		"no time":       {0, func(time.Time) string { return "yesterday" }, 200, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				if r.Method != http.MethodHead {
					t.Errorf("method %s", r.Method)
				}
				w.Header().Set("Date", c.header(time.Now().Add(c.ahead)))
				w.Header().Set("Location", "/more")
				w.WriteHeader(c.status)
			}))
			defer server.Close()
			s := surveyOf(t, map[string]string{"fs.defaultFS": "hdfs://h:8020", "dfs.namenode.http-address": server.Listener.Addr().String()})
			got := s.clock(t.Context(), execute.NameNode{Address: "h:8020"})
			switch {
			case (got != nil) != c.known || asked != 1:
				t.Errorf("got %v after %d requests", got, asked)
			case got != nil && (*got-c.ahead).Abs() > 2*time.Second:
				t.Errorf("%s ahead, want %s", *got, c.ahead)
			case got != nil && c.ahead == 0 && *got != 0:
				t.Errorf("the same clock is %s ahead", *got)
			}
		})
	}
}

func format(at time.Time) string { return at.UTC().Format(http.TimeFormat) }

// TestClockSilent: a server that does not answer costs a few seconds at most.
func TestClockSilent(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := surveyOf(t, map[string]string{"fs.defaultFS": "hdfs://h:8020", "dfs.namenode.http-address": l.Addr().String()})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if got := s.clock(ctx, execute.NameNode{Address: "h:8020"}); got != nil {
		t.Errorf("got %s", *got)
	}
}
