package imagetest

// Inodes are planned as numbers from 0, children of a directory side by side. Their
// ids come from the order of creation, in which several writers take turns, so that
// a directory's ids are runs with gaps, as in a cluster.
const (
	lanes     = 8
	laneChunk = 64
)

func laneSize(n uint32) uint32 {
	return (n + lanes*laneChunk - 1) / (lanes * laneChunk) * laneChunk
}

// idSpan is the number of creation ranks for n inodes, a few of which are empty.
func idSpan(n uint32) uint64 { return uint64(laneSize(n)) * lanes }

// rank returns an inode's place in the order of creation.
func (p *plan) rank(i uint32) uint32 {
	lane, pos := i/p.laneSize, i%p.laneSize
	return pos/laneChunk*(lanes*laneChunk) + lane*laneChunk + pos%laneChunk
}

// inodeAt inverts rank; the result may be no inode at all: compare with p.n.
func (p *plan) inodeAt(rank uint32) uint32 {
	lane := rank / laneChunk % lanes
	pos := rank/(lanes*laneChunk)*laneChunk + rank%laneChunk
	return lane*p.laneSize + pos
}

// id returns an inode's id, ascending with its rank.
func (p *plan) id(i uint32) uint64 {
	if i == 0 {
		return RootID
	}
	r := uint64(p.rank(i))
	id := p.spec.FirstID + (r-1)*p.sparse
	if p.sparse > 1 {
		id += mix(p.spec.Seed^r) % p.sparse
	}
	return id
}

// hashOrder returns all inodes in the order of the NameNode's table: by bucket, the
// newest first in a bucket.
func (p *plan) hashOrder() []uint32 {
	mask := uint64(p.spec.Buckets - 1)
	next := make([]uint32, p.spec.Buckets+1)
	for i := range p.n {
		next[inodeHash(p.id(i))&mask+1]++
	}
	for b := 1; b < len(next); b++ {
		next[b] += next[b-1]
	}
	order := make([]uint32, p.n)
	for r := idSpan(p.n); r > 0; r-- {
		i := p.inodeAt(uint32(r - 1))
		if i >= p.n {
			continue
		}
		b := inodeHash(p.id(i)) & mask
		order[next[b]] = i
		next[b]++
	}
	return order
}

// mix is splitmix64: one well mixed number for each input.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
