package analyze

import (
	"context"
	"sync"

	"fsweep/analyze/namespace"
	"fsweep/fsimage"
	pb "fsweep/proto/fsimage"
)

// Inspection is what an image's frame and sections say, without a tree.
type Inspection struct {
	Source   Source
	Findings []namespace.Finding
	Summary  fsimage.Summary
	System   *pb.NameSystemSection
	Counts   []SectionCount // in the order of the sections
	Policies []*pb.ErasureCodingPolicyProto
}

// SectionCount is how many records of a kind a section holds.
type SectionCount struct {
	Section string
	What    string // snake_case
	N       int64
}

// inspector reads the sections one after the other.
type inspector struct {
	im  *fsimage.Image
	o   Options
	out *Inspection
}

// Inspect reads every section that this version knows.
func Inspect(ctx context.Context, im *fsimage.Image, o Options) (*Inspection, error) {
	i := inspector{im, o, &Inspection{Summary: im.Summary()}}
	for _, read := range []func(context.Context) error{
		i.system, i.erasureCoding, i.inodes, i.directories, i.references, i.leases, i.snapshots, i.diffs, i.tokens, i.cache, i.strings,
	} {
		if err := read(ctx); err != nil {
			return nil, err
		}
	}
	s := i.out.Summary
	i.out.Source = Source{
		Image: o.Image, SizeBytes: im.Size(), Txid: i.out.System.GetTransactionId(), LayoutVersion: s.LayoutVersion,
		NamespaceID: i.out.System.GetNamespaceId(), Codec: s.Codec, VerifiedReason: "not checked",
		ImageTimeMs: i.out.Source.ImageTimeMs, ImageTimeSource: imageTimeSource,
	}
	if f, ok := NameFinding(o.Image, i.out.Source.Txid); ok {
		i.out.Findings = append(i.out.Findings, f)
	}
	return i.out, nil
}

func (i *inspector) count(section, what string, n int64) {
	i.out.Counts = append(i.out.Counts, SectionCount{section, what, n})
}

func (i *inspector) system(ctx context.Context) (err error) {
	i.out.System, err = i.im.NameSystem(ctx)
	return err
}

func (i *inspector) erasureCoding(ctx context.Context) error {
	s, err := i.im.ErasureCoding(ctx)
	if err != nil {
		return err
	}
	i.out.Policies = s.GetPolicies()
	i.count(fsimage.SectionErasureCoding, "erasure_coding_policies", int64(len(i.out.Policies)))
	return nil
}

func (i *inspector) inodes(ctx context.Context) error {
	workers := max(i.o.Workers, 1)
	type sums struct {
		n      fsimage.INode
		byType [4]int64
		newest int64
	}
	all := make([]fsimage.Apart[sums], workers)
	sec, _ := i.im.Section(fsimage.SectionINode)
	before := i.im.BytesRead()
	var mu sync.Mutex
	var done int64
	announced, seen, err := i.im.INodes(ctx, workers, func(w int, b *fsimage.Batch) error {
		s := &all[w].V
		err := b.INodes(&s.n, func(n *fsimage.INode) error {
			s.byType[n.Type&3]++
			s.newest = max(s.newest, int64(n.File.MTimeMs), int64(n.File.ATimeMs), int64(n.Directory.MTimeMs),
				int64(n.Symlink.MTimeMs), int64(n.Symlink.ATimeMs))
			return nil
		})
		if i.o.Progress != nil {
			mu.Lock()
			defer mu.Unlock()
			done += int64(b.Len())
			i.o.Progress(namespace.Progress{Stage: "reading", INodes: done, Bytes: i.im.BytesRead() - before, Total: sec.Length})
		}
		return err
	})
	if err != nil {
		return err
	}
	if announced != seen {
		i.out.Findings = append(i.out.Findings, namespace.CountFinding(announced, seen))
	}
	i.count(fsimage.SectionINode, "inodes_announced", announced)
	i.count(fsimage.SectionINode, "inodes", seen)
	var byType [4]int64
	for w := range all {
		for t, n := range all[w].V.byType {
			byType[t] += n
		}
		i.out.Source.ImageTimeMs = max(i.out.Source.ImageTimeMs, all[w].V.newest)
	}
	i.count(fsimage.SectionINode, "files", byType[fsimage.FileType])
	i.count(fsimage.SectionINode, "directories", byType[fsimage.DirectoryType])
	i.count(fsimage.SectionINode, "symlinks", byType[fsimage.SymlinkType])
	return nil
}

func (i *inspector) directories(ctx context.Context) error {
	var dirs, children, refs int64
	var e fsimage.DirEntry
	err := i.im.Directories(ctx, 1, func(_ int, b *fsimage.Batch) error {
		return b.Directories(&e, func(e *fsimage.DirEntry) error {
			dirs++
			children += int64(len(e.Children))
			refs += int64(len(e.RefChildren))
			return nil
		})
	})
	i.count(fsimage.SectionDirectory, "directories_with_children", dirs)
	i.count(fsimage.SectionDirectory, "children", children)
	i.count(fsimage.SectionDirectory, "reference_children", refs)
	return err
}

func (i *inspector) references(ctx context.Context) error {
	var n int64
	err := i.im.References(ctx, func(*pb.INodeReferenceSection_INodeReference) error { n++; return nil })
	i.count(fsimage.SectionReference, "references", n)
	return err
}

func (i *inspector) leases(ctx context.Context) error {
	var n int64
	err := i.im.UnderConstruction(ctx, func(*pb.FilesUnderConstructionSection_FileUnderConstructionEntry) error { n++; return nil })
	i.count(fsimage.SectionUnderConstruction, "leases", n)
	return err
}

func (i *inspector) snapshots(ctx context.Context) error {
	var n int64
	s, err := i.im.Snapshots(ctx, func(*pb.SnapshotSection_Snapshot) error { n++; return nil })
	i.count(fsimage.SectionSnapshot, "snapshottable_directories", int64(len(s.GetSnapshottableDir())))
	i.count(fsimage.SectionSnapshot, "snapshots", n)
	return err
}

func (i *inspector) diffs(ctx context.Context) error {
	var files, dirs int64
	err := i.im.SnapshotDiffs(ctx, fsimage.Diffs{
		File: func(uint64, *pb.SnapshotDiffSection_FileDiff) error { files++; return nil },
		Directory: func(uint64, *pb.SnapshotDiffSection_DirectoryDiff, [][]byte) error {
			dirs++
			return nil
		},
	})
	i.count(fsimage.SectionSnapshotDiff, "file_diffs", files)
	i.count(fsimage.SectionSnapshotDiff, "directory_diffs", dirs)
	return err
}

func (i *inspector) tokens(ctx context.Context) error {
	keys, tokens, err := i.im.Tokens(ctx)
	i.count(fsimage.SectionSecretManager, "delegation_keys", keys)
	i.count(fsimage.SectionSecretManager, "delegation_tokens", tokens)
	return err
}

func (i *inspector) cache(ctx context.Context) error {
	var pools, directives int64
	err := i.im.Cache(ctx,
		func(*pb.CachePoolInfoProto) error { pools++; return nil },
		func(*pb.CacheDirectiveInfoProto) error { directives++; return nil })
	i.count(fsimage.SectionCacheManager, "cache_pools", pools)
	i.count(fsimage.SectionCacheManager, "cache_directives", directives)
	return err
}

func (i *inspector) strings(ctx context.Context) error {
	t, err := i.im.Strings(ctx)
	if err == nil {
		i.count(fsimage.SectionStringTable, "strings", int64(t.Len()))
	}
	return err
}
