// SPDX-License-Identifier: Apache-2.0

package hubclient

import (
	"context"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Observed is a client of a hub that nothing is written to. It may be used by many goroutines at once.
type Observed struct {
	client.Client // of which nothing that writes is reached from outside

	kept *statuses
}

var _ client.Client = (*Observed)(nil)

// NewObserved returns a hub that shows what is read from another.
func NewObserved(from client.Client) *Observed {
	return &Observed{from, &statuses{byKey: map[key]client.Object{}}}
}

// Live returns a reader that shows what another reader of the same hub has.
func (o *Observed) Live(from client.Reader) client.Reader { return reader{from, o.kept} }

// Get reads an object.
func (o *Observed) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	return reader{o.Client, o.kept}.Get(ctx, key, into, opts...)
}

// List reads objects.
func (o *Observed) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return reader{o.Client, o.kept}.List(ctx, list, opts...)
}

// Create is refused.
func (o *Observed) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	return refused("created", object)
}

// Update is refused.
func (o *Observed) Update(_ context.Context, object client.Object, _ ...client.UpdateOption) error {
	return refused("updated", object)
}

// Patch is refused.
func (o *Observed) Patch(_ context.Context, object client.Object, _ client.Patch, _ ...client.PatchOption) error {
	return refused("patched", object)
}

// Apply is refused.
func (o *Observed) Apply(context.Context, runtime.ApplyConfiguration, ...client.ApplyOption) error {
	return refused("applied", nil)
}

// Delete is refused.
func (o *Observed) Delete(_ context.Context, object client.Object, _ ...client.DeleteOption) error {
	return refused("deleted", object)
}

// DeleteAllOf is refused.
func (o *Observed) DeleteAllOf(_ context.Context, object client.Object, _ ...client.DeleteAllOfOption) error {
	return refused("deleted", object)
}

// SubResource has nothing that may be written, either: all but Get is refused.
func (o *Observed) SubResource(name string) client.SubResourceClient {
	return subResource{o.Client.SubResource(name), refusals{}}
}

// Status keeps what is written.
func (o *Observed) Status() client.SubResourceWriter { return writer{refusals{}, o.kept} }

type subResource struct {
	client.SubResourceReader
	refusals
}

// writer keeps statuses in place of writing them.
type writer struct {
	refusals

	kept *statuses
}

// Update keeps the status of an object, which stays of its resource version: to the hub nothing has happened.
func (w writer) Update(_ context.Context, object client.Object, _ ...client.SubResourceUpdateOption) error {
	w.kept.keep(object)
	return nil
}

// refusals refuse every write of a subresource.
type refusals struct{}

func (refusals) Create(_ context.Context, object, _ client.Object, _ ...client.SubResourceCreateOption) error {
	return refused("created a part of", object)
}

func (refusals) Update(_ context.Context, object client.Object, _ ...client.SubResourceUpdateOption) error {
	return refused("updated in part", object)
}

func (refusals) Patch(_ context.Context, object client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
	return refused("patched in part", object)
}

func (refusals) Apply(context.Context, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
	return refused("applied in part", nil)
}

// refused is what an API server says to who may only read.
func refused(done string, object client.Object) error {
	name := ""
	if object != nil {
		name = object.GetName()
	}
	return apierrors.NewForbidden(schema.GroupResource{}, name, fmt.Errorf("%T was not %s: this program only observes", object, done))
}

// reader shows objects.
type reader struct {
	client.Reader

	kept *statuses
}

func (r reader) Get(ctx context.Context, of client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	err := r.Reader.Get(ctx, of, into, opts...)
	switch {
	case apierrors.IsNotFound(err):
		r.kept.forget(into, of)
	case err == nil:
		r.kept.show(into)
	}
	return err
}

func (r reader) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := r.Reader.List(ctx, list, opts...); err != nil {
		return err
	}
	return meta.EachListItem(list, func(item runtime.Object) error {
		if object, is := item.(client.Object); is {
			r.kept.show(object)
		}
		return nil
	})
}

// statuses are those that objects would have, by what they are of.
type statuses struct {
	mu    sync.Mutex
	byKey map[key]client.Object
}

// key names an object of one of the kinds that controllers write statuses of.
type key struct {
	kind string
	of   client.ObjectKey
}

func keyOf(object client.Object, of client.ObjectKey) key { return key{fmt.Sprintf("%T", object), of} }

func (s *statuses) keep(object client.Object) {
	kept := object.DeepCopyObject().(client.Object)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byKey[keyOf(object, client.ObjectKeyFromObject(object))] = kept
}

func (s *statuses) forget(object client.Object, of client.ObjectKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byKey, keyOf(object, of))
}

// of returns the object as it was kept, which is not to be changed; nil: it was not, or the one that was is gone.
func (s *statuses) of(object client.Object) client.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.byKey[keyOf(object, client.ObjectKeyFromObject(object))]
	if kept == nil || kept.GetUID() != object.GetUID() {
		return nil
	}
	return kept
}

// show makes an object what controllers see, and people: it only observes, its status is the one that was kept, and nobody else wrote
// that.
func (s *statuses) show(object client.Object) {
	kept := s.of(object)
	switch o := object.(type) {
	case *v1alpha1.FederatedHPA:
		o.Spec.Mode = observing(o.Spec.Mode)
		if k, is := kept.(*v1alpha1.FederatedHPA); is {
			o.Status = *k.Status.DeepCopy()
		}
	case *v1alpha1.MultidimPodAutoscaler:
		o.Spec.Mode = observing(o.Spec.Mode)
		if k, is := kept.(*v1alpha1.MultidimPodAutoscaler); is {
			o.Status = *k.Status.DeepCopy()
		}
	case *v1alpha1.CronFederatedHPA:
		if k, is := kept.(*v1alpha1.CronFederatedHPA); is {
			o.Status = *k.Status.DeepCopy()
		}
	default:
		return
	}
	object.SetManagedFields(slices.DeleteFunc(slices.Clone(object.GetManagedFields()), ofStatus)) // the list may be the cache's
}

// observing is the mode of an object that is shown: one that its owner paused is not decided on.
func observing(mode v1alpha1.AutoscalingMode) v1alpha1.AutoscalingMode {
	if mode == v1alpha1.ModePaused {
		return mode
	}
	return v1alpha1.ModeObserve
}

func ofStatus(entry metav1.ManagedFieldsEntry) bool { return entry.Subresource == "status" }
