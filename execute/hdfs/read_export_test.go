package hdfs

import "fsweep/execute"

// ReaderBy is a reader with one of its ways only: native or WebHDFS.
func (c *Client) ReaderBy(name string) (execute.Reader, error) {
	r, err := newFileReader(c, c.opts.Conf, c.user, c.webAuth(), c.opts.RootCAs, c.opts.Dial, readIdle)
	if err != nil {
		return nil, err
	}
	for _, w := range r.ways {
		if w.String() == name {
			r.ways = []way{w}
		}
	}
	return r, nil
}
