// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"errors"
)

// Run keeps the registry until ctx ends, and returns nil when everything it
// started has ended. It must be called once. Options that would make it read
// more than it should are an error.
func (r *Registry) Run(ctx context.Context) error {
	if r.options.Namespace == "" {
		return errors.New("member.Options.Namespace is empty: the Secrets of all namespaces would be read")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer r.running.Wait()
	defer cancel()
	context.AfterFunc(ctx, r.queue.ShutDown)
	r.secrets.start(ctx, &r.running)
	r.running.Go(func() { r.karmada.run(ctx) })
	r.running.Go(func() { r.identifyHub(ctx) })
	r.running.Go(func() { r.notify(ctx) })
	for r.next(ctx) {
	}
	r.closeAll()
	return nil
}

// next handles one change of a registration; false when there will be none.
// One goroutine does so, which makes each source's order the registry's.
func (r *Registry) next(ctx context.Context) bool {
	k, shutdown := r.queue.Get()
	if shutdown {
		return false
	}
	defer r.queue.Done(k)
	if k.isSync() {
		r.mu.Lock()
		r.synced[k.source] = true
		r.settle()
		r.mu.Unlock()
		return true
	}
	r.reconcile(ctx, k)
	return true
}

func (r *Registry) reconcile(ctx context.Context, k key) {
	reg, registered := r.read(ctx, k)
	r.mu.Lock()
	fx := r.place(ctx, k, reg, registered)
	r.mu.Unlock()
	r.carryOut(ctx, fx)
}

// place files what a registration says, or that it is gone.
func (r *Registry) place(ctx context.Context, k key, reg registration, registered bool) (fx effects) {
	if registered {
		r.regs[k] = reg
	} else {
		delete(r.regs, k)
	}
	if !registered || reg.withdrawn() {
		delete(r.identities, k)
	}
	if e := r.entries[k]; e != nil && registered {
		fx.add(e.adopt(reg))
	}
	fx.add(r.arrange(ctx))
	fx.add(r.publish())
	return fx
}

func (r *Registry) read(ctx context.Context, k key) (registration, bool) {
	if k.source == fromSecret {
		return r.secrets.registration(k.object)
	}
	return r.karmada.registration(ctx, k.object)
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
		c.retire()
	}
}
