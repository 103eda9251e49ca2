package namespace

// vec is the sum of what a set of inodes contributes to the figures of a
// directory. All of it wraps around at 64 bits like the NameNode's sums, so the
// order of adding never matters.
type vec struct {
	dirs, files, symlinks int64
	length, space         int64
	// one and all are the parts of length and space of replicated files whose
	// storage policy is that of a directory above: the sum of their lengths, and
	// of length x replication. They turn into types where that directory is.
	one, all int64
	types    TypeSpace // space that is already charged to storage types
	extra    int64     // inodes that only the quota counts
}

func (v *vec) add(o *vec) {
	v.dirs += o.dirs
	v.files += o.files
	v.symlinks += o.symlinks
	v.length += o.length
	v.space += o.space
	v.one += o.one
	v.all += o.all
	for i := range v.types {
		v.types[i] += o.types[i]
	}
	v.extra += o.extra
}

func (v *vec) sub(o *vec) {
	n := o.negated()
	v.add(&n)
}

func (v vec) negated() vec {
	n := vec{
		dirs: -v.dirs, files: -v.files, symlinks: -v.symlinks, length: -v.length, space: -v.space,
		one: -v.one, all: -v.all, extra: -v.extra,
	}
	for i := range v.types {
		n.types[i] = -v.types[i]
	}
	return n
}

// resolve applies a storage policy to what waits for one.
func (v *vec) resolve(policy uint8) {
	if policy == unspecified {
		return
	}
	spread(&v.types, policy, v.one, v.all)
	v.one, v.all = 0, 0
}

func (v *vec) counts() Counts { return Counts{v.dirs, v.files, v.symlinks, v.length, v.space} }

func (v *vec) usage() Usage {
	return Usage{v.dirs + v.files + v.symlinks + v.extra, v.space, v.types}
}
