// SPDX-License-Identifier: Apache-2.0

package shardlease

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

// hub keeps Leases, and writes them only as they were read, as an API server does.
type hub struct {
	mu       sync.Mutex
	version  int
	leases   map[string]*coordinationv1.Lease
	requests int
	led      bool // by who renews the leader's Lease whenever it is read
}

var gr = coordinationv1.Resource("leases")

// lead has somebody hold the leader's Lease, who renews it whenever it is read. "": nobody does.
func (h *hub) lead(identity string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.led = true
	h.put(leader, nil, coordinationv1.LeaseSpec{HolderIdentity: &identity, LeaseDurationSeconds: new(int32(15))})
}

func (h *hub) put(name string, annotations map[string]string, spec coordinationv1.LeaseSpec) *coordinationv1.Lease {
	h.version++
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations, ResourceVersion: strconv.Itoa(h.version)}, Spec: spec,
	}
	if h.leases == nil {
		h.leases = map[string]*coordinationv1.Lease{}
	}
	h.leases[name] = lease
	return lease.DeepCopy()
}

// replica is how one replica reaches the hub.
type replica struct {
	coordinationv1client.LeaseInterface // nil: what the elector does not use
	hub                                 *hub
	// cut: neither requests nor answers arrive. deaf: answers do not.
	cut, deaf atomic.Bool
	slow      atomic.Int64                  // what a request takes
	still     atomic.Pointer[chan struct{}] // closed once the replica no longer stands still; nil: it does not
}

// freeze has the replica stand still, as a process that was stopped: nothing of it is done before it is thawed.
func (r *replica) freeze() { r.still.CompareAndSwap(nil, new(make(chan struct{}))) }

func (r *replica) thaw() {
	if still := r.still.Swap(nil); still != nil {
		close(*still)
	}
}

// proceeds returns once the replica does not stand still.
func (r *replica) proceeds() {
	for still := r.still.Load(); still != nil; still = r.still.Load() {
		<-*still
	}
}

func (r *replica) Leases(string) coordinationv1client.LeaseInterface { return r }

// timeout is that of the client.
const timeout = 5 * time.Second

// ask does what a request asks for, unless it, or its answer, is lost.
func ask[T any](ctx context.Context, r *replica, do func() (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	pause := func() error {
		if r.slow.Load() == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(r.slow.Load()) / 2):
			return nil
		}
	}
	if err := pause(); err != nil {
		return none, err
	}
	r.proceeds() // it may have been stopped just before it sends, and does not see that it is late
	if r.cut.Load() {
		<-ctx.Done()
		return none, ctx.Err()
	}
	r.hub.mu.Lock()
	r.hub.requests++
	answer, err := do()
	r.hub.mu.Unlock()
	r.proceeds()
	if r.deaf.Load() {
		<-ctx.Done()
		return none, ctx.Err()
	}
	if err := pause(); err != nil {
		return none, err
	}
	return answer, err
}

func (r *replica) Get(ctx context.Context, name string, _ metav1.GetOptions) (*coordinationv1.Lease, error) {
	return ask(ctx, r, func() (*coordinationv1.Lease, error) {
		if found := r.hub.leases[name]; found != nil {
			return found.DeepCopy(), nil
		}
		return nil, apierrors.NewNotFound(gr, name)
	})
}

func (r *replica) List(ctx context.Context, _ metav1.ListOptions) (*coordinationv1.LeaseList, error) {
	return ask(ctx, r, func() (*coordinationv1.LeaseList, error) {
		if lead := r.hub.leases[leader]; lead != nil && r.hub.led {
			lead.Spec.RenewTime = &metav1.MicroTime{Time: time.Now()}
		}
		list := &coordinationv1.LeaseList{}
		for _, l := range r.hub.leases {
			list.Items = append(list.Items, *l.DeepCopy())
		}
		return list, nil
	})
}

func (r *replica) Create(ctx context.Context, l *coordinationv1.Lease, _ metav1.CreateOptions) (*coordinationv1.Lease, error) {
	return ask(ctx, r, func() (*coordinationv1.Lease, error) {
		if r.hub.leases[l.Name] != nil {
			return nil, apierrors.NewAlreadyExists(gr, l.Name)
		}
		return r.hub.put(l.Name, l.Annotations, *l.Spec.DeepCopy()), nil
	})
}

func (r *replica) Update(ctx context.Context, l *coordinationv1.Lease, _ metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	l = l.DeepCopy() // the library changes it while an answer is under way
	return ask(ctx, r, func() (*coordinationv1.Lease, error) {
		switch found := r.hub.leases[l.Name]; {
		case found == nil:
			return nil, apierrors.NewNotFound(gr, l.Name)
		case found.ResourceVersion != l.ResourceVersion:
			return nil, apierrors.NewConflict(gr, l.Name, nil)
		}
		return r.hub.put(l.Name, l.Annotations, *l.Spec.DeepCopy()), nil
	})
}

func (r *replica) Delete(ctx context.Context, name string, _ metav1.DeleteOptions) error {
	_, err := ask(ctx, r, func() (any, error) {
		if r.hub.leases[name] == nil {
			return nil, apierrors.NewNotFound(gr, name)
		}
		delete(r.hub.leases, name)
		return nil, nil
	})
	return err
}
