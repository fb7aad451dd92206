// SPDX-License-Identifier: Apache-2.0

package member

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/pkg/registration/watcher"
)

// Registry knows the fleet's clusters. All methods may be called at any time,
// from any goroutine.
type Registry struct {
	options       Options
	registrations *watcher.Watcher
	listeners     []func()
	changed       chan struct{}
	unsaved       chan struct{} // something may have to be recorded
	listed        atomic.Pointer[[]*Member]
	running       sync.WaitGroup

	// mu guards the rest. It is never held while anything is waited for.
	mu      sync.Mutex
	regs    map[registration.Key]registration.Registration
	entries map[registration.Key]*entry
	// established are those that were Ready; recorded is what the hub has of them.
	established, recorded records
	ledger                ledger
	// disestablished is true when somebody is no longer established, and names were not given again since.
	disestablished bool
	// unknownPast are those that were registered when this program started, and of which nothing is recorded.
	unknownPast map[registration.Key]bool
	hub         hubIdentity
	// awaited are the sources that were not read yet, and knows is true for those of which all registrations are known.
	awaited func() []string
	knows   func(source string) bool
	settled bool
}

// New returns a registry that knows nothing until it runs.
func New(o Options) *Registry {
	o = o.withDefaults()
	r := &Registry{
		options: o,
		registrations: watcher.New(watcher.Options{
			Hub: o.Hub, HubDynamic: o.HubDynamic, Sources: registration.Sources(o.Registrations),
			Timeout: o.Connections.Timeout, Period: o.DiscoveryPeriod,
		}),
		changed:     make(chan struct{}, 1),
		unsaved:     make(chan struct{}, 1),
		regs:        map[registration.Key]registration.Registration{},
		entries:     map[registration.Key]*entry{},
		established: records{},
		unknownPast: map[registration.Key]bool{},
	}
	r.awaited, r.knows = r.registrations.Awaited, r.registrations.Knows
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

// Counted are the Members without those that are joining: a fleet's answer lacks nothing without them.
func (r *Registry) Counted() []*Member { return slices.DeleteFunc(r.Members(), (*Member).Joining) }

// All are the Members and, among them, the registrations whose clusters others register too: spares.
func (r *Registry) All() []*Member {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*Member, 0, len(r.entries))
	for _, e := range r.entries {
		if e.member.view.Load() != nil {
			all = append(all, e.member)
		}
	}
	slices.SortFunc(all, func(a, b *Member) int { return strings.Compare(a.name, b.name) })
	return all
}

// Registered returns the name of the cluster that an object of a source registers, empty: it registers none; and why the cluster
// is not to be asked for the registration's own sake: nil also if it is a spare, which nobody else asks.
func (r *Registry) Registered(source, object string) (cluster string, silence error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entryOf(source, object)
	switch {
	case e == nil:
		return "", nil
	case isDuplicate(&e.shown.silence):
		return e.member.name, nil
	}
	return e.member.name, e.member.Silence()
}

// ClusterOf returns the name of the cluster that an object of a source stands for: of a spare, that of the registration which is in use;
// empty: the object registers none.
func (r *Registry) ClusterOf(source, object string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entryOf(source, object)
	if e == nil {
		return ""
	}
	if isDuplicate(&e.shown.silence) {
		return cmp.Or(r.established[e.uid].Name, e.member.name)
	}
	return e.member.name
}

// entryOf is that of an object of a source, nil: it registers nothing, or nothing was said of it yet.
func (r *Registry) entryOf(source, object string) *entry {
	rank := slices.IndexFunc(registration.Sources(r.options.Registrations), func(s registration.Source) bool { return s.Name() == source })
	e := r.entries[registration.Key{Rank: rank, Source: source, Object: object}]
	if e == nil || e.member.view.Load() == nil {
		return nil
	}
	return e
}

// OnChange has f called after membership, readiness, identity, labels or a
// connection changed; several changes may become one call. Calls do not
// overlap and hold no lock, but f should be quick: it delays the other
// listeners. It must be registered before Run.
func (r *Registry) OnChange(f func()) { r.listeners = append(r.listeners, f) }

// arrange brings the entries in line with the registrations: it ends, replaces
// and begins them. Their goroutines live as long as ctx.
func (r *Registry) arrange(ctx context.Context) (fx effects) {
	names := registration.Names(r.regs, r.keepNames())
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
			r.begin(ctx, k, names[k], reg)
		}
	}
	return fx
}

// keepNames are the established registrations that still ask for the name that they have.
func (r *Registry) keepNames() map[registration.Key]bool {
	established := r.base().byRegistration()
	keeps := make(map[registration.Key]bool, len(established))
	for k, reg := range r.regs {
		if known, found := established[keyText(k)]; found {
			keeps[k] = known.Name == reg.Name
		}
	}
	return keeps
}

func (r *Registry) begin(ctx context.Context, k registration.Key, name string, reg registration.Registration) {
	e := newEntry(k, name, reg, r.options)
	ctx, e.stop = context.WithCancel(ctx)
	r.entries[k] = e
	r.running.Go(func() { r.tend(ctx, e) })
}

func (r *Registry) end(e *entry) (fx effects) {
	e.stop()
	e.member.peer.Close()
	delete(r.entries, e.key)
	fx.changed = true
	fx.retire(e.conn, e.hubConn)
	return fx
}

// Run keeps the registry until ctx ends, and returns nil when everything it
// started has ended. It must be called once. Options that would make it read
// more than it should are an error.
func (r *Registry) Run(ctx context.Context) error {
	for _, source := range registration.Sources(r.options.Registrations) {
		if w := source.Watch(); w.Resource == corev1.SchemeGroupVersion.WithResource("secrets") && w.Namespace == "" {
			return fmt.Errorf("member.Options.Registrations have no namespace for the source %s: the Secrets of all would be read", source.Name())
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer r.running.Wait()
	defer cancel()
	r.running.Go(func() { r.identifyHub(ctx) })
	r.running.Go(func() { r.followLedger(ctx) })
	r.running.Go(func() { r.notify(ctx) })
	waive := sync.OnceFunc(func() { r.running.Go(func() { r.waive(ctx) }) })
	r.registrations.Run(ctx, r.register, func() {
		if r.sourceRead(); len(r.awaited()) == 0 {
			waive()
		}
	})
	r.closeAll()
	return nil
}

// register takes what a registration says now, or nil for one that is gone. One
// goroutine does so, which makes each source's order the registry's.
func (r *Registry) register(ctx context.Context, k registration.Key, reg *registration.Registration) {
	r.mu.Lock()
	fx := r.place(ctx, k, reg)
	r.mu.Unlock()
	r.carryOut(ctx, fx)
}

// sourceRead notes that all first registrations of a source are there.
func (r *Registry) sourceRead() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settle()
}

// place files what a registration says, or that it is gone.
func (r *Registry) place(ctx context.Context, k registration.Key, reg *registration.Registration) (fx effects) {
	before := r.regs[k]
	if reg != nil {
		r.regs[k] = *reg
	} else {
		delete(r.regs, k)
	}
	if reg == nil {
		delete(r.unknownPast, k)
	}
	r.forget()
	if e := r.entries[k]; e != nil && reg != nil {
		fx.add(e.adopt(*reg))
	}
	fx.add(r.arrange(ctx))
	if reg != nil {
		fx.notices = append(fx.notices, r.entries[k].warned(before.Warnings)...)
		fx.notices = append(fx.notices, r.entries[k].stood(before.Taints)...)
	}
	fx.add(r.update(ctx))
	return fx
}

// notify calls the listeners, one after the other, after changes.
func (r *Registry) notify(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.changed:
			for _, f := range r.listeners {
				f()
			}
		}
	}
}

// closeAll retires what is open when the registry stops.
func (r *Registry) closeAll() {
	r.mu.Lock()
	var fx effects
	for _, e := range r.entries {
		fx.retire(e.conn, e.hubConn)
	}
	r.mu.Unlock()
	for _, c := range fx.retired {
		c.Retire()
	}
}
