package hdfs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"fsweep/execute"
	"fsweep/execute/hdfstest/rig"
)

// located waits until the ACTIVE NameNode knows where the blocks of a file are. One that was
// STANDBY may learn of a DataNode only with its next heartbeat.
func (c *realFiles) located(t *testing.T, path string) {
	t.Helper()
	for range 300 {
		_, _, err := c.read(t, "native", c.id(t, path))
		if err == nil || !strings.Contains(err.Error(), "no DataNode has block") {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("no DataNode reported the blocks of %s", path)
}

// TestNameNodeReadsHA: the ACTIVE NameNode is asked, whichever that is, by both protocols.
func TestNameNodeReadsHA(t *testing.T) {
	c := startFiles(t, rig.Options{NameNodes: 2, DataNodes: 1})
	content := someBytes(2<<20 + 11)
	c.Admin().Put(t, "/f", "root", content)
	for range 2 {
		c.located(t, "/f")
		c.check(t, expectation{path: "/f", content: content, native: true, web: true})
		c.Admin().Failover(t)
	}
	// In the middle of a read, too: the DataNode goes on, the checks go to the other one.
	for _, way := range []string{"native", "WebHDFS"} {
		r, err := c.client.ReaderBy(way)
		if err != nil {
			t.Fatal(err)
		}
		c.located(t, "/f")
		err = r.Read(t.Context(), c.id(t, "/f"), func(from io.Reader) error {
			c.Admin().Failover(t)
			got, err := io.ReadAll(from)
			if !bytes.Equal(got, content) {
				t.Errorf("%s: %d bytes", way, len(got))
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", way, err)
		}
	}
	// None is ACTIVE: it ends with the context.
	c.Admin().AllStandby(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	r, err := c.client.Reader()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	err = r.Read(ctx, execute.FileID{Path: "/f", ID: 16386, Length: 1}, func(io.Reader) error { return nil })
	if !errors.Is(err, execute.ErrUnavailable) || time.Since(began) > 4*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}
