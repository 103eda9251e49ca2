// Package namespace rebuilds the directory tree of an fsimage in memory and
// computes for every directory what the NameNode would answer: quota usage and
// content summary, with snapshots, references, erasure coding, open files and
// storage policies.
//
// Directories are columns, indexed by [Dir]. Files are not kept: [Load] streams
// them past once and adds them to their directory, and [Tree.EachINode] streams
// them again for who wants to see each. Only inodes that snapshots, references
// or leases touch are kept whole, because their accounting needs more than one
// record. Memory therefore follows the number of directories, plus about five
// bytes an inode for the map from inode to directory.
//
// A [Tree] does not change after Load; all its methods may be called by many
// goroutines at once.
package namespace
