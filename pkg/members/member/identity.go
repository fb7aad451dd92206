// SPDX-License-Identifier: Apache-2.0

package member

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// claim is one registration's wish to be a cluster of the fleet.
type claim struct {
	key   registration.Key
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
func (c claim) lost(names map[registration.Key]string) bool { return names[c.key] != c.wants }

// rule refuses the claims that cannot stand beside others, each with
// reasonDuplicate, reasonIdentityConflict or reasonNameConflict; whom it does
// not name may stay. Of the claims to one cluster (one uid) the one that is
// established is used, else the first. Another that told so from its first
// contact is a duplicate of it; one that was another cluster before is not
// believed to be the same. First is: not another cluster before, holding the
// name it asks for, precedence of its key. A claim
// that lost its name to a registration not known to be the same cluster
// conflicts with it.
func rule(claims []claim, names map[registration.Key]string) map[registration.Key]*fleet.Silence {
	sorted := slices.Clone(claims)
	slices.SortFunc(sorted, func(a, b claim) int {
		return cmp.Or(cmp.Compare(number(a.moves()), number(b.moves())),
			cmp.Compare(number(a.lost(names)), number(b.lost(names))), a.key.Compare(b.key))
	})
	used := allot(sorted, names)
	holders := make(map[string]claim, len(sorted))
	refusals := make(map[registration.Key]*fleet.Silence)
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
func refuse(c claim, used map[types.UID]claim, names map[registration.Key]string) *fleet.Silence {
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
	return fleet.Silencef(reasonDuplicate, "leads to the same cluster as %s (kube-system has uid %s in both), which is used under the name %s",
		first.describe, uid, name)
}

func identityConflict(c, first claim, name string) *fleet.Silence {
	return fleet.Silencef(reasonIdentityConflict,
		"the cluster was %s and now tells the uid %s of kube-system, which belongs to %s, listed as %s; "+
			"if both lead to one cluster, remove one of the registrations; otherwise find out why this one tells the identity of another",
		c.held.uid, c.uid, first.describe, name)
}

func conflict(c, holder claim) *fleet.Silence {
	which := "which leads to another cluster"
	if holder.uid == "" {
		which = "which was never contacted, so nobody can tell whether both lead to one cluster"
	}
	return fleet.Silencef(reasonNameConflict, "the name %s is held by %s, %s; give one of them another name (Secrets: annotation %s)",
		c.wants, holder.describe, which, registration.NameAnnotation)
}

// identity is the cluster that a registration is established as: the one that
// it was Ready as last. Nobody else gets it while the registration exists and
// is not Ready as another cluster, whether or not the cluster answers.
type identity struct {
	uid types.UID // empty: never Ready
	// changed is true once the registration was Ready as more than one cluster.
	changed bool
}

// keeps is the uid that no other claim can have.
func (c claim) keeps() types.UID {
	if c.open && c.uid == c.held.uid {
		return ""
	}
	return c.held.uid
}

// moves is true when an established registration tells that it is another cluster now.
func (c claim) moves() bool { return c.uid != "" && c.keeps() != "" && c.uid != c.keeps() }

// hasChanged is true when the cluster did not tell from the beginning what it tells now.
func (c claim) hasChanged() bool { return c.held.changed || c.moves() }

// after returns what the registration is established as once its claim was judged.
func (c claim) after(refusal *fleet.Silence) identity {
	switch {
	case isDuplicate(refusal):
		return identity{}
	case refusal == nil && c.uid != "" && c.ready:
		return identity{uid: c.uid, changed: c.held.changed || c.held.uid != "" && c.held.uid != c.uid}
	default:
		return c.held
	}
}

// allot gives each cluster to one of the claims to it, which come in order of
// precedence. Who is established stays. Whoever else finds a cluster free takes
// it, and one who was established as another then leaves that to the others.
func allot(sorted []claim, names map[registration.Key]string) map[types.UID]claim {
	used := make(map[types.UID]claim, len(sorted))
	for _, c := range sorted {
		if c.keeps() != "" {
			used[c.keeps()] = c
		}
	}
	for allotFree(sorted, names, used) {
	}
	return used
}

// allotFree is true when a cluster has become free, which those before may want.
func allotFree(sorted []claim, names map[registration.Key]string, used map[types.UID]claim) bool {
	for _, c := range sorted {
		_, taken := used[c.uid]
		switch {
		case c.uid == "" || taken:
		case !c.moves():
			used[c.uid] = c
		case c.ready && !c.lost(names):
			delete(used, c.keeps())
			used[c.uid] = c
			return true
		}
	}
	return false
}
