package namespace

import (
	pb "fsweep/proto/fsimage"
)

// The storage policies that every NameNode has; a cluster cannot define others
// in its image. Source: Hadoop's BlockStoragePolicySuite, and
// docs/format/accounting.md for what was measured.
type storagePolicy struct {
	name  string
	types []int // of the replicas; the last is repeated. RAM_DISK takes no slot
}

var storagePolicies = [16]storagePolicy{
	1:  {"PROVIDED", []int{Provided, Disk}},
	2:  {"COLD", []int{Archive}},
	5:  {"WARM", []int{Disk, Archive}},
	7:  {"HOT", []int{Disk}},
	10: {"ONE_SSD", []int{SSD, Disk}},
	12: {"ALL_SSD", []int{SSD}},
	14: {"ALL_NVDIMM", []int{NVDIMM}},
	15: {"LAZY_PERSIST", []int{Disk}},
}

const unspecified = 0

func policyName(id uint8) string {
	if int(id) < len(storagePolicies) {
		return storagePolicies[id].name
	}
	return ""
}

// noTypes stands for every id that no policy has. It hides the policies of the
// directories above like any other, and charges nothing.
const noTypes = 3

func localPolicy(id uint32) uint8 {
	if id == unspecified {
		return unspecified
	}
	if id < uint32(len(storagePolicies)) && storagePolicies[id].types != nil {
		return uint8(id)
	}
	return noTypes
}

// stripedPolicy tells whether erasure coded files can follow a policy; others
// count as unspecified for them.
func stripedPolicy(id uint8) bool { return len(storagePolicies[id].types) == 1 && id != lazyPersist }

const lazyPersist = 15

// spread adds the space of replicated files to the types that the policy
// chooses: one is the sum of their lengths, all that of length x replication
// (both without files of replication 0). The first replica goes to the policy's
// first type, all further ones to its last: no policy has more than two. The
// sums may have wrapped around; that changes nothing here.
func spread(t *TypeSpace, policy uint8, one, all int64) {
	p := storagePolicies[policy].types
	if len(p) == 0 {
		return
	}
	if len(p) == 1 {
		t[p[0]] += all
		return
	}
	t[p[0]] += one
	t[p[1]] += all - one
}

// ecPolicy is an erasure coding policy.
type ecPolicy struct {
	name               string
	cell, data, parity int64 // bytes of a cell; units
}

// The policies that Hadoop defines itself. An image names them
// by id only.
func builtinECPolicies() map[uint32]*ecPolicy {
	const cell = 1 << 20
	return map[uint32]*ecPolicy{
		0: {name: replicationPolicy},
		1: {"RS-6-3-1024k", cell, 6, 3},
		2: {"RS-3-2-1024k", cell, 3, 2},
		3: {"RS-LEGACY-6-3-1024k", cell, 6, 3},
		4: {"XOR-2-1-1024k", cell, 2, 1},
		5: {"RS-10-4-1024k", cell, 10, 4},
	}
}

func ecPolicies(s *pb.ErasureCodingSection) map[uint32]*ecPolicy {
	m := builtinECPolicies()
	for _, p := range s.GetPolicies() {
		if p.GetSchema() == nil {
			continue // one that Hadoop defines itself is saved with its id only
		}
		m[p.GetId()] = &ecPolicy{
			p.GetName(), int64(p.GetCellSize()),
			int64(p.GetSchema().GetDataUnits()), int64(p.GetSchema().GetParityUnits()),
		}
	}
	return m
}

// space is what a block group of n bytes takes on disk: the data, and for each
// stripe as much parity as its longest cell. Source: StripedBlockUtil.
func (p *ecPolicy) space(n int64) int64 {
	stripe := p.cell * p.data
	if n <= 0 || stripe <= 0 {
		return max(n, 0)
	}
	stripes := (n-1)/stripe + 1
	last := min(p.cell, n-(stripes-1)*stripe)
	return n + ((stripes-1)*p.cell+last)*p.parity
}
