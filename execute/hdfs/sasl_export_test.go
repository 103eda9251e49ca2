package hdfs

import "time"

// WithClock gives options whose Kerberos is that much ahead of the time.
func WithClock(o Options, ahead time.Duration) Options {
	o.clock = func() time.Time { return time.Now().Add(ahead) }
	return o
}
