// SPDX-License-Identifier: Apache-2.0

package member

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

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

// after is what the registration is established as once its claim was judged.
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
func allot(sorted []claim, names map[key]string) map[types.UID]claim {
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
func allotFree(sorted []claim, names map[key]string, used map[types.UID]claim) bool {
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
