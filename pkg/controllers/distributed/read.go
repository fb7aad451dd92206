// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"fmt"
	"math"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/memberhpa"
)

// read reads every cluster's autoscalers, and the scale of its workload.
func (r *Reconciler) read(ctx context.Context, in *situation) {
	ctx, cancel := context.WithTimeout(ctx, r.MemberTimeout)
	defer cancel()
	together(in.sites, func(s *site) {
		s.readAutoscalers(ctx, in.object)
		s.readScale(ctx, in.object)
	})
}

// readAutoscalers finds ours, and those that are in its place.
func (s *site) readAutoscalers(ctx context.Context, object *v1alpha1.FederatedHPA) {
	s.autoscalers = s.cluster.Autoscalers(ctx, object.Namespace)
	switch {
	case s.autoscalers.Silence != nil:
		s.silent(s.autoscalers.Silence)
	case !s.autoscalers.Known:
		s.silent(&fleet.Silence{Reason: fleet.ReasonTimeout, Detail: "its HorizontalPodAutoscalers have not been listed yet"})
	}
	found := s.sort(object)
	if why := s.unsupported(object); why != nil && s.inSight() {
		s.leaves(v1alpha1.ClusterExcluded, reasonNotSupported, why.Error())
	}
	if len(found) > 0 && s.inSight() {
		s.leaves(v1alpha1.ClusterConflict, reasonScaledByOthers, claims.InTheWay(found))
	}
}

// sort keeps what is ours of the autoscalers of the namespace, and returns the claims of others.
func (s *site) sort(object *v1alpha1.FederatedHPA) []claims.Claim {
	var found []claims.Claim
	asker := claims.InMember(object, true)
	for _, hpa := range s.autoscalers.Objects {
		switch {
		case s.removed != nil && hpa.UID == s.removed.UID: // what is known is from before
		case asker.Owns(claims.Of(hpa)):
			s.keep(newer(s.written, hpa))
		default:
			found = append(found, claims.On(asker, hpa)...)
		}
	}
	if s.own == nil && s.written != nil { // it will be seen
		s.keep(s.written)
	}
	return found
}

// unsupported is why the cluster can not have the object's autoscaler.
func (s *site) unsupported(object *v1alpha1.FederatedHPA) error {
	if !s.here() {
		return nil
	}
	_, err := memberhpa.Encode(memberhpa.Render(object, memberhpa.Part{Name: s.name, Min: 1, Max: 1}), s.autoscalers.Version)
	return err
}

// newer returns what we wrote, if what was read is from before.
func newer(written, read *autoscalingv2.HorizontalPodAutoscaler) *autoscalingv2.HorizontalPodAutoscaler {
	if written == nil || written.UID != read.UID {
		return read
	}
	if order, err := resourceversion.CompareResourceVersion(written.ResourceVersion, read.ResourceVersion); err == nil && order > 0 {
		return written
	}
	return read
}

// keep takes an autoscaler for ours; there can be only one.
func (s *site) keep(hpa *autoscalingv2.HorizontalPodAutoscaler) {
	if s.own != nil {
		s.surplus = append(s.surplus, hpa)
		return
	}
	s.own, s.name = hpa, hpa.Name
}

// readScale reads the workload's scale. A cluster without the workload takes no part, unless it is made there.
func (s *site) readScale(ctx context.Context, object *v1alpha1.FederatedHPA) {
	if s.presence == assignment.Leaving || !s.here() {
		return
	}
	scale, err := s.cluster.Scale(ctx, object.Namespace, object.Spec.ScaleTargetRef)
	if err == nil {
		s.scale = scale
		return
	}
	silence, absent := fleet.Classify(err)
	if s.absent = absent || meta.IsNoMatchError(err); !s.absent {
		s.silent(silence)
	}
}

// lookAtPods notes the workload's Pods, and what room there is for more.
func (r *Reconciler) lookAtPods(ctx context.Context, in *situation) {
	ctx, cancel := context.WithTimeout(ctx, r.MemberTimeout)
	defer cancel()
	byCapacity := slices.Contains([]v1alpha1.FederatedHPAAssignmentType{
		v1alpha1.AssignmentDynamicWeighted, v1alpha1.AssignmentAggregated, v1alpha1.AssignmentPrioritized,
	}, in.object.Spec.FederatedHPAAssignment.FederatedHPAAssignmentType)
	together(in.sites, func(s *site) {
		if !s.inSight() {
			return
		}
		if s.scale != nil {
			s.readPods(ctx, in.object.Namespace)
		}
		if byCapacity && s.inSight() {
			if n, known := s.cluster.Additional(ctx, in.object.Namespace, in.object.Spec.ScaleTargetRef, s.lacking(in)); known {
				s.additional = new(max(0, n-s.unborn()))
			}
		}
	})
}

func (s *site) readPods(ctx context.Context, namespace string) {
	selector, err := labels.Parse(s.scale.Status.Selector)
	if err != nil || selector.Empty() {
		s.leaves(v1alpha1.ClusterExcluded, reasonNoSelector, fmt.Sprintf("the workload's scale has no usable selector (%q), so its HorizontalPodAutoscaler could do nothing", s.scale.Status.Selector))
		return
	}
	if s.listing = s.cluster.Pods(ctx, namespace, selector); s.listing.Silent != nil {
		s.silent(s.listing.Silent)
	}
}

// unborn is how many replicas have no Pod yet: the room that they will take still seems free.
func (s *site) unborn() int32 {
	return max(0, s.current()-int32(min(len(s.listing.Pods), math.MaxInt32)))
}

// unschedulable is how many replicas found no node. Pods beyond the replicas, as those of a rollout, wait for others to
// leave.
func (s *site) unschedulable() int32 {
	beyond := max(0, len(s.listing.Pods)-int(s.current()))
	return int32(min(max(0, s.listing.Unschedulable-beyond), math.MaxInt32))
}
