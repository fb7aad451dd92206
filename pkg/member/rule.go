// SPDX-License-Identifier: Apache-2.0

package member

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// claim is one registration's wish to be a cluster of the fleet.
type claim struct {
	key   key
	wants string // the name asked for
	// uid of the cluster's namespace kube-system, as the cluster itself told it.
	// Empty before contact, and for a registration with faults, which has no connection.
	uid types.UID
	// declared is the same as others tell it, of a cluster that cannot be asked.
	declared types.UID
	// held is what the registration is established as.
	held identity
	// open is true while the clusters are met for the first time: then order
	// decides who is established, and not who was quicker.
	open bool
	// ready is true while the cluster answers.
	ready bool
	// describe is the registration in words.
	describe string
}

// lost is true when the name asked for went to another registration.
func (c claim) lost(names map[key]string) bool { return names[c.key] != c.wants }

// nameClaims gives each registration the name that it is listed under. A name
// stays with the registration that keeps it. Any other goes to the first who
// asks for it: Secrets before Karmada Clusters, then the lesser object name.
// Whoever goes away empty-handed is listed as <source>.<object>. Neither
// reachability nor faults have a say, so that a name never comes to mean another
// cluster because one is down or mistyped.
func nameClaims(regs map[key]registration, keeps map[key]bool) map[key]string {
	sorted := sortedRegistrations(regs)
	slices.SortStableFunc(sorted, func(a, b registration) int { return compareBool(!keeps[a.key], !keeps[b.key]) })
	names := make(map[key]string, len(sorted))
	taken := make(map[string]bool, len(sorted))
	for _, r := range sorted {
		if taken[r.name] || r.nameless() {
			names[r.key] = r.key.fallbackName()
			continue
		}
		names[r.key] = r.name
		taken[r.name] = true
	}
	return names
}

// rule refuses the claims that cannot stand beside others, each with
// ReasonDuplicate, ReasonIdentityConflict or ReasonNameConflict; whom it does
// not name may stay. Of the claims to one cluster (one uid) the one that is
// established is used, else the first. Another that told so from its first
// contact is a duplicate of it; one that was another cluster before is not
// believed to be the same. First is: not another cluster before, holding the
// name it asks for, Secret before Karmada Cluster, lesser object name. A claim
// that lost its name to a registration not known to be the same cluster
// conflicts with it.
func rule(claims []claim, names map[key]string) map[key]*fleet.Silence {
	sorted := slices.Clone(claims)
	slices.SortFunc(sorted, func(a, b claim) int {
		return cmp.Or(compareBool(a.moves(), b.moves()), compareBool(a.lost(names), b.lost(names)), a.key.compare(b.key))
	})
	used := allot(sorted, names)
	holders := make(map[string]claim, len(sorted))
	refusals := make(map[key]*fleet.Silence)
	for _, c := range sorted {
		if !c.lost(names) {
			holders[c.wants] = c
		}
		if refusal := refuse(c, used, names); refusal != nil {
			refusals[c.key] = refusal
		}
	}
	for _, c := range sorted {
		if refusals[c.key] == nil && c.lost(names) && c.uid != "" {
			refusals[c.key] = conflict(c, holders[c.wants])
		}
	}
	return refusals
}

// refuse compares a claim with the one that its cluster is used by.
func refuse(c claim, used map[types.UID]claim, names map[key]string) *fleet.Silence {
	uid := cmp.Or(c.uid, c.declared)
	first, taken := used[uid]
	switch {
	case uid == "" || !taken || first.key == c.key:
		return nil
	case c.uid == "" && first.hasChanged():
		return nil
	case c.moves():
		return identityConflict(c, first, names[first.key])
	default:
		return duplicate(uid, first, names[first.key])
	}
}

func duplicate(uid types.UID, first claim, name string) *fleet.Silence {
	return silencef(ReasonDuplicate, "leads to the same cluster as %s (kube-system has uid %s in both), which is used under the name %s",
		first.describe, uid, name)
}

func identityConflict(c, first claim, name string) *fleet.Silence {
	return silencef(ReasonIdentityConflict, "the cluster was %s and now tells the uid %s of kube-system, which belongs to %s, listed as %s; "+
		"if both lead to one cluster, remove one of the registrations; otherwise find out why this one tells the identity of another",
		c.held.uid, c.uid, first.describe, name)
}

func conflict(c, holder claim) *fleet.Silence {
	which := "which leads to another cluster"
	if holder.uid == "" {
		which = "which was never contacted, so nobody can tell whether both lead to one cluster"
	}
	return silencef(ReasonNameConflict, "the name %s is held by %s, %s; give one of them another name (Secrets: annotation %s)",
		c.wants, holder.describe, which, nameAnnotation)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}
