package hdfs

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"fsweep/execute"
	"fsweep/proto/hadoop"
)

// fileNameNode is what readers ask of the client: where files are. Only the ACTIVE
// NameNode answers.
type fileNameNode interface {
	execute.Inspector
	// blockLocations gives all blocks of a file that the user may read, as the NameNode
	// told them.
	blockLocations(ctx context.Context, file execute.Ref) (*hadoop.LocatedBlocksProto, error)
}

const (
	// readIdle is how long a DataNode may be silent: dfs.client.socket-timeout's default.
	readIdle = 60 * time.Second
	// readAhead is how much of a file is read before it is passed on. A failure in it
	// can still be made good by another way of reading. Most `_metadata` are smaller.
	readAhead = 1 << 20
)

// fileReader is the [execute.Reader] of a cluster. It asks which file it is, where its
// blocks are, has the first of its ways that can read it do so, and asks again.
type fileReader struct {
	nameNode   fileNameNode
	protection transferProtection // by configuration alone
	tokens     bool               // the cluster has Kerberos, and with it block tokens
	ways       []way
}

// way is one way to read files.
type way interface {
	String() string
	// open starts to read a file from its first byte. An error that is ErrUnreadable
	// says that it cannot read such a file. The stream ends with io.EOF where the file
	// does; whether that is where it should, the caller checks.
	open(ctx context.Context, f *foundFile) (io.ReadCloser, error)
}

// foundFile is a file that is to be read, and what the cluster says of it.
type foundFile struct {
	execute.FileID
	status     *execute.Status
	blocks     *hadoop.LocatedBlocksProto // checked: they cover the file
	protection transferProtection
	tokens     bool // DataNodes want block tokens
}

// newFileReader makes the reader of a client, which dials DataNodes and WebHDFS by dial.
// Both are given up when they are silent for idle.
func newFileReader(nn fileNameNode, conf *Conf, user string, auth httpAuth, roots *x509.CertPool, dial dialFunc, idle time.Duration) (*fileReader, error) {
	protection, err := configuredProtection(conf)
	if err != nil {
		return nil, err
	}
	tokens, err := conf.Secure() // no NameNode starts with Kerberos and without block tokens
	if err != nil {
		return nil, err
	}
	dial = watched(dial, idle)
	native, err := newNativeWay(conf, user, dial)
	if err != nil {
		return nil, err
	}
	web := &webHDFSWay{nameNode: nn, conf: conf, web: newWebClient(auth, roots, dial)}
	return &fileReader{nameNode: nn, protection: protection, tokens: tokens, ways: []way{native, web}}, nil
}

// Read implements [execute.Reader].
func (r *fileReader) Read(ctx context.Context, file execute.FileID, use func(io.Reader) error) error {
	status, err := r.check(ctx, file)
	if err != nil {
		return err
	}
	err = r.read(ctx, file, status, use)
	if err != nil && ctx.Err() != nil {
		return err
	}
	// What use made of bytes of a file that was changing is worth nothing: both are said.
	_, changed := r.check(ctx, file)
	switch {
	case changed == nil:
		return err
	case err == nil || errors.Is(err, execute.ErrUnreadable):
		return changed
	}
	return fmt.Errorf("%w (and reading: %w)", changed, err)
}

// check asks whether a file is the one that is meant, and closed.
func (r *fileReader) check(ctx context.Context, file execute.FileID) (*execute.Status, error) {
	ref := execute.ByID(file.ID)
	status, err := r.nameNode.Stat(ctx, ref)
	if err != nil {
		return nil, err
	}
	changed := func(format string, args ...any) error {
		return fmt.Errorf("%w: inode %d (%q) %s", execute.ErrChanged, file.ID, file.Path, fmt.Sprintf(format, args...))
	}
	switch {
	case status.Kind != execute.File:
		return nil, changed("is no file")
	case status.Length != file.Length:
		return nil, changed("has %d bytes, not %d", status.Length, file.Length)
	case status.MTimeMs != file.MTimeMs:
		return nil, changed("was modified at %d ms, not at %d ms", status.MTimeMs, file.MTimeMs)
	}
	closed, err := r.nameNode.Closed(ctx, ref)
	if err != nil {
		return nil, err
	}
	if !closed {
		return nil, changed("is under construction")
	}
	return status, nil
}

// read passes the bytes on, from the first way that gives some.
func (r *fileReader) read(ctx context.Context, file execute.FileID, status *execute.Status, use func(io.Reader) error) error {
	found, err := r.find(ctx, file, status)
	if err != nil {
		return err
	}
	if file.Length == 0 { // No DataNode has anything of it.
		return use(newExactReader(ctx, eof{}, 0))
	}
	reasons := make([]error, 0, len(r.ways))
	for _, w := range r.ways {
		stream, err := start(ctx, w, found)
		if err == nil {
			defer stream.close()
			return stream.pass(use)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		reasons = append(reasons, fmt.Errorf("%s: %w", w, err))
	}
	return &unreadableError{file: file, reasons: reasons}
}

// find asks where a file is and how DataNodes are to be talked to.
func (r *fileReader) find(ctx context.Context, file execute.FileID, status *execute.Status) (*foundFile, error) {
	blocks, err := r.nameNode.blockLocations(ctx, execute.ByID(file.ID))
	if err != nil {
		return nil, err
	}
	if err := checkBlocks(file, blocks); err != nil {
		return nil, err
	}
	f := &foundFile{FileID: file, status: status, blocks: blocks, protection: r.protection, tokens: r.tokens}
	defaults, err := r.nameNode.Defaults(ctx)
	if err != nil {
		return nil, err
	}
	if defaults.EncryptTransfer {
		f.protection = privateTransfer
	}
	return f, nil
}

// unreadableError is an ErrUnreadable with what kept each way from reading.
type unreadableError struct {
	file    execute.FileID
	reasons []error
}

// Error gives all reasons.
func (e *unreadableError) Error() string {
	return fmt.Sprintf("inode %d (%q): %v: %v", e.file.ID, e.file.Path, execute.ErrUnreadable, oneLine(e.reasons))
}

// Unwrap gives the reasons, too.
func (e *unreadableError) Unwrap() []error {
	return append([]error{execute.ErrUnreadable}, e.reasons...)
}

// oneLine is errors.Join without line breaks.
func oneLine(errs []error) string {
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

// transferProtection is what DataNodes ask of who talks to them, in rising order.
type transferProtection uint8

const (
	openTransfer transferProtection = iota
	authenticTransfer
	integralTransfer
	privateTransfer
)

func (p transferProtection) String() string {
	return [...]string{"none", "authentication", "integrity", "privacy"}[p]
}

// eof is an empty file.
type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }
