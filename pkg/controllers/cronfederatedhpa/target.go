// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/scale"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

// fieldManager owns in managedFields what the rules set.
const fieldManager = "fleetscale-cron"

// target is what the rules set, as it was read.
type target interface {
	// state is what a decision needs to know of it.
	state() cronplan.Target
	// set writes values. It is a conflict if the target was changed since it
	// was read.
	set(ctx context.Context, v cronplan.Values) error
}

// bounds are those of an autoscaler of ours.
type bounds struct {
	hub client.Writer
	of  client.Object
}

func (b bounds) state() cronplan.Target { return cronplan.BoundsOf(b.of) }

// set sends only what changes, so that fields which this program does not know
// stay as they are.
func (b bounds) set(ctx context.Context, v cronplan.Values) error {
	after := b.of.DeepCopyObject().(client.Object)
	cronplan.BoundsIn(after).Set(v)
	patch := client.MergeFromWithOptions(b.of, client.MergeFromWithOptimisticLock{})
	return b.hub.Patch(ctx, after, patch, client.FieldOwner(fieldManager))
}

// onHub is anything that has a scale subresource, on the hub.
type onHub struct {
	hub      scale.ScaleInterface // of its namespace
	resource schema.GroupResource
	scale    *autoscalingv1.Scale
	// clusters are those that are to follow it, and memory what is known of them.
	clusters []selection.Cluster
	memory   *fleetMemory
	// unread is why it is not known which clusters there are; nil: it is.
	unread error
	object *v1alpha1.CronFederatedHPA
}

func (w onHub) state() cronplan.Target {
	t := cronplan.Target{
		Checked: true, Has: cronplan.Values{cronplan.Replicas: &w.scale.Spec.Replicas}, ScaledThere: conflicts(w.object, w.clusters),
	}
	if w.object.Spec.ReplicaDistribution != nil { // which is not ours to do there
		t.Trouble = cronplan.DividedByOthers(w.object.Spec.ScaleTargetRef)
	}
	return t
}

func (w onHub) set(ctx context.Context, v cronplan.Values) error {
	after := w.scale.DeepCopy()
	after.Spec.Replicas = *v[cronplan.Replicas]
	_, err := w.hub.Update(ctx, w.resource, after, metav1.UpdateOptions{FieldManager: fieldManager})
	if err == nil {
		w.memory.before = followers(w.clusters).Sum()
	}
	return err
}

// readBounds reads the autoscaler whose bounds the rules set.
func readBounds(ctx context.Context, hub client.Reader, writer client.Writer, object *v1alpha1.CronFederatedHPA) (target, error) {
	var found client.Object = &v1alpha1.FederatedHPA{}
	if object.Spec.ScaleTargetRef.Kind == v1alpha1.MultidimPodAutoscalerKind {
		found = &v1alpha1.MultidimPodAutoscaler{}
	}
	key := client.ObjectKey{Namespace: object.Namespace, Name: object.Spec.ScaleTargetRef.Name}
	if err := hub.Get(ctx, key, found); err != nil {
		return nil, err
	}
	return bounds{hub: writer, of: found}, nil
}

// readWorkload reads the scale subresource of what the rules set: on the hub, or, if the hub lacks it, in the clusters.
func (r *Reconciler) readWorkload(ctx context.Context, object *v1alpha1.CronFederatedHPA, asks bool) (target, error) {
	w, missing := r.readOnHub(ctx, object)
	memory := &r.memories.Of(object).fleet
	now := r.Clock.Now()
	switch {
	case missing != nil && !r.lacking(object, missing):
		return nil, missing
	case missing == nil:
		memory.absence = workload.Absence{}
	case memory.absence.Why != nil && memory.generation == object.Generation && !asks && !memory.absence.Due(now):
		return nil, memory.absence.Why
	}
	clusters, of, err := r.readClusters(ctx, object)
	if missing == nil { // that the hub is told is not held up
		w.clusters, w.memory, w.unread = clusters, memory, err
		return w, nil
	}
	if err != nil {
		return nil, err
	}
	memory.learn(clusters)
	if err := nowhere(missing, clusters, of); err != nil {
		memory.lack(err, object.Generation, now)
		return nil, err
	}
	memory.absence = workload.Absence{}
	return inMembers{object: object, clusters: clusters, memory: memory, timeout: r.Fleet.Timeout}, nil
}

// lack notes that nobody has the workload.
func (m *fleetMemory) lack(why error, generation int64, now time.Time) {
	if m.absence.Why == nil || m.generation != generation {
		m.absence.First = now
	}
	m.absence.Why, m.absence.Last, m.generation = why, now, generation
}

// lacking reports whether the hub has no such workload, or does not know its kind in any version: nobody propagates it from there.
func (r *Reconciler) lacking(object *v1alpha1.CronFederatedHPA, err error) bool {
	if !meta.IsNoMatchError(err) {
		return apierrors.IsNotFound(err)
	}
	ref := object.Spec.ScaleTargetRef
	served, err := r.Mapper.RESTMappings(schema.GroupKind{Group: claims.Group(ref), Kind: ref.Kind})
	return meta.IsNoMatchError(err) || err == nil && len(served) == 0
}

// readOnHub reads the scale subresource on the hub.
func (r *Reconciler) readOnHub(ctx context.Context, object *v1alpha1.CronFederatedHPA) (onHub, error) {
	ref := object.Spec.ScaleTargetRef
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return onHub{}, err
	}
	mapping, err := r.Mapper.RESTMapping(gv.WithKind(ref.Kind).GroupKind(), gv.Version)
	if err != nil {
		return onHub{}, err
	}
	w := onHub{hub: r.Scales.Scales(object.Namespace), resource: mapping.Resource.GroupResource(), object: object}
	w.scale, err = w.hub.Get(ctx, w.resource, ref.Name, metav1.GetOptions{})
	return w, err
}

// awaits returns why no cluster has changed anything yet although the target has so many replicas; nil: one has, or need not.
func awaits(object *v1alpha1.CronFederatedHPA, t target, replicas int32) *cronplan.Trouble {
	w, is := t.(onHub)
	if !is {
		return nil
	}
	f := followers(w.clusters)
	f.Unread, f.OnHub, f.Before = w.unread, w.scale.Status.Replicas, w.memory.before
	return f.Missing(object.Spec.ScaleTargetRef, replicas)
}
