package act

import (
	"context"

	"fsweep/execute"
	"fsweep/proto/journal"
)

// ownJournal demands that a journal is of this user, on this cluster: another user has
// another trash, and what another cluster has at the same ids is something else.
func (a *actor) ownJournal(ctx context.Context, h *journal.Header) error {
	if err := a.sameUser(h); err != nil {
		return err
	}
	if h.Nameservice != a.p.Plan.Header.Nameservice {
		return refuse("other-cluster", "the journal is of nameservice %q", h.Nameservice)
	}
	for _, at := range h.Anchors {
		if err := a.anchor(ctx, at, "journal"); err != nil {
			return err
		}
	}
	if h.Cluster == nil {
		return nil
	}
	return a.sameIDs(ctx, h.Cluster, "journal")
}

// samePlan demands that this is the cluster of the plan.
func (a *actor) samePlan(ctx context.Context) error {
	h := &a.p.Plan.Header
	for _, at := range h.Anchors {
		if at.InodeID == 0 {
			continue
		}
		if err := a.anchor(ctx, journal.Anchor{Path: at.Path, InodeID: at.InodeID}, "plan"); err != nil {
			return err
		}
	}
	return a.sameIDs(ctx, &journal.Cluster{NamespaceID: h.Source.NamespaceID, ID: h.Source.ClusterID}, "plan")
}

func (a *actor) anchor(ctx context.Context, at journal.Anchor, of string) error {
	s, err := a.stat(ctx, execute.At(string(at.Path)))
	if err != nil {
		return err
	}
	if s == nil || s.ID != at.InodeID {
		return refuse("other-cluster", "%q is not the directory that the %s knows", at.Path, of)
	}
	return nil
}

// sameIDs compares ids of cluster and namespace where NameNodes tell them. Clusters that were set
// up alike have the same inode ids, anchors too.
func (a *actor) sameIDs(ctx context.Context, want *journal.Cluster, of string) error {
	if a.p.Survey == nil {
		return nil
	}
	for _, n := range a.p.Survey.NameNodes(ctx) {
		if n.ClusterID != "" && want.ID != "" && n.ClusterID != want.ID {
			return refuse("other-cluster", "the %s is of cluster %q, and this is %q", of, want.ID, n.ClusterID)
		}
		if n.NamespaceID != 0 && want.NamespaceID != 0 && n.NamespaceID != want.NamespaceID {
			return refuse("other-cluster", "the %s is of the namespace with id %d, and this one has %d", of, want.NamespaceID, n.NamespaceID)
		}
	}
	return ctx.Err()
}
