package cmd_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOnlyNameNodes runs the probe of fsweep-exec under strace: it connects to the
// NameNode of its configuration, or to that one's web server, and to nobody else.
func TestOnlyNameNodes(t *testing.T) {
	t.Parallel()
	needStrace(t)
	bin := filepath.Join(t.TempDir(), "fsweep-exec")
	run(t, "go", "build", "-o", bin, "./cmd/fsweep-exec")
	ports := map[string]bool{}
	closing := func() string { // accepts, and hangs up
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				c.Close()
			}
		}()
		ports[fmt.Sprint(l.Addr().(*net.TCPAddr).Port)] = true
		return l.Addr().String()
	}
	conf := t.TempDir()
	site := fmt.Sprintf(`<configuration>
<property><name>fs.defaultFS</name><value>hdfs://%s</value></property>
<property><name>dfs.namenode.http-address</name><value>%s</value></property>
</configuration>`, closing(), closing())
	if err := os.WriteFile(filepath.Join(conf, "core-site.xml"), []byte(site), 0o600); err != nil {
		t.Fatal(err)
	}
	answer := filepath.Join(t.TempDir(), "answer")
	_, calls, err := straced(t, "env", "HADOOP_USER_NAME=flink", bin, "probe", "--conf", conf, "--timeout", "1s", "-o", answer)
	if err == nil || !strings.Contains(err.Error(), "no_active_namenode") {
		t.Fatalf("nobody answers, and the probe says %v", err)
	}
	connects := 0
	for _, c := range calls {
		if !strings.Contains(c, " connect(") {
			continue
		}
		connects++
		m := regexp.MustCompile(`sin_port=htons\((\d+)\)`).FindStringSubmatch(c)
		if m == nil || !ports[m[1]] || !strings.Contains(c, `inet_addr("127.0.0.1")`) {
			t.Errorf("connects elsewhere: %s", c)
		}
	}
	if connects == 0 {
		t.Errorf("no connection was seen in %d calls", len(calls))
	}
}
