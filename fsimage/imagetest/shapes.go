package imagetest

import pb "fsweep/proto/fsimage"

// shape says what a directory of a plan is for: who is in it, how its children are
// called and how large files are.
type shape uint8

const (
	shapeRoot shape = iota
	shapeArchive
	shapeCold
	shapeEC
	shapeData
	shapeFlink
	shapeCheckpoints
	shapeJob
	shapeRun
	shapeChk
	shapeShared
	shapeTaskowned
	shapeSavepoints
	shapeSavepoint
	shapeLogs
	shapeApp
	shapeDate
	shapeSnap
	shapeCell
	shapeKept
	shapeGone
	shapeMoved
	shapeTmp
	shapeUser
	shapeHome
	shapeTrash
	shapeProject
	shapeWarehouse
	shapeDatabase
	shapeTable
	shapeDay
	shapeHour
	shapeBucket
)

// top are the directories in the root, by name, with their shares of all
// directories and files; the snapshot area gets what its cells need.
type topDir struct {
	name        string
	shape       shape
	dirs, files uint32
}

func (p *plan) top() []topDir {
	t := []topDir{
		{"archive", shapeArchive, 6, 6},
		{"data", shapeData, 8, 8},
		{"flink", shapeFlink, 12 * uint32(p.spec.Flink), 10 * uint32(p.spec.Flink)},
		{"logs", shapeLogs, 12, 18},
		{"snap", shapeSnap, 0, 0},
		{"tmp", shapeTmp, 4, 4},
		{"user", shapeUser, 18, 14},
		{"warehouse", shapeWarehouse, 40, 40},
	}
	if p.spec.RunInodes > 0 {
		const fine = 1000
		for i := range t {
			t[i].dirs *= fine
		}
		x := flinkDirs(p.spec)
		t[2].dirs = uint32(otherDirs * fine * x / (1 - x))
	}
	if p.spec.SnapshotCells == 0 {
		t = append(t[:4], t[5:]...)
	}
	return t
}

// What all but Flink's trees have of directories and files in top, and the directories of
// a run with Spec.RunInodes, itself included.
const (
	otherDirs  = 88
	otherFiles = 90
	runDirs    = 5
)

// flinkDirs is the share that Flink's trees have of all directories with Spec.RunInodes.
func flinkDirs(s Spec) float64 {
	files := 10 * float64(s.Flink)
	files *= float64(100-s.DirPercent) / (otherFiles + files)
	return files * runDirs / float64(s.RunInodes-runDirs) / float64(s.DirPercent)
}

// fanout is what an expanded directory holds itself and how the rest of its
// subtree is divided among its directories.
type fanout struct {
	dirs, files           uint32
	shape                 func(j uint32) shape
	dirWeight, fileWeight func(j uint32) uint32
	// fixed parts of a subtree, on top of the shares
	fixed                 func(j uint32) (dirs, files uint32)
	fixedDirs, fixedFiles uint32
}

// fan decides about a directory whose subtree gets dirs and files.
func (p *plan) fan(d, dirs, files uint32) fanout {
	s := p.shape[d]
	switch s {
	case shapeRoot:
		return p.fanRoot()
	case shapeSnap, shapeCell, shapeMoved:
		return p.fanSnapshots(s)
	case shapeRun:
		return fanRun(dirs, files)
	}
	k, child := p.children(d, s, dirs)
	k = min(k, dirs)
	f := fanout{
		dirs: k, shape: func(uint32) shape { return child },
		dirWeight: flat, fileWeight: p.tail(d, 1),
	}
	switch s {
	case shapeProject, shapeDatabase, shapeWarehouse, shapeApp:
		f.dirWeight = p.tail(d, 2)
	case shapeArchive:
		f.shape = func(j uint32) shape { return shapeCold + shape(min(j, 1)) }
		f.fileWeight = flat
	case shapeFlink:
		f.shape = func(j uint32) shape { return []shape{shapeCheckpoints, shapeSavepoints}[min(j, 1)] }
		f.dirWeight = func(j uint32) uint32 { return 4 - 3*min(j, 1) }
		f.fileWeight = f.dirWeight
	case shapeHome:
		f.shape = func(j uint32) shape {
			if j == 0 {
				return shapeTrash
			}
			return shapeProject
		}
	}
	f.files = ownFiles(s, k, files)
	return f
}

// ownFiles is how many files lie in the directory itself.
func ownFiles(s shape, k, files uint32) uint32 {
	if k == 0 {
		return files
	}
	switch s {
	case shapeHome, shapeProject:
		return files / 4
	case shapeTmp:
		return files / 2
	}
	return 0
}

// children is the number of directories in one, and their shape.
func (p *plan) children(d uint32, s shape, dirs uint32) (uint32, shape) {
	switch s {
	case shapeArchive:
		return 2, shapeCold
	case shapeFlink:
		return 2, shapeCheckpoints
	case shapeCold, shapeEC, shapeLogs:
		return max(isqrt(dirs), 1), shapeApp
	case shapeData:
		return max(isqrt(dirs)/2, 1), shapeProject
	case shapeCheckpoints:
		if p.spec.RunInodes > 0 {
			return min(max(dirs/(100*runDirs), 1), 3000), shapeJob
		}
		return min(max(dirs/40, 1), 3000), shapeJob
	case shapeJob:
		if p.spec.RunInodes > 0 {
			return min(max(dirs/runDirs, 1), 20_000), shapeRun
		}
		return min(max(dirs/6, 1), 20_000), shapeRun
	case shapeSavepoints:
		return 20_000, shapeSavepoint
	case shapeApp:
		return 3000, shapeDate
	case shapeTmp:
		return max(isqrt(dirs), 1), shapeProject
	case shapeUser:
		return min(max(dirs/60, 1), 4000), shapeHome
	case shapeHome:
		return 3 + uint32(p.roll(d, 1)%8), shapeProject
	case shapeTrash:
		return 3, shapeProject
	case shapeProject:
		return 2 + uint32(p.roll(d, 1)%10), shapeProject
	case shapeWarehouse:
		return min(max(isqrt(dirs)/4, 1), 300), shapeDatabase
	case shapeDatabase:
		return min(max(isqrt(dirs), 1), 2000), shapeTable
	case shapeTable:
		if dirs >= 50 && p.roll(d, 1)%3 == 0 {
			return min(dirs/25, 4000), shapeDay // days of hours
		}
		return 4000, shapeDay
	case shapeDay:
		return 24, shapeHour
	}
	return 1000, shapeBucket
}

func (p *plan) fanRoot() fanout {
	top := p.top()
	cells := uint32(p.spec.SnapshotCells)
	f := fanout{
		dirs:       uint32(len(top)),
		shape:      func(j uint32) shape { return top[j].shape },
		dirWeight:  func(j uint32) uint32 { return top[j].dirs },
		fileWeight: func(j uint32) uint32 { return top[j].files },
		fixed: func(j uint32) (uint32, uint32) {
			if top[j].shape == shapeSnap {
				return cells*cellDirs + 1, cells * cellFiles
			}
			return 0, 0
		},
	}
	if cells > 0 {
		f.fixedDirs, f.fixedFiles = cells*cellDirs+1, cells*cellFiles
	}
	return f
}

// fanRun gives a run chk-N directories, shared and taskowned; most bytes are in
// shared. With less than three directories there are only checkpoints.
func fanRun(dirs, files uint32) fanout {
	k := min(dirs, 32)
	f := fanout{dirs: k, dirWeight: flat, shape: func(j uint32) shape {
		switch {
		case k < 3 || j < k-2:
			return shapeChk
		case j == k-2:
			return shapeShared
		}
		return shapeTaskowned
	}}
	f.fileWeight = func(j uint32) uint32 {
		switch f.shape(j) {
		case shapeShared:
			return 4 * k
		case shapeTaskowned:
			return 1
		}
		return 4
	}
	if k == 0 {
		f.files = files
	}
	return f
}

// Storage policies and their storage types in order of replicas; the last is repeated.
const (
	policyCold   = 2
	policyWarm   = 5
	policyHot    = 7
	policyOneSSD = 10
	policyAllSSD = 12
)

func policyTypes(policy uint8) []pb.StorageTypeProto {
	switch policy {
	case policyCold:
		return []pb.StorageTypeProto{pb.StorageTypeProto_ARCHIVE}
	case policyWarm:
		return []pb.StorageTypeProto{pb.StorageTypeProto_DISK, pb.StorageTypeProto_ARCHIVE}
	case policyHot:
		return []pb.StorageTypeProto{pb.StorageTypeProto_DISK}
	case policyOneSSD:
		return []pb.StorageTypeProto{pb.StorageTypeProto_SSD, pb.StorageTypeProto_DISK}
	case policyAllSSD:
		return []pb.StorageTypeProto{pb.StorageTypeProto_SSD}
	}
	return nil
}

// ownPolicy is the storage policy set on the directory itself, 0 for none.
func (p *plan) ownPolicy(d uint32, s shape) uint8 {
	switch s {
	case shapeCold:
		return policyCold
	case shapeFlink:
		return policyHot
	case shapeDatabase:
		return []uint8{policyAllSSD, policyWarm, policyOneSSD, policyHot, 0, 0}[p.roll(d, 3)%6]
	}
	return 0
}

// ownEC is the erasure coding policy set on the directory itself, 0 for none.
func (p *plan) ownEC(d uint32, s shape) uint8 {
	switch {
	case s == shapeEC:
		return 1
	case s == shapeApp && p.ec[p.parent[d]] != 0 && p.roll(d, 4)%3 == 0:
		return []uint8{2, 4}[p.roll(d, 5)%2]
	}
	return 0
}

func (p *plan) policyOf(d uint32, s shape) uint8 {
	if own := p.ownPolicy(d, s); own != 0 || d == 0 {
		return own
	}
	return p.policy[p.parent[d]]
}

func (p *plan) ecOf(d uint32, s shape) uint8 {
	if d == 0 {
		return 0
	}
	if own := p.ownEC(d, s); own != 0 {
		return own
	}
	return p.ec[p.parent[d]]
}

// userOf: homes and databases have their own, the rest is inherited.
func (p *plan) userOf(d uint32, s shape) uint16 {
	switch {
	case d == 0:
		return 0
	case s == shapeHome, s == shapeDatabase, s == shapeApp, s == shapeJob:
		return uint16(1 + p.roll(d, 6)%uint64(p.users-1))
	}
	return p.user[p.parent[d]]
}

// maxTracked bounds the rows of the truth.
const maxTracked = 20_000

// trackOf decides on quotas and returns the tracked directory for d.
func (p *plan) trackOf(d uint32, s shape, dirs, files uint32) uint32 {
	above := uint32(0)
	if d > 0 {
		above = p.track[p.parent[d]]
	}
	t := tracked{dir: d, parent: above, ns: NoQuota, ds: NoQuota}
	for i := range t.typeQuota {
		t.typeQuota[i] = NoQuota
	}
	if len(p.tracked) < maxTracked {
		p.setQuota(&t, s, int64(dirs)+int64(files)+1, int64(files))
	}
	if !t.quota && d > 0 && p.parent[d] != 0 {
		return above
	}
	p.tracked = append(p.tracked, t)
	return uint32(len(p.tracked) - 1)
}

// setQuota gives limits around the use that is to be expected.
func (p *plan) setQuota(t *tracked, s shape, inodes, files int64) {
	const fileSpace = 40 << 20
	files = max(files, 1) // no limit of 0: clients show one of a storage type as unset
	r := p.roll(t.dir, 7)
	switch s {
	case shapeRoot:
		t.ns = RootQuota
		return
	case shapeHome:
		t.ns = max(1, inodes*int64(70+r%90)/100)
		t.ds = files * fileSpace
	case shapeDatabase:
		t.ds = files * 2 * fileSpace
		t.typeQuota[typeIndex(pb.StorageTypeProto_SSD)] = files * fileSpace
	case shapeFlink:
		t.ns = inodes + inodes/10
		t.ds = files * fileSpace
	case shapeJob:
		if r%4 != 0 {
			return
		}
		t.ns = inodes + int64(r>>8%20)
	case shapeArchive: // only a type quota: the NameNode then stores this
		t.ns = RootQuota
		t.typeQuota[typeIndex(pb.StorageTypeProto_ARCHIVE)] = files * fileSpace
		t.typeQuota[typeIndex(pb.StorageTypeProto_DISK)] = 1 << 40
	case shapeCell:
		if r%4 != 0 {
			return
		}
		t.ns, t.ds = 2*cellInodes, 1<<40
	default:
		return
	}
	t.quota = true
}
