package execute

import (
	"context"
	"time"
)

// Surveyor answers what a person asks before a plan is carried out: who the user is
// to the cluster, and in what state each NameNode is. No call changes anything.
type Surveyor interface {
	// NameNodes asks each NameNode of the nameservice, standbys too, at the same time,
	// and gives them in the order of their ids. One that cannot be asked has an
	// Err; it is no error of the call.
	NameNodes(ctx context.Context) []NameNodeState

	// User is the short name under which calls are made.
	User() string

	// Groups gives the groups that the NameNode knows the user to be in.
	Groups(ctx context.Context) ([]string, error)

	// Access asks the NameNode whether the user may do something with an inode, by the
	// permissions, ACLs and further authorizers that it would use itself: nil if so,
	// ErrPermission if not. A sticky bit is not looked at, nor what is below.
	Access(ctx context.Context, ref Ref, want Access) error
}

// Role is what a NameNode is to others of its nameservice.
type Role uint8

// The roles.
const (
	UnknownRole Role = iota
	ActiveRole
	StandbyRole
	ObserverRole
)

// String gives the word that HDFS has for a role.
func (r Role) String() string {
	switch r {
	case ActiveRole:
		return "active"
	case StandbyRole:
		return "standby"
	case ObserverRole:
		return "observer"
	case UnknownRole:
	}
	return "unknown"
}

// NameNodeState is what one NameNode says about itself. Everything that it does not
// tell an ordinary user is left at its zero value.
type NameNodeState struct {
	NameNode
	Role        Role
	Version     string // of the software, "3.4.2"
	ClusterID   string
	NamespaceID int64
	BlockPoolID string // names the namespace in a federation
	// Ahead is how much its clock is before that of this machine, to a second or so; nil
	// if it does not tell.
	Ahead *time.Duration
	Err   error // why its role is not known
}

// Access is what somebody wants to do with an inode, as bits of a permission.
type Access uint8

// The bits.
const (
	ExecuteAccess Access = 1 << iota
	WriteAccess
	ReadAccess
)
