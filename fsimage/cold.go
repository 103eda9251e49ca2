package fsimage

import (
	"context"
	"errors"
	"io"

	"google.golang.org/protobuf/proto"

	pb "fsweep/proto/fsimage"
)

// The sections that are small, decoded by generated code. A message handed to a
// callback is re-used for the next record; slices of bytes in it are not, the
// callback may keep those.

// decode reads the next message of the section into m.
func (r *records) decode(m proto.Message) error {
	b, err := r.next()
	if err != nil {
		return err
	}
	if err := proto.Unmarshal(b, m); err != nil {
		return r.error(corruptf("%v", err))
	}
	return nil
}

// must is decode where the section may not end.
func (r *records) must(m proto.Message, what string) error {
	err := r.decode(m)
	if errors.Is(err, io.EOF) {
		return r.s.error(r.s.offset, r.s.record, truncatedf("the section ends where %s should be", what))
	}
	return err
}

// end requires that nothing follows.
func (r *records) end() error {
	_, err := r.next()
	if err == nil {
		return r.error(corruptf("the section has more records than it announces"))
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// section calls read with the records of a section and closes them. A section
// that is missing or empty is not read.
func (im *Image) section(ctx context.Context, name string, read func(*records) error) error {
	if s, ok := im.Section(name); !ok || s.Length == 0 {
		return ctx.Err()
	}
	r, err := im.records(ctx, name)
	if err != nil {
		return err
	}
	defer r.close()
	return read(r)
}

// until reads messages to the end of a section.
func until[M any, P interface {
	*M
	proto.Message
}](r *records, fn func(P) error) error {
	m := P(new(M))
	for {
		if err := r.decode(m); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := fn(m); err != nil {
			return r.error(err)
		}
	}
}

// NameSystem reads section NS_INFO.
func (im *Image) NameSystem(ctx context.Context) (*pb.NameSystemSection, error) {
	m := new(pb.NameSystemSection)
	err := im.section(ctx, SectionNameSystem, func(r *records) error {
		if err := r.must(m, "the name system"); err != nil {
			return err
		}
		return r.end()
	})
	return m, err
}

// ErasureCoding reads section ERASURE_CODING, which images of Hadoop 2 lack.
func (im *Image) ErasureCoding(ctx context.Context) (*pb.ErasureCodingSection, error) {
	m := new(pb.ErasureCodingSection)
	err := im.section(ctx, SectionErasureCoding, func(r *records) error {
		if err := r.must(m, "the policies"); err != nil {
			return err
		}
		return r.end()
	})
	return m, err
}

// References reads section INODE_REFERENCE; other sections name its records by
// their position.
func (im *Image) References(ctx context.Context, fn func(*pb.INodeReferenceSection_INodeReference) error) error {
	return im.section(ctx, SectionReference, func(r *records) error { return until(r, fn) })
}

// UnderConstruction reads section FILES_UNDERCONSTRUCTION: the leases.
func (im *Image) UnderConstruction(ctx context.Context, fn func(*pb.FilesUnderConstructionSection_FileUnderConstructionEntry) error) error {
	return im.section(ctx, SectionUnderConstruction, func(r *records) error { return until(r, fn) })
}

// Snapshots reads section SNAPSHOT: its header, and fn for every snapshot.
func (im *Image) Snapshots(ctx context.Context, fn func(*pb.SnapshotSection_Snapshot) error) (*pb.SnapshotSection, error) {
	h := new(pb.SnapshotSection)
	err := im.section(ctx, SectionSnapshot, func(r *records) error {
		if err := r.must(h, "the header"); err != nil {
			return err
		}
		m := new(pb.SnapshotSection_Snapshot)
		for range h.GetNumSnapshots() {
			if err := r.must(m, "a snapshot"); err != nil {
				return err
			}
			if err := fn(m); err != nil {
				return r.error(err)
			}
		}
		return r.end()
	})
	return h, err
}

// Tokens counts the delegation keys and tokens of section SECRET_MANAGER
// without looking at them: an image holds secrets that no report needs.
func (im *Image) Tokens(ctx context.Context) (keys, tokens int64, err error) {
	h := new(pb.SecretManagerSection)
	err = im.section(ctx, SectionSecretManager, func(r *records) error {
		if err := r.must(h, "the header"); err != nil {
			return err
		}
		for range h.GetNumKeys() {
			if err := r.must(new(pb.SecretManagerSection_DelegationKey), "a key"); err != nil {
				return err
			}
		}
		for range h.GetNumTokens() {
			if err := r.must(new(pb.SecretManagerSection_PersistToken), "a token"); err != nil {
				return err
			}
		}
		return r.end()
	})
	return int64(h.GetNumKeys()), int64(h.GetNumTokens()), err
}

// Cache reads section CACHE_MANAGER: the cache pools and directives.
func (im *Image) Cache(ctx context.Context, pool func(*pb.CachePoolInfoProto) error, directive func(*pb.CacheDirectiveInfoProto) error) error {
	return im.section(ctx, SectionCacheManager, func(r *records) error {
		h := new(pb.CacheManagerSection)
		if err := r.must(h, "the header"); err != nil {
			return err
		}
		for range h.GetNumPools() {
			m := new(pb.CachePoolInfoProto)
			if err := r.must(m, "a cache pool"); err != nil {
				return err
			}
			if err := pool(m); err != nil {
				return r.error(err)
			}
		}
		for range h.GetNumDirectives() {
			m := new(pb.CacheDirectiveInfoProto)
			if err := r.must(m, "a cache directive"); err != nil {
				return err
			}
			if err := directive(m); err != nil {
				return r.error(err)
			}
		}
		return r.end()
	})
}
