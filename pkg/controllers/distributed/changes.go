// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/claims"
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
func (in *situation) less(step *assignment.Step) [][]change { return in.each(step, (*site).less) }
func (in *situation) more(step *assignment.Step) [][]change { return in.each(step, (*site).more) }

// replaced: the others have taken the place of the cluster over, so what it was to get in addition is theirs.
func (in *situation) replaced(s *site, next assignment.SiteStep) bool {
	switch s.presence {
	case assignment.Silent:
		return in.now.Sub(next.Since) >= in.options.Grace
	case assignment.Refusing:
		return in.gaveUp(s)
	default:
		return false
	}
}

func (in *situation) each(step *assignment.Step, of func(*site, *situation, assignment.SiteStep) []change) [][]change {
	var all [][]change
	for i := range in.sites {
		s := &in.sites[i]
		next, decided := step.Sites[s.facts.Name]
		if !decided || !s.here() {
			continue
		}
		if changes := of(s, in, next); len(changes) > 0 {
			all = append(all, changes)
		}
	}
	return all
}

func (s *site) less(in *situation, next assignment.SiteStep) []change {
	var changes []change
	if next.Scale != nil && *next.Scale == 0 && s.current() > 0 {
		changes = append(changes, change{site: s, scale: next.Scale})
	}
	for _, further := range s.further(in, next) {
		changes = append(changes, change{site: s, remove: further})
	}
	switch {
	case s.own == nil:
	case next.Max == 0 && claims.Ours(s.own, in.object.UID):
		changes = append(changes, change{site: s, remove: s.own})
	case next.Max > 0 && next.Max <= s.own.Spec.MaxReplicas:
		if wanted := s.rendered(in, next); !memberhpa.Stands(s.own, wanted, s.autoscalers.Version) {
			changes = append(changes, change{site: s, write: wanted})
		}
	}
	return changes
}

// further are the autoscalers that go beside the one that stays. One that was given to us stays with its giver where the
// cluster has no part.
func (s *site) further(in *situation, next assignment.SiteStep) []*autoscalingv2.HorizontalPodAutoscaler {
	if next.Max > 0 {
		return s.surplus
	}
	return slices.DeleteFunc(slices.Clone(s.surplus), func(hpa *autoscalingv2.HorizontalPodAutoscaler) bool {
		return !claims.Ours(hpa, in.object.UID)
	})
}

func (s *site) more(in *situation, next assignment.SiteStep) []change {
	var changes []change
	replaced := in.replaced(s, next)
	if next.Max == 0 || replaced && s.own == nil {
		return nil
	}
	if s.absent && in.template != nil && !replaced && s.knowsHowMany(next) {
		changes = append(changes, change{site: s, make: withReplicas(in.template, value(next.Scale))})
	}
	if s.own == nil || next.Max > s.own.Spec.MaxReplicas && !replaced {
		changes = append(changes, change{site: s, write: s.rendered(in, next)})
	}
	if next.Scale != nil && *next.Scale > 0 && s.scale != nil && s.current() == 0 {
		changes = append(changes, change{site: s, scale: next.Scale})
	}
	return changes
}

// knowsHowMany replicas a workload that is made is to begin with.
func (s *site) knowsHowMany(next assignment.SiteStep) bool {
	return next.Scale != nil || s.presence == assignment.Present
}

// rendered is the cluster's autoscaler as it is to be.
func (s *site) rendered(in *situation, next assignment.SiteStep) *autoscalingv2.HorizontalPodAutoscaler {
	return memberhpa.Render(in.object, memberhpa.Part{
		Name: s.name, Min: next.Min, Max: next.Max, Hold: next.Hold, Window: next.Window, FromZero: next.Bumped && in.native(),
	})
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

// mayGrow: no cluster that counts still has a greater maximum than it is to have, or more than one of ours.
func (in *situation) mayGrow(step *assignment.Step) bool {
	for i := range in.sites {
		s := &in.sites[i]
		next := step.Sites[s.facts.Name]
		if in.counts(s, next) && (len(s.further(in, next)) > 0 || s.mayExceed(in, next.Max)) {
			return false
		}
	}
	return true
}

// counts: nothing grows while the cluster has more than it is to have. One that is silent, or does not let our autoscaler
// shrink or go, does not hold the others back for ever.
func (in *situation) counts(s *site, next assignment.SiteStep) bool {
	switch s.presence {
	case assignment.Silent, assignment.Refusing:
		return !in.replaced(s, next)
	case assignment.Leaving:
		return in.now.Sub(next.Since) < in.options.Grace || s.here() && s.failure == ""
	default:
		return true
	}
}

// mayExceed: our autoscaler there has a greater maximum. Where that is not known, it may.
func (s *site) mayExceed(in *situation, upper int32) bool {
	if s.own == nil {
		return !s.autoscalers.Known && s.mayHave()
	}
	return claims.Ours(s.own, in.object.UID) && s.own.Spec.MaxReplicas > upper
}

// mayHave: as far as the status says, the cluster has an autoscaler of ours.
func (s *site) mayHave() bool { return value(s.before.AssignedMax) > 0 || s.before.HPA != nil }

// held says whether an autoscaler may not scale down.
func held(hpa *autoscalingv2.HorizontalPodAutoscaler) bool {
	if hpa == nil || hpa.Spec.Behavior == nil || hpa.Spec.Behavior.ScaleDown == nil {
		return false
	}
	policy := hpa.Spec.Behavior.ScaleDown.SelectPolicy
	return policy != nil && *policy == autoscalingv2.DisabledPolicySelect
}
