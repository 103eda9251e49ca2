package hdfs

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxConfBytes bounds one configuration file. Real ones have a few kilobytes.
const maxConfBytes = 16 << 20

// confFiles are read in this order; later ones win, unless a property is final.
var confFiles = []string{"core-site.xml", "hdfs-site.xml"}

// deprecated maps old names of keys to those of today, as Hadoop does.
var deprecated = map[string]string{
	"fs.default.name":             "fs.defaultFS",
	"dfs.federation.nameservices": "dfs.nameservices",
	"dfs.http.address":            "dfs.namenode.http-address",
	"dfs.https.address":           "dfs.namenode.https-address",
}

// Conf is a Hadoop client configuration: what is written in core-site.xml and
// hdfs-site.xml. It has no defaults of Hadoop's own. It does not change once it is
// made, and may be used by many goroutines.
type Conf struct {
	values map[string]string
	final  map[string]bool
	files  []string
	env    func(string) (string, bool)
}

// LoadConf reads a directory with core-site.xml and hdfs-site.xml; an empty name
// stands for what HADOOP_CONF_DIR names. At least one of the files must be
// there. Includes (xi:include) are refused: what they name would have to be read from
// anywhere.
func LoadConf(dir string) (*Conf, error) { return loadConf(dir, os.LookupEnv) }

func loadConf(dir string, env func(string) (string, bool)) (*Conf, error) {
	if dir == "" {
		dir, _ = env("HADOOP_CONF_DIR")
	}
	if dir == "" {
		return nil, errors.New("no Hadoop configuration: HADOOP_CONF_DIR is not set")
	}
	c := newConf(env)
	for _, name := range confFiles {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
			continue // a link that leads nowhere is no file that is missing
		}
		if err := c.addFile(path); err != nil {
			return nil, err
		}
		c.files = append(c.files, path)
	}
	if len(c.files) == 0 {
		return nil, fmt.Errorf("no Hadoop configuration in %s: neither core-site.xml nor hdfs-site.xml", dir)
	}
	return c, nil
}

// NewConf makes a configuration of values, for programs that have no files.
func NewConf(values map[string]string) *Conf {
	c := newConf(os.LookupEnv)
	for k, v := range values {
		c.set(k, v, false)
	}
	return c
}

func newConf(env func(string) (string, bool)) *Conf {
	return &Conf{values: map[string]string{}, final: map[string]bool{}, env: env}
}

// Files names the files that were read.
func (c *Conf) Files() []string { return append([]string(nil), c.files...) }

func (c *Conf) set(key, value string, final bool) {
	if now, ok := deprecated[key]; ok {
		key = now
	}
	if c.final[key] {
		return
	}
	c.values[key] = value
	c.final[key] = final
}

func (c *Conf) addFile(path string) error {
	fi, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() { // a pipe would wait for whoever writes it
		return fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := &io.LimitedReader{R: f, N: maxConfBytes + 1}
	err = c.addXML(in)
	if in.N == 0 { // what was cut off is no error of the file's
		return fmt.Errorf("%s: larger than %d bytes", path, maxConfBytes)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// charset reads the encodings in which configurations are written by hand.
func charset(label string, in io.Reader) (io.Reader, error) {
	switch strings.ToLower(label) {
	case "utf8", "us-ascii", "ascii":
		return in, nil
	case "iso-8859-1", "latin1":
		return &latin1{in: in}, nil
	}
	return nil, fmt.Errorf("encoding %q is not supported: write it in UTF-8", label)
}

// latin1 turns ISO-8859-1 into UTF-8: each byte is the code point of that number.
type latin1 struct {
	in   io.Reader
	left []byte
}

// Read reads.
func (l *latin1) Read(p []byte) (int, error) {
	if len(l.left) == 0 && len(p) > 0 {
		buf := make([]byte, len(p))
		n, err := l.in.Read(buf)
		for _, b := range buf[:n] {
			l.left = utf8.AppendRune(l.left, rune(b))
		}
		if n == 0 {
			return 0, err
		}
	}
	n := copy(p, l.left)
	l.left = l.left[n:]
	return n, nil
}

// property is one of a file. Hadoop also takes its parts as attributes.
type property struct {
	name, value string
	final       bool
	hasValue    bool
}

// addXML takes all properties of a file, in its order.
func (c *Conf) addXML(r io.Reader) error {
	d := xml.NewDecoder(r)
	d.CharsetReader = charset
	depth, seen := 0, false
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			if !seen {
				return errors.New("no <configuration>")
			}
			return nil
		}
		if err != nil {
			return err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "configuration":
				depth++
				seen = true
			case "property":
				if depth == 0 {
					return atLine(d, "<property> outside of <configuration>")
				}
				p, err := readProperty(d, t)
				if err != nil {
					return err
				}
				if p.name != "" && p.hasValue {
					c.set(p.name, p.value, p.final)
				}
			case "include", "fallback":
				return included(d, t)
			default:
				return atLine(d, fmt.Sprintf("unexpected element %q", t.Name.Local))
			}
		case xml.EndElement:
			depth--
		case xml.CharData:
			if depth > 0 && strings.TrimSpace(string(t)) != "" {
				return atLine(d, "text outside of a property")
			}
		}
	}
}

func included(d *xml.Decoder, t xml.StartElement) error {
	return atLine(d, "<"+t.Name.Local+"> is not supported: give a directory whose files hold everything")
}

func atLine(d *xml.Decoder, text string) error {
	line, _ := d.InputPos()
	return fmt.Errorf("line %d: %s", line, text)
}

// readProperty reads to the end of a property.
func readProperty(d *xml.Decoder, start xml.StartElement) (property, error) {
	var p property
	for _, a := range start.Attr {
		p.take(a.Name.Local, a.Value)
	}
	for {
		tok, err := d.Token()
		if err != nil {
			return p, err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "name", "value", "final":
				text, err := readText(d)
				if err != nil {
					return p, err
				}
				p.take(t.Name.Local, text)
			case "include", "fallback":
				return p, included(d, t)
			default: // a description may have anything in it, markup too
				if err := d.Skip(); err != nil {
					return p, err
				}
			}
		case xml.EndElement:
			return p, nil
		}
	}
}

func (p *property) take(element, text string) {
	switch element {
	case "name":
		p.name = strings.TrimSpace(text)
	case "value":
		p.value, p.hasValue = text, true
	case "final":
		p.final = strings.TrimSpace(text) == "true"
	}
}

// readText reads to the end of an element that has nothing but text.
func readText(d *xml.Decoder) (string, error) {
	var b strings.Builder
	for {
		tok, err := d.Token()
		if err != nil {
			return "", err
		}
		switch t := tok.(type) {
		case xml.CharData:
			b.Write(t)
		case xml.EndElement:
			return b.String(), nil
		case xml.StartElement:
			return "", atLine(d, fmt.Sprintf("unexpected element %q in a property", t.Name.Local))
		}
	}
}
