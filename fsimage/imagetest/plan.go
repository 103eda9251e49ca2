package imagetest

import (
	"math"
	"strconv"
)

// plan is a namespace as columns. Directories are numbered in order of creation,
// parents first; children of one directory have consecutive inode numbers, its
// directories before its files, each group in the order of names.
type plan struct {
	spec     Spec
	n        uint32 // inodes
	sparse   uint64
	laneSize uint32
	used     uint32 // inodes given out

	// By inode.
	link []uint32 // of a directory its number, of others their directory's number
	kind []uint8  // Kind

	// By directory. Until a directory is expanded, first and count hold what its
	// subtree gets: directories and files.
	node   []uint32 // inode
	parent []uint32
	first  []uint32 // inode of the first child
	count  []uint32 // children, those in no listing included
	subs   []uint32 // directories among them
	shape  []shape
	policy []uint8 // effective storage policy
	ec     []uint8 // effective EC policy
	user   []uint16
	track  []uint32 // nearest tracked directory, itself included

	tracked []tracked
	users   uint32
}

// tracked is a directory that the truth has a row for: the root, the directories in
// it, and those with a quota. Parents come before children.
type tracked struct {
	dir    uint32
	parent uint32 // index of the tracked directory above; of the root 0

	ns, ds    int64 // quotas, NoQuota if unset
	typeQuota [storageTypes]int64
	quota     bool
}

func newPlan(spec Spec) *plan {
	n := uint32(spec.Inodes)
	return &plan{
		spec: spec, n: n, sparse: uint64(spec.Sparse), laneSize: laneSize(n),
		link: make([]uint32, n), kind: make([]uint8, n),
		users: min(max(n/5000, 20), 4000),
	}
}

// build plans the whole namespace.
func (p *plan) build() {
	files := uint32(uint64(p.n) * uint64(100-p.spec.DirPercent) / 100)
	files = max(files, uint32(p.spec.SnapshotCells)*cellFiles)
	dirs := p.n - files
	p.growDirs(int(dirs))
	p.used = 1
	p.addDir(0, 0, shapeRoot, dirs-1, files)
	for d := uint32(0); d < uint32(len(p.node)); d++ {
		p.expand(d)
	}
	if p.used != p.n || uint32(len(p.node)) != dirs {
		panic("imagetest: the plan lost inodes: " + strconv.Itoa(int(p.n-p.used)))
	}
}

func (p *plan) growDirs(n int) {
	for _, c := range []*[]uint32{&p.node, &p.parent, &p.first, &p.count, &p.subs, &p.track} {
		*c = make([]uint32, 0, n)
	}
	p.shape = make([]shape, 0, n)
	p.policy, p.ec = make([]uint8, 0, n), make([]uint8, 0, n)
	p.user = make([]uint16, 0, n)
}

// addDir makes inode i a directory whose subtree gets dirs and files.
func (p *plan) addDir(i, parent uint32, s shape, dirs, files uint32) {
	d := uint32(len(p.node))
	p.link[i], p.kind[i] = d, uint8(Directory)
	p.node = append(p.node, i)
	p.parent = append(p.parent, parent)
	p.first, p.count, p.subs = append(p.first, dirs), append(p.count, files), append(p.subs, 0)
	p.shape = append(p.shape, s)
	p.policy, p.ec = append(p.policy, p.policyOf(d, s)), append(p.ec, p.ecOf(d, s))
	p.user = append(p.user, p.userOf(d, s))
	p.track = append(p.track, p.trackOf(d, s, dirs, files))
}

// expand gives a directory its children, and those their subtrees' sizes.
func (p *plan) expand(d uint32) {
	dirs, files := p.first[d], p.count[d]
	f := p.fan(d, dirs, files)
	first := p.used
	p.used += f.dirs + f.files
	p.first[d], p.count[d], p.subs[d] = first, f.dirs+f.files, f.dirs
	forDirs := newShares(dirs-f.dirs-f.fixedDirs, f.dirs, f.dirWeight)
	forFiles := newShares(files-f.files-f.fixedFiles, f.dirs, f.fileWeight)
	for j := range f.dirs {
		nd, nf := forDirs.next(j), forFiles.next(j)
		if f.fixed != nil {
			fd, ff := f.fixed(j)
			nd, nf = nd+fd, nf+ff
		}
		p.addDir(first+j, d, f.shape(j), nd, nf)
	}
	for i := first + f.dirs; i < p.used; i++ {
		p.link[i] = d
		p.kind[i] = uint8(File)
		if p.isSymlink(i, p.shape[d]) {
			p.kind[i] = uint8(Symlink)
		}
	}
}

// shares divides a total among k takers in proportion to their weights, exactly.
type shares struct {
	total, sum, seen, given uint64
	weight                  func(j uint32) uint32
}

func newShares(total, k uint32, weight func(j uint32) uint32) shares {
	s := shares{total: uint64(total), weight: weight}
	for j := range k {
		s.sum += uint64(weight(j))
	}
	if s.sum == 0 && total > 0 {
		panic("imagetest: nobody takes a share")
	}
	return s
}

func (s *shares) next(j uint32) uint32 {
	if s.sum == 0 {
		return 0
	}
	s.seen += uint64(s.weight(j))
	upTo := s.total * s.seen / s.sum
	n := upTo - s.given
	s.given = upTo
	return uint32(n)
}

// zipf are weights with a long tail, in the shape of Zipf's law; a random byte
// chooses one.
var zipf = func() (t [256]uint32) {
	for b := range t {
		t[b] = uint32(16 * math.Pow(256/(float64(b)+0.5), 0.8))
	}
	return t
}()

func flat(uint32) uint32 { return 1 }

// tail returns Zipf-like weights that depend on the directory.
func (p *plan) tail(d uint32, salt uint64) func(uint32) uint32 {
	base := mix(p.spec.Seed ^ uint64(d)<<8 ^ salt)
	return func(j uint32) uint32 { return zipf[mix(base+uint64(j))&0xff] }
}

func isqrt(n uint32) uint32 { return uint32(math.Sqrt(float64(n))) }

// roll is a random number that belongs to an inode and a purpose.
func (p *plan) roll(i uint32, purpose uint64) uint64 {
	return mix(p.spec.Seed<<1 ^ uint64(i)*0x9e3779b1 ^ purpose<<56)
}
