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
	key registration.Key
	// wants is the name asked for, name the one that it is listed under.
	wants, name string
	// uid of the cluster's namespace kube-system, as the cluster itself told it.
	// Empty before contact, and for a registration with faults, which has no connection.
	uid types.UID
	// proof is what the cluster showed when it told so.
	proof proof
	// sameAs is the name of the cluster that the registration yields to.
	sameAs string
	// withdrawn: the cluster cannot be asked, by the registration's own word.
	withdrawn bool
	// ready is true while the cluster answers.
	ready bool
	// describe is the registration in words.
	describe string
}

// lost is true when the name asked for went to another registration.
func (c *claim) lost() bool { return c.name != c.wants }

// judge refuses the claims that cannot stand beside others, each with
// reasonDuplicate, reasonIdentityConflict or reasonNameConflict; whom it does
// not name may stay. It returns who is established afterwards, by whom was
// before.
//
// Of the claims to one cluster (one uid) the one that is established is used,
// else the first. Another is a duplicate of it if that is proved, and otherwise
// not believed. First is: not established as another cluster, holding the name
// it asks for, precedence of its key. A claim that lost its name to a
// registration not known to be the same cluster conflicts with it.
func judge(claims []claim, before records) (refusals map[registration.Key]*fleet.Silence, after records) {
	h := newHearing(claims, before)
	for h.allot() {
	}
	refusals = make(map[registration.Key]*fleet.Silence)
	for _, c := range h.claims {
		if refusal := h.refuse(c); refusal != nil {
			refusals[c.key] = refusal
		}
	}
	for _, c := range h.claims {
		if holder := h.named[c.wants]; refusals[c.key] == nil && holder != nil && holder != c && c.uid != "" {
			refusals[c.key] = nameConflict(c, holder)
		}
	}
	return refusals, h.established(refusals)
}

// hearing is all claims, as they are judged.
type hearing struct {
	claims []*claim // in order of precedence
	before records
	// named are the claims by the names that they are listed under.
	named map[string]*claim
	// was is whom each was established as.
	was map[registration.Key]types.UID
	// used is by which claim each cluster is used.
	used map[types.UID]*claim
	// told are the clusters that each authority was shown for: one that vouches for several tells none from the others.
	told map[string]types.UID
}

// several stands for more than one cluster.
const several types.UID = "*"

func newHearing(claims []claim, before records) *hearing {
	h := &hearing{
		claims: make([]*claim, 0, len(claims)), before: before, named: make(map[string]*claim, len(claims)),
		was: make(map[registration.Key]types.UID, len(before)), used: make(map[types.UID]*claim, len(claims)), told: map[string]types.UID{},
	}
	keys := make(map[string]types.UID, len(before))
	for uid, r := range before {
		keys[r.Registration] = uid
		h.tell(r.Authority, uid)
	}
	for i := range claims {
		c := &claims[i]
		if uid := keys[keyText(c.key)]; uid != "" {
			h.was[c.key] = uid
		}
		h.tell(c.proof.Authority, c.uid)
		h.claims = append(h.claims, c)
	}
	slices.SortFunc(h.claims, func(a, b *claim) int {
		return cmp.Or(cmp.Compare(number(h.moves(a)), number(h.moves(b))), cmp.Compare(number(a.lost()), number(b.lost())), a.key.Compare(b.key))
	})
	for _, c := range h.claims {
		h.named[c.name] = c
		if uid := h.was[c.key]; uid != "" {
			h.used[uid] = c
		}
	}
	return h
}

func (h *hearing) tell(authority string, uid types.UID) {
	if before, known := h.told[authority]; known && before != uid {
		uid = several
	}
	h.told[authority] = uid
}

// moves is true when an established registration tells that it is another cluster now.
func (h *hearing) moves(c *claim) bool {
	was := h.was[c.key]
	return was != "" && c.uid != "" && c.uid != was
}

// allot gives each cluster to one of the claims to it. Who is established
// stays. Whoever else finds a cluster free takes it, and one who was established
// as another then leaves that to the others. It is true when a cluster has become
// free, which those before may want.
func (h *hearing) allot() bool {
	for _, c := range h.claims {
		user := h.used[c.uid]
		switch {
		case c.uid == "" || user == c || !c.ready || c.lost() || h.yields(c, c.uid):
		case user == nil || h.gives(user, c):
			h.used[c.uid] = c
			if h.leaves(c) {
				return true
			}
		case h.same(c, user):
			if h.leaves(c) { // it is a spare of another cluster now
				return true
			}
		}
	}
	return false
}

// holds is true while nobody but the claim is the other cluster that it was established as.
func (h *hearing) holds(c *claim) bool { return h.moves(c) && h.used[h.was[c.key]] == c }

// leaves is true when the claim no longer holds the cluster that it was established as.
func (h *hearing) leaves(c *claim) bool {
	held := h.holds(c)
	if held {
		delete(h.used, h.was[c.key])
	}
	return held
}

// gives is true when an established claim leaves its cluster to another: as its registration says, or because it is another cluster
// now and the other proves to be this one.
func (h *hearing) gives(user, c *claim) bool {
	if h.was[user.key] != c.uid {
		return false
	}
	return user.sameAs == c.name && h.yields(user, c.uid) || h.moves(user) && user.ready && h.proves(c.proof, h.before[c.uid].proof)
}

// yields is true when a claim leaves a cluster to another claim to it, as its registration says. Of two that name each other neither does.
func (h *hearing) yields(c *claim, uid types.UID) bool {
	heir := h.named[c.sameAs]
	return heir != nil && heir != c && heir.uid == uid && heir.ready && !heir.lost() && heir.sameAs == ""
}

// same is true when it is proved that a claim leads to the cluster that the other one is used for.
func (h *hearing) same(c, user *claim) bool {
	shown := h.before[c.uid].proof
	if user.uid == c.uid && user.ready || h.was[user.key] != c.uid {
		shown = user.proof
	}
	return c.sameAs != "" && c.sameAs == user.name || h.proves(c.proof, shown)
}

// proves is true where two that tell the same uid are the same cluster.
func (h *hearing) proves(a, b proof) bool {
	return a.Way != "" && a.Way == b.Way ||
		a.Authority != "" && a.Authority == b.Authority && h.told[a.Authority] != several
}

// refuse compares a claim with the one that its cluster is used by.
func (h *hearing) refuse(c *claim) *fleet.Silence {
	user, other := h.used[c.uid], h.named[c.sameAs]
	switch {
	case c.withdrawn && other != nil && !other.withdrawn && other.key != c.key:
		return fleet.Silencef(reasonDuplicate, "is the same cluster as %s, listed as %s, as its registration says (annotation %s)",
			other.describe, other.name, registration.SameAsAnnotation)
	case c.uid == "" || user == nil || user == c:
		return nil
	case h.same(c, user) && !h.holds(c):
		return fleet.Silencef(reasonDuplicate,
			"leads to the same cluster as %s (kube-system has uid %s in both), which is used under the name %s", user.describe, c.uid, user.name)
	default:
		return h.identityConflict(c, user)
	}
}

func (h *hearing) identityConflict(c, user *claim) *fleet.Silence {
	was := ""
	if h.moves(c) {
		was = "was " + string(h.was[c.key]) + " and now "
	}
	return fleet.Silencef(reasonIdentityConflict,
		"the cluster %stells the uid %s of kube-system, which belongs to %s, listed as %s; if both lead to one cluster, remove one of the "+
			"registrations, or give the one that is to yield the annotation %s with the name of the other; otherwise find out why this one "+
			"tells the identity of another",
		was, c.uid, user.describe, user.name, registration.SameAsAnnotation)
}

func nameConflict(c, holder *claim) *fleet.Silence {
	which := "which leads to another cluster"
	if holder.uid == "" {
		which = "which was never contacted, so nobody can tell whether both lead to one cluster"
	}
	return fleet.Silencef(reasonNameConflict, "the name %s is held by %s, %s; give one of them another name (Secrets: annotation %s)",
		c.wants, holder.describe, which, registration.NameAnnotation)
}

// established is who is established once the claims were judged. A registration that is not among them keeps what it was, as long as
// nobody else is that.
func (h *hearing) established(refusals map[registration.Key]*fleet.Silence) records {
	after := make(records, len(h.used))
	present := make(map[string]bool, len(h.claims))
	for _, c := range h.claims {
		present[keyText(c.key)] = true
	}
	for uid, r := range h.before {
		if !present[r.Registration] {
			after[uid] = r
		}
	}
	for uid, c := range h.used {
		r, was := h.before[uid], h.was[c.key] == uid
		if refusals[c.key] == nil && c.uid == uid && c.ready {
			r, was = holder{Registration: keyText(c.key), Name: c.name, proof: c.proof}, true
		}
		if !was {
			continue
		}
		if !c.lost() {
			r.Name = c.name
		}
		after[uid] = r
	}
	return after
}
