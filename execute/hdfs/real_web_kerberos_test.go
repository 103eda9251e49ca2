package hdfs_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"fsweep/execute"
	"fsweep/execute/hdfs"
	"fsweep/execute/hdfstest/rig"
)

// TestNameNodeKerberosWeb reads files and fetches images where web servers ask for SPNEGO, for
// each protection of the data transfer.
func TestNameNodeKerberosWeb(t *testing.T) {
	for _, protection := range []string{"", "authentication", "integrity", "privacy"} {
		t.Run("data "+protection, func(t *testing.T) {
			c := startFiles(t, rig.Options{DataNodes: 3, Kerberos: &rig.Kerberos{RPCProtection: "privacy", DataProtection: protection, Web: true}})
			// The bytes of a WebHDFS read come in the clear, so over http none is made where all is encrypted.
			web := protection != "privacy"
			content := someBytes(2<<20 + 77)
			a := c.Admin()
			a.Put(t, "/plain/f", "root", content)
			a.PutErasureCoded(t, "/xor/f", content)
			a.Mkdir(t, "/zone", "root", 0o755)
			a.EncryptionZone(t, "/zone")
			a.Put(t, "/zone/f", "root", content)
			for path, refusal := range map[string]string{"/plain/f": "block token", "/xor/f": "block token", "/zone/f": "ciphertext"} {
				c.check(t, expectation{path: path, content: content, web: web, refusal: refusal})
			}
			if !web {
				_, _, err := c.read(t, "", c.id(t, "/plain/f"))
				if err == nil || !strings.Contains(err.Error(), "dfs.http.policy allows http only") {
					t.Error(err)
				}
			}
			// The NameNode makes a token for each read, which goes to the DataNode; nothing else is changed.
			tokens := 0
			for _, e := range c.Mutations(t, "alice") {
				if tokens++; e.Command != "getDelegationToken" {
					t.Errorf("%+v", e)
				}
			}
			if web != (tokens > 0) {
				t.Errorf("%d delegation tokens", tokens)
			}
			secureImages(t, c)
		})
	}
}

// secureImages: an administrator may fetch, and nobody else.
func secureImages(t *testing.T, c *realFiles) {
	c.SaveNamespace(t)
	images := hdfs.NewImages(c.client) // alice's
	servers := images.ImageServers(t.Context())
	if s := servers[0]; s.Err != nil || s.JMX != nil || s.Role != execute.ActiveRole || s.TxID <= 0 {
		t.Fatalf("%+v", s)
	}
	_, err := images.Image(t.Context(), &servers[0])
	if fault, _ := errors.AsType[*execute.ImageError](err); fault == nil || fault.Fault != execute.ImageRefused || !strings.Contains(err.Error(), "administrators") {
		t.Errorf("alice: %v", err)
	}
	admin := c.Client(t, hdfs.Options{Principal: "hdfs/localhost", Keytab: c.ServerKeytab()})
	image, err := hdfs.NewImages(admin).Image(t.Context(), &servers[0])
	if err != nil {
		t.Fatal(err)
	}
	defer image.Body.Close()
	if n, err := io.Copy(io.Discard, image.Body); n != image.Length || image.TxID != servers[0].TxID || err != nil {
		t.Errorf("%+v: %d bytes, %v", image, n, err)
	}
}

// TestNameNodeKerberosWithoutWeb: web servers of a secure cluster that do not ask for SPNEGO give
// nothing to anybody, and the errors say so.
func TestNameNodeKerberosWithoutWeb(t *testing.T) {
	c := startFiles(t, rig.Options{DataNodes: 1, Kerberos: &rig.Kerberos{}})
	c.Admin().Put(t, "/plain/f", "root", []byte("content"))
	_, calls, err := c.read(t, "", c.id(t, "/plain/f"))
	if calls != 0 || !errors.Is(err, execute.ErrUnreadable) || !strings.Contains(err.Error(), "block token") || !strings.Contains(err.Error(), "hadoop.http.authentication.type") {
		t.Errorf("%d calls, %v", calls, err)
	}
	c.SaveNamespace(t)
	images := hdfs.NewImages(c.Client(t, hdfs.Options{Principal: "hdfs/localhost", Keytab: c.ServerKeytab()}))
	server := images.ImageServers(t.Context())[0]
	_, err = images.Image(t.Context(), &server)
	if fault, _ := errors.AsType[*execute.ImageError](err); fault == nil || fault.Fault != execute.ImageRefused || !strings.Contains(err.Error(), "hadoop.http.authentication.type") {
		t.Errorf("%+v, %v", server, err)
	}
}
