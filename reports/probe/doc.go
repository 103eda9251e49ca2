// Package probe writes what a probe of a live cluster found, as text for operators
// and as JSON for programs. It decides nothing: findings and their levels come from
// package probe of the executor. It only adds what can be done about each.
//
// Whatever a cluster sends, names as well as messages of a NameNode, is escaped before
// it gets into a line of text.
package probe

import (
	live "fsweep/execute/probe"
)

// Source is what the probe was made with, and what it found.
type Source struct {
	Tool, Version  string
	Conf           string // directory of the Hadoop configuration
	URI            string // of the nameservice
	Authentication string // simple, kerberos
	Policy         string // name of the file; "" without one
	Plan           string // name of the file; "" without one
	Report         *live.Report
}

// Advice says what can be done about a finding, in a sentence or two, without path;
// "" if there is nothing to be done.
func Advice(code live.Code) string { return advice[code] }

var advice = map[live.Code]string{
	live.NoActive:          "ask an operator of HDFS for the state of the NameNodes (hdfs haadmin -getAllServiceState); with a firewall between, the RPC ports of all NameNodes must be open",
	live.NotSupported:      "name the nameservice behind it, with --nameservice or another --conf; docs/operations.md says what is not supported",
	live.NameNodeUnknown:   "if it is the one that becomes ACTIVE in a failover, nothing can go on then; compare its address in hdfs-site.xml",
	live.TwoActive:         "stop, and ask an operator of HDFS: one of them is wrong",
	live.NodesDiffer:       "correct the addresses in hdfs-site.xml: the NameNodes of a nameservice are those of one cluster",
	live.ClockDiffers:      "synchronise the clocks; ages and expiry count with this machine's",
	live.CallFailed:        "the message is the NameNode's own; its log has more",
	live.InSafeMode:        "wait until it has left safe mode (hdfs dfsadmin -safemode get)",
	live.NoTrash:           "have fs.trash.interval set on the NameNodes, to 1440 minutes or more, or name a quarantine under removal in the policy",
	live.TrashTooShort:     "have fs.trash.interval raised on the NameNodes; belts.min_trash_interval says what the policy wants",
	live.NoHome:            "have an operator of HDFS make it: hdfs dfs -mkdir HOME, hdfs dfs -chown USER HOME",
	live.TrashNotMade:      "for an encryption zone: hdfs crypto -provisionTrash -path ZONE; for a snapshottable directory: hdfs dfsadmin -provisionSnapshotTrash DIR",
	live.TrashNotUsable:    "it must belong to the user, or be writable for the user",
	live.TrashElsewhere:    "with the trash of the zone itself nothing leaves the zone; name no quarantine outside of it",
	live.Superuser:         "run as a user that may do no more than it must",
	live.LockDirMissing:    "make it once for all who execute: hdfs dfs -mkdir -p LOCK_DIR, then chown and chmod so that all of them may write there",
	live.LockDirNotUsable:  "all who execute must be able to write there: hdfs dfs -chmod or -chown, or an ACL",
	live.Locked:            "wait for it; if nobody executes any more, its journal tells how far it got",
	live.QuarantineMissing: "make it: hdfs dfs -mkdir -p QUARANTINE, with a user who may write there",
	live.QuarantineUseless: "hdfs dfs -chmod or -chown it, or name another one under removal in the policy",
	live.Held:              "somebody wants nothing to be executed now; whoever made it removes it",
	live.HoldUnknown:       "let the user see it: EXECUTE on every directory above it",
	live.AnchorDiffers:     "check --conf and --nameservice; a plan is only for the cluster whose image it was made from",
	live.AnchorUnknown:     "let the user see it: EXECUTE on every directory above it",
	live.PlanExpired:       "make a plan from a newer image",
	live.PlanNotExecutable: "see what fsweep plan said; mode execute must stand at a root that is not stopped",
	live.PlanExecuted:      "a plan is carried out once: resume its journal if it did not come to its end, or make a new plan",
	live.RootMissing:       "correct the path in the policy",
	live.RootNotSeen:       "let the user see it: EXECUTE on every directory above it, READ and EXECUTE on it",
	live.RootNoDirectory:   "correct the path in the policy",
	live.RootReplaced:      "it was made anew, or moved, since the image was saved: make a plan from a newer image",
	live.JobMissing:        "fsweep plan refuses while it is missing: correct jobs in the policy",
	live.RootNotMovable:    "a move needs WRITE and EXECUTE on the directory that holds what is moved: run as its owner, or have an ACL set (hdfs dfs -setfacl -m user:USER:rwx)",
	live.PartNotMovable:    "as it is, what is in these directories stays; run as their owner, or have an ACL set (hdfs dfs -setfacl -m user:USER:rwx)",
	live.MovableUnknown:    "the dry run asks again for each item",
	live.StickyBit:         "what belongs to others there stays; the dry run names it",
	live.BelowSnapshots:    "the space comes back when the snapshots are deleted",
	live.OnlyObserved:      "read for a few nights what is listed, then write mode: execute at one root",
}
