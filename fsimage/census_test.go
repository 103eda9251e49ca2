package fsimage

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"fsweep/fsimage/imagetest"
	pb "fsweep/proto/fsimage"
)

// census is what an image holds: how many records of each kind, and a sum over
// their contents that does not depend on the order of batches.
type census struct {
	announced, inodes, files, directories, symlinks, blocks int64
	acls, xattrs, typeQuotas, open, striped                 int64
	entries, children, refChildren                          int64
	strings, policies, references, leases                   int64
	snapshots, fileDiffs, dirDiffs, created, deleted        int64
	keys, tokens, pools, directives                         int64

	content uint64
	last    uint64 // content of the record before; makes the order count
}

// sectionReaders say how each section is read.
var sectionReaders = map[string]func(c *census, ctx context.Context, im *Image, workers int) error{
	SectionNameSystem: func(_ *census, ctx context.Context, im *Image, _ int) error {
		_, err := im.NameSystem(ctx) // not in the census: it differs between re-saves
		return err
	},
	SectionINode:             (*census).readINodes,
	SectionDirectory:         (*census).readDirectories,
	SectionStringTable:       (*census).readStrings,
	SectionErasureCoding:     (*census).readErasureCoding,
	SectionReference:         (*census).readReferences,
	SectionUnderConstruction: (*census).readLeases,
	SectionSnapshot:          (*census).readSnapshots,
	SectionSnapshotDiff:      (*census).readDiffs,
	SectionSecretManager:     (*census).readTokens,
	SectionCacheManager:      (*census).readCaches,
}

// takeCensus reads every section of an image, in the order of their names.
func takeCensus(ctx context.Context, im *Image, workers int) (census, error) {
	var c census
	for _, name := range slices.Sorted(maps.Keys(sectionReaders)) {
		if err := sectionReaders[name](&c, ctx, im, workers); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c *census) readINodes(ctx context.Context, im *Image, workers int) (err error) {
	parts := make([]census, max(workers, 1))
	inodes := make([]INode, len(parts))
	c.announced, c.inodes, err = im.INodes(ctx, workers, func(w int, b *Batch) error {
		i := uint64(b.First)
		return b.INodes(&inodes[w], func(n *INode) error {
			parts[w].inode(n, i)
			i++
			return nil
		})
	})
	for i := range parts {
		c.add(&parts[i])
	}
	return err
}

func (c *census) inode(n *INode, record uint64) {
	h := fnv.New64a()
	put := func(vs ...uint64) {
		var b [8]byte
		for _, v := range vs {
			binary.LittleEndian.PutUint64(b[:], v)
			h.Write(b[:])
		}
	}
	put(record, uint64(n.Type), n.ID, uint64(len(n.Name)))
	h.Write(n.Name)
	f, d, s := &n.File, &n.Directory, &n.Symlink
	put(uint64(f.Replication), f.MTimeMs, f.ATimeMs, f.PreferredBlockSize, uint64(f.Permission), uint64(f.StoragePolicy), uint64(f.ECPolicy))
	put(d.MTimeMs, uint64(d.NSQuota), uint64(d.DSQuota), uint64(d.Permission), uint64(s.Permission), s.MTimeMs, s.ATimeMs)
	h.Write(f.UC.ClientName)
	h.Write(f.UC.ClientMachine)
	h.Write(s.Target)
	for _, b := range f.Blocks {
		put(b.ID, b.GenStamp, b.NumBytes)
	}
	for _, acl := range [][]uint32{f.ACL, d.ACL} {
		for _, e := range acl {
			put(uint64(e))
		}
	}
	for _, xs := range [][]XAttr{f.XAttrs, d.XAttrs} {
		for _, x := range xs {
			put(uint64(x.Name), uint64(len(x.Value)))
			h.Write(x.Value)
		}
	}
	for _, q := range d.TypeQuotas {
		put(uint64(q.Type), q.Quota)
	}
	c.content += h.Sum64()
	c.count(n)
}

func (c *census) count(n *INode) {
	switch n.Type {
	case FileType:
		c.files++
	case DirectoryType:
		c.directories++
	case SymlinkType:
		c.symlinks++
	}
	c.blocks += int64(len(n.File.Blocks))
	c.acls += int64(min(1, len(n.File.ACL)+len(n.Directory.ACL)))
	c.xattrs += int64(min(1, len(n.File.XAttrs)+len(n.Directory.XAttrs)))
	c.typeQuotas += int64(min(1, len(n.Directory.TypeQuotas)))
	if n.File.UnderConstruction {
		c.open++
	}
	if n.File.Striped {
		c.striped++
	}
}

func (c *census) readDirectories(ctx context.Context, im *Image, workers int) error {
	parts := make([]census, max(workers, 1))
	entries := make([]DirEntry, len(parts))
	err := im.Directories(ctx, workers, func(w int, b *Batch) error {
		i := uint64(b.First)
		p := &parts[w]
		return b.Directories(&entries[w], func(e *DirEntry) error {
			x := mix(i, e.Parent)
			for _, id := range e.Children {
				x = mix(x, id)
			}
			for _, r := range e.RefChildren {
				x = mix(x, uint64(r)|1<<40)
			}
			p.content += x
			p.entries++
			p.children += int64(len(e.Children))
			p.refChildren += int64(len(e.RefChildren))
			i++
			return nil
		})
	})
	for i := range parts {
		c.add(&parts[i])
	}
	return err
}

// mix is one step of splitmix64 over both numbers.
func mix(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 ^ b
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	return (x ^ x>>27) * 0x94d049bb133111eb
}

func (c *census) add(o *census) {
	c.files += o.files
	c.directories += o.directories
	c.symlinks += o.symlinks
	c.blocks += o.blocks
	c.acls += o.acls
	c.xattrs += o.xattrs
	c.typeQuotas += o.typeQuotas
	c.open += o.open
	c.striped += o.striped
	c.entries += o.entries
	c.children += o.children
	c.refChildren += o.refChildren
	c.content += o.content
}

// message takes a decoded message of a small section into content.
func (c *census) message(m proto.Message) {
	b, err := proto.MarshalOptions{Deterministic: true, AllowPartial: true}.Marshal(m)
	if err != nil {
		panic(err) // proto2 strings are not checked
	}
	h := fnv.New64a()
	h.Write(b)
	c.last = mix(c.last, h.Sum64())
	c.content += c.last
}

func (c *census) readStrings(ctx context.Context, im *Image, _ int) error {
	s, err := im.Strings(ctx)
	if err != nil {
		return err
	}
	c.strings = int64(s.Len())
	for k, v := range s.byKey {
		h := fnv.New64a()
		h.Write([]byte(v))
		c.content += mix(uint64(k)<<32|uint64(s.maskBits), h.Sum64())
	}
	return nil
}

func (c *census) readErasureCoding(ctx context.Context, im *Image, _ int) error {
	ec, err := im.ErasureCoding(ctx)
	c.policies = int64(len(ec.GetPolicies()))
	c.message(ec)
	return err
}

func (c *census) readReferences(ctx context.Context, im *Image, _ int) error {
	return im.References(ctx, func(r *pb.INodeReferenceSection_INodeReference) error {
		c.references++
		c.message(r)
		return nil
	})
}

func (c *census) readLeases(ctx context.Context, im *Image, _ int) error {
	return im.UnderConstruction(ctx, func(e *pb.FilesUnderConstructionSection_FileUnderConstructionEntry) error {
		c.leases++
		c.message(e)
		return nil
	})
}

func (c *census) readSnapshots(ctx context.Context, im *Image, _ int) error {
	h, err := im.Snapshots(ctx, func(s *pb.SnapshotSection_Snapshot) error {
		c.snapshots++
		c.message(s)
		return nil
	})
	c.message(h)
	return err
}

func (c *census) readDiffs(ctx context.Context, im *Image, _ int) error {
	return im.SnapshotDiffs(ctx, Diffs{
		File: func(id uint64, d *pb.SnapshotDiffSection_FileDiff) error {
			c.fileDiffs++
			c.last = mix(c.last, id)
			c.message(d)
			return nil
		},
		Directory: func(id uint64, d *pb.SnapshotDiffSection_DirectoryDiff, created [][]byte) error {
			c.dirDiffs++
			c.created += int64(len(created))
			c.deleted += int64(len(d.GetDeletedINode()) + len(d.GetDeletedINodeRef()))
			c.last = mix(c.last, id)
			c.message(d)
			for _, n := range created {
				h := fnv.New64a()
				h.Write(n)
				c.last = mix(c.last, h.Sum64())
			}
			c.content += c.last
			return nil
		},
	})
}

func (c *census) readTokens(ctx context.Context, im *Image, _ int) (err error) {
	c.keys, c.tokens, err = im.Tokens(ctx)
	return err
}

func (c *census) readCaches(ctx context.Context, im *Image, _ int) error {
	return im.Cache(ctx, func(p *pb.CachePoolInfoProto) error {
		c.pools++
		c.message(p)
		return nil
	}, func(d *pb.CacheDirectiveInfoProto) error {
		c.directives++
		c.message(d)
		return nil
	})
}

// addSmallDiffs gives smallTree's snapshot what it holds.
func addSmallDiffs(t *imagetest.Tree, d, kept, gone *imagetest.Node) {
	moved := t.FileIn(nil, "moved", 9)
	withName := t.WithName(moved, "old", 1)
	t.DstReference(t.Dir("/data"), moved, imagetest.SnapshotCurrent)
	t.Diff(d, &pb.SnapshotDiffSection_DirectoryDiff{
		SnapshotId: proto.Uint32(1), ChildrenSize: proto.Uint32(3), IsSnapshotRoot: proto.Bool(true),
		CreatedListSize: proto.Uint32(1), DeletedINode: []uint64{gone.ID}, DeletedINodeRef: []uint32{withName},
	}, &pb.SnapshotDiffSection_CreatedListEntry{Name: []byte("new")})
	t.Diff(kept, &pb.SnapshotDiffSection_FileDiff{SnapshotId: proto.Uint32(1), FileSize: proto.Uint64(4), SnapshotCopy: t.FileCopy(kept)})
}
