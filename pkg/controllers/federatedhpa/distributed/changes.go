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

// change is one write to one cluster; one field besides site is set.
type change struct {
	site   *site
	remove *autoscalingv2.HorizontalPodAutoscaler
	write  *autoscalingv2.HorizontalPodAutoscaler
	make   *unstructured.Unstructured
	scale  *int32
}

// less are the changes by which clusters get less, or as much as they have; more are those by which they get more. Within
// a cluster their order is that in which they are to be written.
func (in *situation) less() [][]change { return in.each((*site).less) }
func (in *situation) more() [][]change { return in.each((*site).more) }

func (in *situation) each(of func(*site, *situation) []change) [][]change {
	var all [][]change
	for s := range sight.Pointers(in.sites) {
		if s.here() {
			if changes := of(s, in); len(changes) > 0 {
				all = append(all, changes)
			}
		}
	}
	return all
}

// replaced: the others have taken the place of the cluster over, so what it was to get in addition is theirs.
func (in *situation) replaced(s *site) bool {
	switch s.presence {
	case assignment.Silent:
		return s.Drained() || in.Now.Sub(s.next.Since) >= in.options.Grace
	case assignment.Refusing:
		return s.Drained() || in.gaveUp(s)
	default:
		return false
	}
}

func (s *site) less(in *situation) []change {
	var changes []change
	if s.goesToZero() && !s.ofScale.Paused(in.Now) {
		changes = append(changes, change{site: s, scale: s.next.Scale})
	}
	for _, further := range s.further() {
		changes = append(changes, change{site: s, remove: further})
	}
	switch {
	case s.own == nil, s.contested:
	case s.next.Max == 0 && s.owns():
		changes = append(changes, change{site: s, remove: s.own})
	case s.next.Max > 0 && s.next.Max <= s.own.Spec.MaxReplicas:
		if wanted := s.rendered(in, s.next); !memberhpa.Stands(s.own, wanted, s.Autoscalers.Version) {
			changes = append(changes, change{site: s, write: wanted})
		}
	}
	return changes
}

// further are the autoscalers that go beside the one that stays. One that was given to us stays with its giver where the
// cluster has no part.
func (s *site) further() []*autoscalingv2.HorizontalPodAutoscaler {
	if s.next.Max > 0 {
		return s.surplus
	}
	return slices.DeleteFunc(slices.Clone(s.surplus), func(hpa *autoscalingv2.HorizontalPodAutoscaler) bool {
		return !claims.Ours(hpa, s.owner)
	})
}

func (s *site) more(in *situation) []change {
	var changes []change
	replaced := in.replaced(s)
	if s.next.Max == 0 || replaced && s.own == nil {
		return nil
	}
	if s.template != nil && !replaced && s.knowsHowMany() {
		changes = append(changes, change{site: s, make: withReplicas(s.template, ptr.Deref(s.next.Scale, 0))})
	}
	if !s.contested && (s.own == nil || s.next.Max > s.own.Spec.MaxReplicas && !replaced) {
		changes = append(changes, change{site: s, write: s.rendered(in, s.next)})
	}
	if s.leavesZero() && !s.ofScale.Paused(in.Now) {
		changes = append(changes, change{site: s, scale: s.next.Scale})
	}
	return changes
}

// goesToZero: the workload runs, and is to be scaled to zero.
func (s *site) goesToZero() bool {
	return s.next.Scale != nil && *s.next.Scale == 0 && s.current() > 0
}

// leavesZero: the workload is there at zero replicas, and is to be scaled to more.
func (s *site) leavesZero() bool {
	return s.next.Scale != nil && *s.next.Scale > 0 && s.Scale != nil && s.current() == 0
}

// knowsHowMany replicas a workload that is made is to begin with.
func (s *site) knowsHowMany() bool {
	return s.next.Scale != nil || s.presence == assignment.Present
}

// rendered is the cluster's autoscaler as it is to be by this step.
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
	return c.scale == nil || c.site.own == nil || *c.scale > c.site.own.Spec.MaxReplicas
}

// mayGrow: no cluster that counts still has a greater maximum than it is assigned, or more than one of ours.
func (in *situation) mayGrow() bool {
	for s := range sight.Pointers(in.sites) {
		if in.counts(s) && (len(s.further()) > 0 || s.mayExceed(s.next.Max)) {
			return false
		}
	}
	return true
}

// counts: nothing grows while the cluster still exceeds its assigned maximum. One that is silent, or does not let our autoscaler
// shrink or go, does not hold the others back forever; one that is drained does not at all.
func (in *situation) counts(s *site) bool {
	switch s.presence {
	case assignment.Silent, assignment.Refusing:
		return !in.replaced(s)
	case assignment.Leaving:
		return in.Now.Sub(s.next.Since) < in.options.Grace || s.here() && s.failure == ""
	default:
		return !s.Drained() || s.failure == ""
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
func (s *site) mayHave() bool { return s.last.Max > 0 || s.Before.HPA != nil }

// held reports whether an autoscaler may not scale down.
func held(hpa *autoscalingv2.HorizontalPodAutoscaler) bool {
	if hpa == nil || hpa.Spec.Behavior == nil || hpa.Spec.Behavior.ScaleDown == nil {
		return false
	}
	policy := hpa.Spec.Behavior.ScaleDown.SelectPolicy
	return policy != nil && *policy == autoscalingv2.DisabledPolicySelect
}
