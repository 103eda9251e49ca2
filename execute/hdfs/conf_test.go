package hdfs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// env gives an environment of pairs.
func env(pairs ...string) func(string) (string, bool) {
	return func(k string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == k {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func writeConf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLoadConf(t *testing.T) {
	t.Parallel()
	dir := writeConf(t, map[string]string{
		"core-site.xml": `<?xml version="1.0"?>
<?xml-stylesheet type="text/xsl" href="configuration.xsl"?>
<!-- a comment with <property> in it -->
<configuration>
  <property>
    <name> fs.default.name </name>
    <value>
      hdfs://old
    </value>
    <description>text with <![CDATA[<b>]]> &amp; more</description>
  </property>
  <property><name>both</name><value>core</value></property>
  <property><name>sealed</name><value>core</value><final>true</final></property>
  <property name="attributes" value="yes" final="true"/>
  <property><name>no.value</name></property>
  <property><name>empty</name><value></value></property>
  <property><value>nameless</value></property>
  <configuration><property><name>nested</name><value>&lt;x&gt;</value></property></configuration>
</configuration>`,
		"hdfs-site.xml": `<configuration xmlns:xi="http://www.w3.org/2001/XInclude">
<property><name>both</name><value>first</value></property>
<property><name>both</name><value>hdfs</value></property>
<property><name>sealed</name><value>hdfs</value></property>
<property><name>attributes</name><value>no</value></property>
<property><name>list</name><value> a, b ,,c</value></property>
<property><name>on</name><value> TRUE </value></property>
</configuration>`,
	})
	c, err := loadConf("", env("HADOOP_CONF_DIR", dir))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"fs.defaultFS": "hdfs://old", "both": "hdfs", "sealed": "core", "attributes": "yes", "no.value": "", "empty": "", "nested": "<x>", "absent": "",
	} {
		if got, err := c.Get(key); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", key, got, err, want)
		}
	}
	if list, err := c.List("list"); err != nil || !slices.Equal(list, []string{"a", "b", "c"}) {
		t.Errorf("list %q, %v", list, err)
	}
	if on, err := c.Bool("on", false); err != nil || !on {
		t.Errorf("on: %v, %v", on, err)
	}
	if on, err := c.Bool("absent", true); err != nil || !on {
		t.Errorf("absent: %v, %v", on, err)
	}
	if _, err := c.Bool("both", true); err == nil {
		t.Error("a word for a truth value")
	}
	if want := []string{filepath.Join(dir, "core-site.xml"), filepath.Join(dir, "hdfs-site.xml")}; !slices.Equal(c.Files(), want) {
		t.Errorf("files %q", c.Files())
	}
}

func TestConfThatIsRefused(t *testing.T) {
	t.Parallel()
	wrap := func(s string) string { return "<configuration>" + s + "</configuration>" }
	for name, tc := range map[string]struct{ text, want string }{
		"include":          {wrap("\n<xi:include href=\"x.xml\" xmlns:xi=\"http://www.w3.org/2001/XInclude\"/>"), "line 2: <include> is not supported"},
		"cut off":          {"<configuration><property>", "unexpected EOF"},
		"empty":            {"", "no <configuration>"},
		"no XML":           {"fs.defaultFS: hdfs://x", "no <configuration>"},
		"other element":    {wrap("<propety/>"), `unexpected element "propety"`},
		"outside":          {"<property><name>a</name><value>b</value></property>", "outside of <configuration>"},
		"element in value": {wrap("<property><name>a</name><value><b/></value></property>"), `unexpected element "b"`},
		"entity":           {`<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>` + wrap("<property><name>a</name><value>&e;</value></property>"), "entity"},
		"loose text":       {wrap("hello"), "text outside"},
		"include inside":   {wrap("<property><name>a</name><include href=\"x\"/></property>"), "<include> is not supported"},
		"encoding":         {`<?xml version="1.0" encoding="Shift_JIS"?>` + wrap(""), `encoding "Shift_JIS" is not supported`},
	} {
		_, err := loadConf(writeConf(t, map[string]string{"core-site.xml": tc.text}), env())
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "core-site.xml") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]string{t.TempDir(): "neither", "": "HADOOP_CONF_DIR"} {
		if _, err := loadConf(name, env()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	huge := wrap(strings.Repeat(" ", maxConfBytes))
	if _, err := loadConf(writeConf(t, map[string]string{"hdfs-site.xml": huge}), env()); err == nil || !strings.Contains(err.Error(), "larger than 16777216 bytes") {
		t.Errorf("a huge file: %v", err)
	}
}

// What is there and is no file must not count as absent, nor be waited for.
func TestConfThatIsNoFile(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		make func(path string) error
		want string
	}{
		"pipe":      {func(p string) error { return syscall.Mkfifo(p, 0o600) }, "not a regular file"},
		"directory": {func(p string) error { return os.Mkdir(p, 0o700) }, "not a regular file"},
		"device":    {func(p string) error { return os.Symlink("/dev/zero", p) }, "not a regular file"},
		"link":      {func(p string) error { return os.Symlink("nowhere", p) }, "no such file"},
	} {
		dir := writeConf(t, map[string]string{"hdfs-site.xml": "<configuration/>"})
		if err := tc.make(filepath.Join(dir, "core-site.xml")); err != nil {
			t.Fatal(err)
		}
		if _, err := loadConf(dir, env()); err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "core-site.xml") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Hadoop takes these files, so that a client must.
func TestConfByHand(t *testing.T) {
	t.Parallel()
	const body = `<configuration><property><name>k</name><value>M%sller</value><description>an <b>old <i>one</i></b></description></property></configuration>`
	for name, tc := range map[string]struct{ head, letter string }{
		"UTF-8":        {`<?xml version="1.0" encoding="UTF-8"?>`, "ü"},
		"its old name": {`<?xml version="1.0" encoding="utf8"?>`, "ü"},
		"ISO-8859-1":   {`<?xml version="1.0" encoding="ISO-8859-1"?>`, "\xfc"},
		"mark":         {"\ufeff", "ü"},
	} {
		text := strings.Replace(body, "%s", tc.letter, 1) + strings.Repeat("\n<!-- "+tc.letter+" -->", 5000) // more than a buffer
		c, err := loadConf(writeConf(t, map[string]string{"core-site.xml": tc.head + text}), env())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if v, err := c.Get("k"); err != nil || v != "Müller" {
			t.Errorf("%s: %q, %v", name, v, err)
		}
	}
}

// The rules of Hadoop's Configuration, by hand.
func TestVariables(t *testing.T) {
	t.Parallel()
	c := newConf(env("HOST", "h1", "NONE", ""))
	for k, v := range map[string]string{
		"host": "nn", "port": "8020", "address": "${host}:${port}", "deep": "${address}/x", "other": "x",
		"env": "${env.HOST}", "env.absent": "${env.ABSENT}", "env.default": "${env.ABSENT-d}", "env.empty": "[${env.NONE-d}]", "env.colon": "${env.NONE:-d}",
		"env.wins": "${env.HOST:-d}", "env.dashes": "${env.ABSENT:-a-b:c}",
		"unknown": "a${nope}b", "self": "${self}", "circle": "${circle2}", "circle2": "${circle}", "twice": "${host}${host}",
		"inner": "${ho${x}", "x": "st}", "half": "${ho${y}", "y": "st", "not": "${with space} $ {} ${}", "old": "${fs.default.name}", "fs.defaultFS": "hdfs://ns",
	} {
		c.set(k, v, false)
	}
	for i := range 25 {
		c.set("v"+string(rune('0'+i)), "${v"+string(rune('0'+i+1))+"}", false)
	}
	c.set("long", "${v0}", false)
	for key, want := range map[string]string{
		"address": "nn:8020", "deep": "nn:8020/x", "env": "h1", "env.default": "d", "env.empty": "[]", "env.colon": "d", "env.wins": "h1", "env.dashes": "a-b:c",
		"not": "${with space} $ {} ${}", "old": "hdfs://ns", "inner": "nn", "half": "${host",
	} {
		if got, err := c.Get(key); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", key, got, err, want)
		}
	}
	for _, key := range []string{"env.absent", "unknown", "self", "circle", "twice", "long"} {
		if got, err := c.Get(key); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %q, %v", key, got, err)
		}
	}
}
