package imagetest

// file is what the image says about a file of a plan.
type file struct {
	size      uint64 // bytes
	blockSize uint64 // preferred, bytes
	rep       uint8
	policy    uint8 // the file's own storage policy
	ec        uint8
	open      bool
}

const (
	mib = 1 << 20

	blockIDBase = 1 << 30
	// maxBlocks is the room for block ids that each inode has.
	maxBlocks = 16

	genStamp = 1001
)

// now is the time of the youngest inode: 2026-11-01 00:00 UTC, in ms.
const now = 1793491200000

const dayMs = 86_400_000

// file derives a file's attributes from its number alone.
func (p *plan) file(i uint32) file {
	d := p.link[i]
	r := p.roll(i, 11)
	f := file{rep: 3, blockSize: 128 * mib, ec: p.ec[d]}
	ord := i - p.first[d] - p.subs[d]
	switch s := p.shape[d]; s {
	case shapeCell, shapeKept, shapeGone:
		return cellFile(s, ord, r)
	case shapeChk, shapeSavepoint:
		f.size = 1 << (10 + r&7) // mostly _metadata
	case shapeTmp, shapeHome, shapeProject:
		f.size = size(r, 6)
	case shapeDate, shapeApp:
		f.size, f.rep = size(r, 10), 2
	default:
		f.size = size(r, 15)
		if ord == 0 && p.count[d]-p.subs[d] > 1 && s >= shapeWarehouse {
			f.size = 0 // _SUCCESS
		}
	}
	if f.ec != 0 {
		f.rep = 0
	} else if r>>40%1009 == 0 {
		f.policy = [...]uint8{policyCold, policyHot, policyAllSSD, policyWarm}[r>>50&3]
	}
	f.open = r>>20%20011 == 0
	return f
}

// size is 1 KiB to 2^(10+spread) bytes, evenly in its logarithm; one in 64 has up
// to a GiB more.
func size(r uint64, spread uint64) uint64 {
	n := uint64(1) << (10 + r%(spread+1))
	n += r >> 8 & (n - 1)
	if r>>32&63 == 0 {
		n += r >> 34 & (1<<30 - 1)
	}
	return n
}

// ecPolicy is the geometry of an erasure coding policy.
type ecPolicy struct{ data, parity, cell uint64 }

func ecGeometry(id uint8) ecPolicy {
	switch id {
	case 1:
		return ecPolicy{6, 3, mib}
	case 2:
		return ecPolicy{3, 2, mib}
	}
	return ecPolicy{2, 1, mib} // 4
}

// ecName is what a directory's xattr says.
func ecName(id uint8) string {
	switch id {
	case 1:
		return "RS-6-3-1024k"
	case 2:
		return "RS-3-2-1024k"
	}
	return "XOR-2-1-1024k"
}

// blocks calls f with the number and the bytes of each block or block group.
func (f file) blocks(each func(k int, bytes uint64)) {
	full := f.blockSize
	if f.ec != 0 {
		full *= ecGeometry(f.ec).data
	}
	k := 0
	for left := f.size; left > 0 && k < maxBlocks; k++ {
		n := min(left, full)
		each(k, n)
		left -= n
	}
}

// blockID returns the id of an inode's block.
func blockID(i uint32, k int, ec uint8) uint64 {
	id := uint64(blockIDBase) + uint64(i)*maxBlocks + uint64(k)
	if ec != 0 {
		return 1<<63 | id<<4
	}
	return id
}

// times returns modification and access time in ms. Files of a directory are of
// similar age; access times have the NameNode's precision of an hour.
func (p *plan) times(i, d uint32) (mtime, atime uint64) {
	h := p.roll(d, 12)
	age := h % (900 * dayMs)
	mtime = now - age - p.roll(i, 13)%dayMs
	atime = mtime + h>>20%(age+1)
	return mtime, atime - atime%3_600_000
}

// permission packs the owner and group of directory d with a mode.
func (p *plan) permission(d uint32, mode uint64) uint64 {
	u := uint64(p.user[d])
	return (u+1)<<40 | (u%p.groups()+1)<<16 | mode
}

func (p *plan) groups() uint64 { return uint64(p.users)/10 + 1 }

func (p *plan) hasACL(i uint32) bool   { return p.roll(i, 14)%997 == 0 }
func (p *plan) hasXAttr(i uint32) bool { return p.roll(i, 15)%1499 == 0 }

func (p *plan) isSymlink(i uint32, s shape) bool {
	return (s == shapeHome || s == shapeProject) && p.roll(i, 16)%307 == 0
}
