// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"errors"
	"fmt"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/memberhpa"
	"github.com/fleetscale/fleetscale/pkg/workload"
)

// clear takes away what we made in clusters that have no part any more: the workload, once the other clusters run what
// they should. A workload that others made stays, with its replicas.
func (r *Reconciler) clear(ctx context.Context, in *situation, step *assignment.Step) error {
	if !in.settled(step) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.MemberTimeout)
	defer cancel()
	together(in.sites, func(s *site) {
		if in.leavesBehind(s, step) {
			s.fault = r.removeWorkload(ctx, in, s)
		}
	})
	var faults []error
	for i := range in.sites {
		faults = append(faults, in.sites[i].fault)
	}
	return errors.Join(faults...)
}

// settled: every cluster that takes part is in sight, has its bounds, and all that it runs is Ready.
func (in *situation) settled(step *assignment.Step) bool {
	runs := int64(0)
	for i := range in.sites {
		s := &in.sites[i]
		next := step.Sites[s.facts.Name]
		switch {
		case s.presence == assignment.Silent, s.presence == assignment.Refusing:
			return false
		case s.presence == assignment.Leaving:
			continue
		case next.Scale != nil || !s.has(in.object, next.Min, next.Max) || int32(s.listing.Ready()) < s.current():
			return false
		}
		runs += int64(s.current())
	}
	return runs > 0 && runs >= int64(*in.object.Spec.MinReplicas)
}

// leavesBehind: a cluster without a part that can be asked what there is of the workload.
func (in *situation) leavesBehind(s *site, step *assignment.Step) bool {
	return step.Sites[s.facts.Name].Max == 0 && s.here() && !s.absent && !s.cleared && s.own == nil && s.state != v1alpha1.ClusterConflict
}

// removeWorkload deletes the workload if we made it.
func (r *Reconciler) removeWorkload(ctx context.Context, in *situation, s *site) error {
	found, err := s.cluster.Get(ctx, in.object.Namespace, in.object.Spec.ScaleTargetRef)
	if err != nil {
		silence, absent := fleet.Classify(err)
		if s.cleared = absent; absent {
			return nil
		}
		return fmt.Errorf("cluster %s: reading what was made there: %w", s.facts.Name, silence)
	}
	if !claims.Ours(found, in.object.UID) {
		s.cleared = true
		return nil
	}
	if err := s.cluster.Remove(ctx, found); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("cluster %s: deleting what was made there: %w", s.facts.Name, err)
	}
	s.cleared = true
	r.event(in.object, corev1.EventTypeNormal, eventWorkloadRemoved, fmt.Sprintf("%s, which was made for cluster %s, is deleted there", workload.Describe(in.object.Spec.ScaleTargetRef), s.facts.Name))
	return nil
}

// Leave takes the autoscalers out of the members, for an object that is of central mode now, and says whether all are
// gone. No replica goes with them. Where it has to wait, the status says for whom.
func (r *Reconciler) Leave(ctx context.Context, object *v1alpha1.FederatedHPA) (left bool, err error) {
	if err := r.current(ctx, object); err != nil {
		return false, err
	}
	if waiting := r.withdraw(ctx, object, false); len(waiting) > 0 {
		return false, r.wait(ctx, object, waiting)
	}
	status := *object.Status.DeepCopy()
	status.Assignment, status.Conditions, status.Clusters = nil, nil, nil
	if err := r.store(ctx, object, status); err != nil {
		return false, err
	}
	object.Status = status
	return true, r.unbind(ctx, object)
}

// release lets an object go that is being deleted: its autoscalers go first, or become nobody's. As long as it keeps its
// finalizer it waits, and the status says for whom.
func (r *Reconciler) release(ctx context.Context, object *v1alpha1.FederatedHPA) error {
	if !controllerutil.ContainsFinalizer(object, v1alpha1.MemberAutoscalersFinalizer) {
		return nil
	}
	orphan := object.Spec.DeletionPolicy == v1alpha1.DeletionPolicyOrphan
	if waiting := r.withdraw(ctx, object, orphan); len(waiting) > 0 {
		return r.wait(ctx, object, waiting)
	}
	return r.unbind(ctx, object)
}

// wait says for which clusters an object waits.
func (r *Reconciler) wait(ctx context.Context, object *v1alpha1.FederatedHPA, clusters []string) error {
	return r.rest(ctx, object, reasonWaiting, fmt.Sprintf("HorizontalPodAutoscalers are still in clusters that cannot be written: %s; they go when the clusters are back; for one that does not come back, delete its registration", strings.Join(clusters, ", ")))
}

// rest leaves all as it is. The status says why, and an Event, if it is something else than before.
func (r *Reconciler) rest(ctx context.Context, object *v1alpha1.FederatedHPA, reason, message string) error {
	in := &situation{object: object, now: r.Clock.Now(), fault: &fault{reason, message}}
	return r.record(ctx, in, &assignment.Step{})
}

// withdraw deletes the object's autoscalers in all registered clusters, or makes them nobody's, and returns the clusters
// where that is not possible now, with what they say.
func (r *Reconciler) withdraw(ctx context.Context, object *v1alpha1.FederatedHPA, orphan bool) (waiting []string) {
	ctx, cancel := context.WithTimeout(ctx, r.MemberTimeout)
	defer cancel()
	var sites []site
	for _, cluster := range r.Fleet.Clusters() {
		sites = append(sites, newSite(object, cluster))
	}
	r.memories.remind(object, sites, r.Clock.Now())
	together(sites, func(s *site) {
		s.readAutoscalers(ctx, object)
		if s.own != nil {
			s.surplus = append(s.surplus, s.own)
		}
		for _, hpa := range s.surplus {
			if s.here() && claims.Ours(hpa, object.UID) {
				s.fault = errors.Join(s.fault, s.give(ctx, object, hpa, orphan))
			}
		}
	})
	for i := range sites {
		s := &sites[i]
		switch mayHave := s.mayHave() || len(s.surplus) > 0; {
		case s.fault != nil:
			waiting = append(waiting, fmt.Sprintf("%s (%v)", s.facts.Name, s.fault))
		case !s.here() && mayHave:
			waiting = append(waiting, s.facts.Name)
		}
	}
	return waiting
}

// give deletes an autoscaler, or makes it nobody's. Nobody would let one go that is held.
func (s *site) give(ctx context.Context, object *v1alpha1.FederatedHPA, hpa *autoscalingv2.HorizontalPodAutoscaler, orphan bool) error {
	if !orphan {
		return s.cluster.Delete(ctx, hpa)
	}
	free := hpa.DeepCopy()
	delete(free.Labels, v1alpha1.ManagedByLabel)
	if held(free) {
		free.Spec.Behavior = memberhpa.Render(object, memberhpa.Part{Name: free.Name, Min: 1, Max: 1}).Spec.Behavior
	}
	_, err := s.cluster.Apply(ctx, free)
	return err
}

func (r *Reconciler) unbind(ctx context.Context, object *v1alpha1.FederatedHPA) error {
	return r.patchFinalizers(ctx, object, func() { controllerutil.RemoveFinalizer(object, v1alpha1.MemberAutoscalersFinalizer) })
}
