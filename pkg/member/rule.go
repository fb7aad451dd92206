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
	key     key
	wants   string // the name asked for
	refused bool   // it has faults of its own and no connection
	// uid of the cluster's namespace kube-system: as observed, else as declared, else empty.
	uid types.UID
	// observed is true when the cluster itself told its uid.
	observed bool
	// describe is the registration in words.
	describe string
}

// nameClaims gives each registration the name that it is listed under. A name
// goes to the first who asks for it: Secrets before Karmada Clusters, then the
// lesser object name. Whoever goes away empty-handed is listed as
// <source>.<object>. Neither reachability nor faults have a say, so that a name
// never comes to mean another cluster because one is down or mistyped.
func nameClaims(regs map[key]registration) map[key]string {
	sorted := sortedRegistrations(regs)
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
// ReasonDuplicate or ReasonNameConflict; whom it does not name may stay. Of the
// claims to one cluster (one uid) the first is used and the others are
// duplicates of it; first is: without faults, holding the name it asks for,
// Secret before Karmada Cluster, lesser object name. A claim that lost its name
// to a registration not known to be the same cluster conflicts with it.
func rule(claims []claim, names map[key]string) map[key]*fleet.Silence {
	sorted := slices.Clone(claims)
	lost := func(c claim) bool { return names[c.key] != c.wants }
	slices.SortFunc(sorted, func(a, b claim) int {
		return cmp.Or(compareBool(a.refused, b.refused), compareBool(lost(a), lost(b)), a.key.compare(b.key))
	})
	holders := make(map[string]claim, len(sorted))
	used := make(map[types.UID]claim, len(sorted))
	refusals := make(map[key]*fleet.Silence)
	for _, c := range sorted {
		if !lost(c) {
			holders[c.wants] = c
		}
		first, taken := used[c.uid]
		switch {
		case c.uid == "":
		case taken:
			refusals[c.key] = duplicate(c, first, names[first.key])
		default:
			used[c.uid] = c
		}
	}
	for _, c := range sorted {
		if refusals[c.key] == nil && lost(c) && !c.refused && c.observed {
			refusals[c.key] = conflict(c, holders[c.wants])
		}
	}
	return refusals
}

func duplicate(c, first claim, name string) *fleet.Silence {
	return silencef(ReasonDuplicate, "leads to the same cluster as %s (kube-system has uid %s in both), which is used under the name %s",
		first.describe, c.uid, name)
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
