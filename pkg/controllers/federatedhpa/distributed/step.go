// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"slices"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/taints"
	"k8s.io/utils/ptr"
)

// finish completes the step of one cluster by what package assignment does not ask: what kind of absence it is, and what
// was ordered and could not be done.
func (s *site) finish(in *situation, step *assignment.Step) {
	next := step.Sites[s.Facts.Name]
	switch s.presence {
	case assignment.Present:
		s.finishPresent(in, step, &next)
		if in.native() && !next.Bumped && next.Max > 0 && next.Scale == nil && s.isEmpty() {
			next.Scale = new(next.Min) // it may no longer be at zero, and its own autoscaler does not begin there
		}
	case assignment.Refusing:
		next.Scale, next.Bumped = s.begins(next.Max), next.Min == 1 && s.own != nil && s.mayBeEmpty()
	case assignment.Silent:
		s.finishSilent(in, &next)
	case assignment.Leaving:
		s.finishLeaving(in, &next)
	}
	step.Sites[s.Facts.Name] = next
}

func (s *site) finishPresent(in *situation, step *assignment.Step, next *assignment.SiteStep) {
	if s.own != nil && in.native() && in.waits(step) {
		next.Bumped = next.Min == 1 && s.mayBeEmpty() // the one that is not in sight may be empty
	}
	switch {
	case in.native() && next.Bumped && !s.lacks():
		next.Scale = nil // its own autoscaler sees to it
	case next.Scale != nil || next.Max == 0:
	case s.current() == 0 && s.begins(next.Max) != nil:
		next.Scale = s.begins(next.Max) // it was to begin, and has not yet, whatever the spec has become since
	case s.lacks() && next.State != v1alpha1.ClusterScaledToZero:
		next.Scale = new(next.Min) // somebody deleted the workload: it is made again, and runs
	}
	if s.beginsUnwanted(next.Scale) {
		next.Scale = nil
	}
}

// beginsUnwanted: a cluster that is cordoned or drained, and runs nothing, would begin.
func (s *site) beginsUnwanted(scale *int32) bool {
	return s.Standing.Standing != taints.Free && s.current() == 0 && scale != nil && *scale > 0
}

// begins is with how many replicas the cluster is still to begin, of at most so many that it may run by now. An order to
// run nothing that still holds stays one.
func (s *site) begins(most int32) *int32 {
	order := s.order()
	if order == nil || *order > 0 && most == 0 {
		return nil
	}
	return new(min(*order, most))
}

// isEmpty: its autoscaler was free to run nothing, and runs nothing.
func (s *site) isEmpty() bool {
	return s.Scale != nil && s.current() == 0 && s.own != nil && s.mayBeEmpty()
}

func (s *site) finishSilent(in *situation, next *assignment.SiteStep) {
	if next.Scale = s.order(); s.Before.State == v1alpha1.ClusterScaledToZero {
		next.Scale = new(int32(0)) // so that it is known when the cluster is back
	}
	s.keepAsIs(in, next)
	if in.replaced(s, *next) && s.here() && s.own == nil {
		next.Min, next.Max = 0, 0 // it has none, and the others have its part
	}
}

func (s *site) finishLeaving(in *situation, next *assignment.SiteStep) {
	if s.state == next.State {
		return
	}
	next.State, next.Since = s.state, in.Now
	if s.Before.State == s.state && s.Before.Since != nil {
		next.Since = s.Before.Since.Time
	}
}

// keepAsIs preserves the autoscaler of a cluster that is not in sight, except for its bounds, which may not be applied yet.
func (s *site) keepAsIs(in *situation, next *assignment.SiteStep) {
	if s.own == nil {
		return
	}
	next.Hold, next.Bumped = held(s.own), next.Min == 1 && s.mayBeEmpty()
	b := s.own.Spec.Behavior
	if in.Object.Spec.FederatedHPAAssignment.ScaleDownOrder == v1alpha1.ScaleDownBestEffort && b != nil && b.ScaleDown != nil {
		next.Window = time.Duration(ptr.Deref(b.ScaleDown.StabilizationWindowSeconds, 0)) * time.Second
	}
}

// mayBeEmpty: its autoscaler may run nothing.
func (s *site) mayBeEmpty() bool {
	return s.own.Spec.MinReplicas != nil && *s.own.Spec.MinReplicas == 0
}

// waits: a cluster is silent that may be back at once.
func (in *situation) waits(step *assignment.Step) bool {
	return slices.ContainsFunc(in.sites, func(s site) bool {
		return s.presence == assignment.Silent && !in.replaced(&s, step.Sites[s.Facts.Name])
	})
}
