package namespace

import "maps"

// FileTotals sums files.
type FileTotals struct {
	Files, Length, Space int64 // number, bytes, bytes on disk
}

func (t *FileTotals) add(o FileTotals) {
	t.Files += o.Files
	t.Length += o.Length
	t.Space += o.Space
}

// PolicyTotals sums the live files by the name of the storage policy in force
// for them; the empty name is unspecified. Policies without files are absent.
func (t *Tree) PolicyTotals() map[string]FileTotals { return maps.Clone(t.policyTotals) }

// ownPolicyKey is where a file with a storage policy of its own is counted; such
// files are rare.
type ownPolicyKey struct {
	dir     Dir
	policy  uint8
	striped bool
}

// stripedFiles has the sums of erasure coded files without a policy of their own
// by directory. Pieces of the column exist only where such files are.
type stripedFiles struct {
	chunks map[Dir]*[1 << columnBits]FileTotals
}

func (s *stripedFiles) at(d Dir) *FileTotals {
	if s.chunks == nil {
		s.chunks = map[Dir]*[1 << columnBits]FileTotals{}
	}
	c := s.chunks[d>>columnBits]
	if c == nil {
		c = new([1 << columnBits]FileTotals)
		s.chunks[d>>columnBits] = c
	}
	return &c[d&(1<<columnBits-1)]
}

// sumPolicies sums the live files by policy. Which one a directory hands down is
// known only when all directories were read, so the files of a directory could
// not be sorted while they passed: all are counted under the policy of their
// directory, and then those are moved for which another is in force. It must run
// after properties were handed down and while the sums of directories are those
// of their own files alone.
func (l *loader) sumPolicies() {
	var totals [len(storagePolicies)]FileTotals
	for d := range Dir(l.numDirs) {
		if s := l.sums.at(d); s.files > 0 && l.Live(d) {
			totals[l.attr.at(d).effective].add(FileTotals{int64(s.files), s.length, s.space})
		}
	}
	move := func(d Dir, to uint8, t FileTotals) {
		if from := l.attr.at(d).effective; l.Live(d) && from != to {
			totals[to].add(t)
			totals[from].add(FileTotals{-t.Files, -t.Length, -t.Space})
		}
	}
	for k, t := range l.ownPolicy {
		to := k.policy
		if k.striped && !stripedPolicy(to) {
			to = unspecified
		}
		move(k.dir, to, *t)
	}
	for base, chunk := range l.striped.chunks {
		for i, t := range chunk {
			if d := base<<columnBits + Dir(i); t.Files > 0 && !stripedPolicy(l.attr.at(d).effective) {
				move(d, unspecified, t)
			}
		}
	}
	l.policyTotals = map[string]FileTotals{}
	for id, t := range totals {
		if t.Files != 0 {
			name := policyName(uint8(id))
			t.add(l.policyTotals[name])
			l.policyTotals[name] = t
		}
	}
}

func addOwnPolicy(m map[ownPolicyKey]*FileTotals, d Dir, f *file, t FileTotals) {
	k := ownPolicyKey{d, f.policy, f.striped}
	if m[k] == nil {
		m[k] = new(FileTotals)
	}
	m[k].add(t)
}
