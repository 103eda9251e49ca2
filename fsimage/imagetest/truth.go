package imagetest

// Totals counts a subtree; lengths and space in bytes, space with all replicas and
// parity.
type Totals struct {
	Directories   int64 `json:"directories"`
	Files         int64 `json:"files"`
	Symlinks      int64 `json:"symlinks"`
	Length        int64 `json:"length"`
	SpaceConsumed int64 `json:"space_consumed"`
}

// add counts one file.
func (t *Totals) add(length, space int64) {
	t.Files++
	t.Length += length
	t.SpaceConsumed += space
}

func (t *Totals) plus(o Totals) {
	t.Directories += o.Directories
	t.Files += o.Files
	t.Symlinks += o.Symlinks
	t.Length += o.Length
	t.SpaceConsumed += o.SpaceConsumed
}

// Truth is what a NameNode that loads the image would answer.
type Truth struct {
	Inodes int64 `json:"inodes"`
	// Directories counts the inodes of INODE that are directories, dead ones included.
	Directories int64 `json:"directory_inodes"`
	// SnapshotTouched is the number of inodes that have diffs, are in deleted lists
	// or below those, or are referred to.
	SnapshotTouched int64  `json:"snapshot_touched"`
	OpenFiles       int64  `json:"open_files"`
	Totals          Totals `json:"totals"`          // of the live tree
	SnapshotTotals  Totals `json:"snapshot_totals"` // of what only snapshots hold
	// Rows are the root, its directories and every directory with a quota, parents
	// first.
	Rows []TruthRow `json:"rows"`
}

// TruthRow is one directory.
type TruthRow struct {
	Path    string `json:"path"`
	InodeID uint64 `json:"inode_id"`
	Quota   bool   `json:"quota"` // a limit is set here (the root's default is none)

	// Limits as the image stores them, NoQuota if unset; a namespace quota of
	// RootQuota means none, too.
	NSQuota   int64            `json:"ns_quota"`
	DSQuota   int64            `json:"ds_quota"`             // bytes
	TypeQuota map[string]int64 `json:"type_quota,omitempty"` // bytes by storage type, only those set

	// Quota usage, snapshots included.
	NSUsed   int64            `json:"ns_used"`
	DSUsed   int64            `json:"ds_used"`   // bytes
	TypeUsed map[string]int64 `json:"type_used"` // bytes by storage type, all of them

	// Content summary: its figures are the sums of the two.
	Live     Totals `json:"live"`
	Snapshot Totals `json:"snapshot"`
}

// truth rolls the rows up and describes them.
func (a *account) truth() *Truth {
	p := a.plan
	for k := len(a.rows) - 1; k > 0; k-- { // parents come first
		up, r := &a.rows[p.tracked[k].parent], &a.rows[k]
		up.ns += r.ns
		up.ds += r.ds
		for t := range r.types {
			up.types[t] += r.types[t]
		}
		up.live.plus(r.live)
		up.snap.plus(r.snap)
	}
	t := &Truth{
		Inodes: int64(p.n), Directories: int64(len(p.node)), OpenFiles: a.open,
		SnapshotTouched: int64(p.spec.SnapshotCells) * cellInodes,
		Totals:          a.rows[0].live, SnapshotTotals: a.rows[0].snap,
		Rows: make([]TruthRow, len(a.rows)),
	}
	for k := range a.rows {
		t.Rows[k] = a.describe(k)
	}
	return t
}

func (a *account) describe(k int) TruthRow {
	p, r, d := a.plan, &a.rows[k], &a.plan.tracked[k]
	row := TruthRow{
		Path: string(p.appendPath(nil, p.node[d.dir])), InodeID: p.id(p.node[d.dir]),
		Quota: d.quota, NSQuota: d.ns, DSQuota: d.ds,
		NSUsed: r.ns, DSUsed: r.ds, TypeUsed: map[string]int64{},
		Live: r.live, Snapshot: r.snap,
	}
	for t := range storageTypes {
		name := typeAt(t).String()
		row.TypeUsed[name] = r.types[t]
		if q := d.typeQuota[t]; q != NoQuota {
			if row.TypeQuota == nil {
				row.TypeQuota = map[string]int64{}
			}
			row.TypeQuota[name] = q
		}
	}
	return row
}
