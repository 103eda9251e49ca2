package fsimage

// Limits on what a file may ask for. They bound memory; a real image stays far
// below them.
const (
	defaultMaxRecord = 1 << 30 // a directory of 100 M children fits
	defaultBuffer    = 256 << 10
	maxSummary       = 1 << 20
	maxBlock         = 64 << 20 // one block of a Snappy or LZ4 stream
)

type options struct {
	maxRecord int
	buffer    int
}

// Option changes a limit of [Open].
type Option func(*options)

// WithMaxRecord sets the largest record in bytes that is read (default 1 GiB).
// Memory for a record grows with the bytes that are really there, never with
// the length that the file announces.
func WithMaxRecord(n int) Option { return func(o *options) { o.maxRecord = max(n, 1) } }

// WithBuffer sets the size in bytes of the read buffer of each worker (default
// 256 KiB, which stays in a core's cache). Reading a compressed image takes two
// more.
func WithBuffer(n int) Option { return func(o *options) { o.buffer = max(n, 64) } }
