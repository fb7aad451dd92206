// SPDX-License-Identifier: Apache-2.0

package member

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// publish shows each entry as it stands among the others.
func (r *Registry) publish() (fx effects) {
	refusals := r.rule()
	listed := make([]*Member, 0, len(r.entries))
	for k, e := range r.entries {
		before, hub := e.shown, r.hub.is(e.uid) && !isConflict(refusals[k])
		silence := e.silence(refusals[k], hub && r.options.Registrations.Access == registration.Read && r.options.HubMetricsServer == nil)
		fx.changed = e.show(silence, hub) || fx.changed
		if n, worth := e.notice(before); worth {
			fx.notices = append(fx.notices, n)
		}
		if !isDuplicate(silence) {
			listed = append(listed, e.member)
		}
	}
	slices.SortFunc(listed, func(a, b *Member) int { return strings.Compare(a.name, b.name) })
	r.listed.Store(&listed)
	r.settle()
	return fx
}

// rule judges all claims, and notes who is established by it.
func (r *Registry) rule() map[registration.Key]*fleet.Silence {
	claims := make([]claim, 0, len(r.entries))
	names := make(map[registration.Key]string, len(r.entries))
	for k, e := range r.entries {
		claims = append(claims, e.claim(r.identities[k], !r.settled))
		names[k] = e.member.name
	}
	refusals := rule(claims, names)
	for _, c := range claims {
		if now := c.after(refusals[c.key]); now.uid != "" {
			r.identities[c.key] = now
		} else {
			delete(r.identities, c.key)
		}
	}
	return refusals
}

func isDuplicate(s *fleet.Silence) bool { return s != nil && s.Reason == reasonDuplicate }

func isConflict(s *fleet.Silence) bool { return s != nil && s.Reason == reasonIdentityConflict }

// snapshot is for metrics: every registration, used or not.
func (r *Registry) snapshot() []listing {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]listing, 0, len(r.entries))
	for k, e := range r.entries {
		all = append(all, listing{
			registration: k.String(), member: e.member, listed: e.shown.silence.Reason != reasonDuplicate,
		})
	}
	return all
}

func (r *Registry) isHub(uid types.UID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hub.is(uid)
}

// Settled is nil once the sources were read and each registered cluster was
// contacted, failed its deadline, or was refused. Until then the error names
// who is awaited, and an answer could lack a cluster without anybody knowing.
// Once nil it stays nil: a cluster that joins later must not take us out of service.
func (r *Registry) Settled() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if awaited := r.settle(); len(awaited) > 0 {
		return fmt.Errorf("waiting for %s", strings.Join(awaited, "; "))
	}
	return nil
}

// settle notes when nothing is awaited any more: from then on names and
// identities stay with whom they are established. Until then it says what is awaited.
func (r *Registry) settle() (awaited []string) {
	if r.settled {
		return nil
	}
	awaited = r.awaited()
	if !r.hub.tried {
		awaited = append(awaited, "the hub's identity")
	}
	if names := r.uncontacted(); len(names) > 0 {
		awaited = append(awaited, "first contact with "+strings.Join(names, ", "))
	}
	r.settled = len(awaited) == 0
	return awaited
}

func (r *Registry) uncontacted() []string {
	var names []string
	for _, e := range r.entries {
		if e.shown.silence.Reason == reasonNotContacted {
			names = append(names, e.member.name)
		}
	}
	slices.Sort(names)
	return names
}
