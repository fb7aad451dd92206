// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/memberhpa"
)

// change is one write to one cluster; one field besides result is set.
type change struct {
	result *result
	remove *autoscalingv2.HorizontalPodAutoscaler
	write  *autoscalingv2.HorizontalPodAutoscaler
	make   *unstructured.Unstructured
	scale  *int32
}

// less are the changes by which clusters get less, or as much as they have; more are those by which they get more. Within
// a cluster their order is that in which they are to be written.
func (o *outcome) less() [][]change { return o.each((*result).less) }
func (o *outcome) more() [][]change { return o.each((*result).more) }

func (o *outcome) each(of func(*result, *situation) []change) [][]change {
	var all [][]change
	for r := range sight.Pointers(o.results) {
		if r.here() {
			if changes := of(r, &o.situation); len(changes) > 0 {
				all = append(all, changes)
			}
		}
	}
	return all
}

// replaced: the others have taken the place of the cluster over, so what it was to get in addition is theirs.
func (in *situation) replaced(s *site, next assignment.SiteStep) bool {
	switch s.presence {
	case assignment.Silent:
		return s.drained() || in.Now.Sub(next.Since) >= in.options.Grace
	case assignment.Refusing:
		return s.drained() || in.gaveUp(s)
	default:
		return false
	}
}

func (r *result) less(in *situation) []change {
	var changes []change
	if r.goesToZero() && !r.ofScale.Paused(in.Now) {
		changes = append(changes, change{result: r, scale: r.next.Scale})
	}
	for _, further := range r.further(r.next) {
		changes = append(changes, change{result: r, remove: further})
	}
	switch {
	case r.own == nil, r.contested:
	case r.next.Max == 0 && r.owns():
		changes = append(changes, change{result: r, remove: r.own})
	case r.next.Max > 0 && r.next.Max <= r.own.Spec.MaxReplicas:
		if wanted := r.rendered(in, r.next); !memberhpa.Stands(r.own, wanted, r.Autoscalers.Version) {
			changes = append(changes, change{result: r, write: wanted})
		}
	}
	return changes
}

// further are the autoscalers that go beside the one that stays. One that was given to us stays with its giver where the
// cluster has no part.
func (s *site) further(next assignment.SiteStep) []*autoscalingv2.HorizontalPodAutoscaler {
	if next.Max > 0 {
		return s.surplus
	}
	return slices.DeleteFunc(slices.Clone(s.surplus), func(hpa *autoscalingv2.HorizontalPodAutoscaler) bool {
		return !claims.Ours(hpa, s.owner)
	})
}

func (r *result) more(in *situation) []change {
	var changes []change
	replaced := in.replaced(&r.site, r.next)
	if r.next.Max == 0 || replaced && r.own == nil {
		return nil
	}
	if r.template != nil && !replaced && r.knowsHowMany(r.next) {
		changes = append(changes, change{result: r, make: withReplicas(r.template, ptr.Deref(r.next.Scale, 0))})
	}
	if !r.contested && (r.own == nil || r.next.Max > r.own.Spec.MaxReplicas && !replaced) {
		changes = append(changes, change{result: r, write: r.rendered(in, r.next)})
	}
	if r.leavesZero() && !r.ofScale.Paused(in.Now) {
		changes = append(changes, change{result: r, scale: r.next.Scale})
	}
	return changes
}

// goesToZero: the workload runs, and is to be scaled to zero.
func (r *result) goesToZero() bool {
	return r.next.Scale != nil && *r.next.Scale == 0 && r.current() > 0
}

// leavesZero: the workload is there at zero replicas, and is to be scaled to more.
func (r *result) leavesZero() bool {
	return r.next.Scale != nil && *r.next.Scale > 0 && r.Scale != nil && r.current() == 0
}

// knowsHowMany replicas a workload that is made is to begin with.
func (s *site) knowsHowMany(next assignment.SiteStep) bool {
	return next.Scale != nil || s.presence == assignment.Present
}

// rendered is the cluster's autoscaler as it is to be.
func (s *site) rendered(in *situation, next assignment.SiteStep) *autoscalingv2.HorizontalPodAutoscaler {
	next.Bumped = next.Bumped && in.native()
	hpa := memberhpa.Render(in.Object, s.name, next)
	if hub := in.hub; hub != "" {
		if in.Object.Spec.DeletionPolicy == v1alpha1.DeletionPolicyOrphan {
			hub = "" // said, and not left out, so that what it was before does not stay
		}
		hpa.Annotations[v1alpha1.RemovedByAnnotation] = hub
	}
	return hpa
}

func withReplicas(template *unstructured.Unstructured, n int32) *unstructured.Unstructured {
	made := template.DeepCopy()
	// The template came from an API server, so its spec is an object.
	_ = unstructured.SetNestedField(made.Object, int64(n), "spec", "replicas")
	return made
}

// grows: it gives the cluster more than its autoscaler allows, and not only replicas from zero.
func (c change) grows() bool {
	return c.scale == nil || c.result.own == nil || *c.scale > c.result.own.Spec.MaxReplicas
}

// mayGrow: no cluster that counts still has a greater maximum than it is assigned, or more than one of ours.
func (o *outcome) mayGrow() bool {
	for r := range sight.Pointers(o.results) {
		if o.counts(r) && (len(r.further(r.next)) > 0 || r.mayExceed(r.next.Max)) {
			return false
		}
	}
	return true
}

// counts: nothing grows while the cluster still exceeds its assigned maximum. One that is silent, or does not let our autoscaler
// shrink or go, does not hold the others back forever; one that is drained does not at all.
func (o *outcome) counts(r *result) bool {
	switch r.presence {
	case assignment.Silent, assignment.Refusing:
		return !o.replaced(&r.site, r.next)
	case assignment.Leaving:
		return o.Now.Sub(r.next.Since) < o.options.Grace || r.here() && r.failure == ""
	default:
		return !r.drained() || r.failure == ""
	}
}

// mayExceed: our autoscaler there has a greater maximum. Where that is not known, it may.
func (s *site) mayExceed(upper int32) bool {
	if s.own == nil {
		return !s.Autoscalers.Known && s.mayHave()
	}
	return s.stands() > upper
}

// mayHave: as far as the status says, the cluster has an autoscaler of ours.
func (s *site) mayHave() bool { return s.assigned.upper > 0 || s.Before.HPA != nil }

// held reports whether an autoscaler may not scale down.
func held(hpa *autoscalingv2.HorizontalPodAutoscaler) bool {
	if hpa == nil || hpa.Spec.Behavior == nil || hpa.Spec.Behavior.ScaleDown == nil {
		return false
	}
	policy := hpa.Spec.Behavior.ScaleDown.SelectPolicy
	return policy != nil && *policy == autoscalingv2.DisabledPolicySelect
}
