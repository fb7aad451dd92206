// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// publish shows each entry as it stands among the others.
func (r *Registry) publish() (fx effects) {
	refusals := r.rule()
	established := r.established.byRegistration()
	listed := make([]*Member, 0, len(r.entries))
	for k, e := range r.entries {
		before, hub := e.shown, r.hub.is(e.uid) && !isConflict(refusals[k])
		silence := e.silence(refusals[k], hub && r.options.Registrations.Access == registration.Read && r.options.HubMetricsServer == nil)
		_, was := established[keyText(k)]
		fx.changed = e.show(silence, hub, !was && r.joins(k)) || fx.changed
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

// joins is true for a registration that is not established if it never was: that is known where it is recorded who is, and of those that
// came after this program had started.
func (r *Registry) joins(k registration.Key) bool {
	return r.ledger.stored.Exists || r.settled && !r.unknownPast[k]
}

// rule judges all claims, and notes who is established by it.
func (r *Registry) rule() map[registration.Key]*fleet.Silence {
	claims := make([]claim, 0, len(r.entries))
	for _, e := range r.entries {
		claims = append(claims, e.claim())
	}
	r.forget()
	var refusals map[registration.Key]*fleet.Silence
	before := r.base()
	refusals, r.established = judge(claims, before)
	r.disestablished = r.disestablished || before.lose(r.established)
	poke(r.unsaved)
	return refusals
}

// update shows how all stand after a change. Who is established keeps a name, so when one no longer is, names may change too.
func (r *Registry) update(ctx context.Context) (fx effects) {
	fx.add(r.publish())
	for range mostRenames {
		if !r.disestablished {
			break
		}
		r.disestablished = false
		renamed := r.arrange(ctx)
		if fx.add(renamed); renamed.changed {
			fx.add(r.publish())
		}
	}
	return fx
}

// mostRenames bounds what one change can bring about: each name that goes to another may free one more.
const mostRenames = 10

// base are those who are established whatever is told now. While the clusters are met for the first time these are those that are
// recorded: of others order decides, and not who was quicker.
func (r *Registry) base() records {
	if r.settled {
		return r.established
	}
	return r.recorded
}

// forget drops the records of registrations that are gone, or that say that the hub cannot ask their clusters.
func (r *Registry) forget() {
	known := make(map[string]bool, len(r.regs))
	for k, reg := range r.regs {
		known[keyText(k)] = !reg.Withdrawn()
	}
	for _, all := range []records{r.established, r.recorded} {
		maps.DeleteFunc(all, func(_ types.UID, one holder) bool {
			usable, registered := known[one.Registration]
			return registered && !usable || !registered && r.gone(one.Registration)
		})
	}
}

func isDuplicate(s *fleet.Silence) bool { return s != nil && s.Reason == reasonDuplicate }

func isConflict(s *fleet.Silence) bool { return s != nil && s.Reason == reasonIdentityConflict }

// snapshot is for metrics: every registration, used or not, and whether it is recorded who is established.
func (r *Registry) snapshot() (all []listing, recorded bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all = make([]listing, 0, len(r.entries))
	for k, e := range r.entries {
		all = append(all, listing{
			registration: k.String(), member: e.member, listed: e.shown.silence.Reason != reasonDuplicate,
		})
	}
	return all, r.ledger.stored.Exists
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
	if !r.ledger.known() {
		awaited = append(awaited, r.ledger.awaited())
	}
	if names := r.uncontacted(); len(names) > 0 {
		awaited = append(awaited, "first contact with "+strings.Join(names, ", "))
	}
	if r.settled = len(awaited) == 0; r.settled {
		r.start()
	}
	return awaited
}

// start notes what the program starts with.
func (r *Registry) start() {
	for k := range r.regs {
		r.unknownPast[k] = true
	}
	poke(r.unsaved)
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
