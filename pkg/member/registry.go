// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Registry knows the fleet's clusters. All methods may be called at any time,
// from any goroutine.
type Registry struct {
	options   Options
	secrets   *secretSource
	karmada   *karmadaSource
	queue     workqueue.TypedInterface[key]
	listeners []func()
	changed   chan struct{}
	listed    atomic.Pointer[[]*Member]
	running   sync.WaitGroup

	// mu guards the rest. It is never held while anything is waited for.
	mu      sync.Mutex
	regs    map[key]registration
	entries map[key]*entry
	// identities are those of registered clusters that were Ready; no two have one uid.
	identities map[key]identity
	hub        hubIdentity
	synced     map[source]bool
	settled    bool
}

// New returns a registry that knows nothing until it runs.
func New(o Options) *Registry {
	o = o.withDefaults()
	r := &Registry{
		options:    o,
		queue:      workqueue.NewTyped[key](),
		changed:    make(chan struct{}, 1),
		regs:       map[key]registration{},
		entries:    map[key]*entry{},
		identities: map[key]identity{},
		synced:     map[source]bool{},
	}
	r.secrets = &secretSource{options: o, enqueue: r.queue.Add}
	r.karmada = &karmadaSource{options: o, enqueue: r.queue.Add, running: &r.running, credentials: map[string]*credentialWatch{}}
	r.listed.Store(&[]*Member{})
	if o.Metrics != nil {
		snapshot := r.snapshot
		o.Metrics.states.snapshot.Store(&snapshot)
	}
	return r
}

// Members are the fleet's clusters in name order, silent ones included. The
// slice is the caller's.
func (r *Registry) Members() []*Member { return slices.Clone(*r.listed.Load()) }

// OnChange has f called after membership, readiness, identity, labels or a
// connection changed; several changes may become one call. Calls do not
// overlap and hold no lock, but f should be quick: it delays the other
// listeners. It must be registered before Run.
func (r *Registry) OnChange(f func()) { r.listeners = append(r.listeners, f) }

// arrange brings the entries in line with the registrations: it ends, replaces
// and begins them. Their goroutines live as long as ctx.
func (r *Registry) arrange(ctx context.Context) (fx effects) {
	names := nameClaims(r.regs, r.keepNames())
	for k, e := range r.entries {
		name, registered := names[k]
		if registered && name == e.member.name && !e.moved {
			continue
		}
		fx.add(r.end(e))
		if !registered {
			fx.notices = append(fx.notices, e.happened(clusterLeft))
		}
	}
	for k, reg := range r.regs {
		if r.entries[k] == nil {
			r.begin(ctx, names[k], reg)
		}
	}
	return fx
}

// keepNames are the established registrations that still ask for the name that
// they have. At the start there are none: there order decides.
func (r *Registry) keepNames() map[key]bool {
	keeps := make(map[key]bool, len(r.identities))
	for k := range r.identities {
		if e := r.entries[k]; r.settled && e != nil {
			keeps[k] = e.member.name == r.regs[k].name
		}
	}
	return keeps
}

func (r *Registry) begin(ctx context.Context, name string, reg registration) {
	e := newEntry(name, reg, r.options)
	ctx, e.stop = context.WithCancel(ctx)
	r.entries[reg.key] = e
	r.running.Go(func() { r.tend(ctx, e) })
}

func (r *Registry) end(e *entry) (fx effects) {
	e.stop()
	e.member.meter.close()
	delete(r.entries, e.reg.key)
	fx.changed = true
	fx.retire(e.conn, e.hubConn)
	return fx
}

// publish shows each entry as it stands among the others.
func (r *Registry) publish() (fx effects) {
	refusals := r.rule()
	listed := make([]*Member, 0, len(r.entries))
	for k, e := range r.entries {
		before, hub := e.shown, r.hub.is(e.uid) && !isConflict(refusals[k])
		silence := e.silence(refusals[k], hub && r.options.Access == Read && r.options.HubMetricsServer == nil)
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
func (r *Registry) rule() map[key]*fleet.Silence {
	claims := make([]claim, 0, len(r.entries))
	names := make(map[key]string, len(r.entries))
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

func isDuplicate(s *fleet.Silence) bool { return s != nil && s.Reason == ReasonDuplicate }

func isConflict(s *fleet.Silence) bool { return s != nil && s.Reason == ReasonIdentityConflict }

// snapshot is for metrics: every registration, used or not.
func (r *Registry) snapshot() []listing {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]listing, 0, len(r.entries))
	for k, e := range r.entries {
		all = append(all, listing{
			registration: k.fallbackName(), member: e.member, listed: e.shown.silence.Reason != ReasonDuplicate,
		})
	}
	return all
}

func (r *Registry) isHub(uid types.UID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hub.is(uid)
}
