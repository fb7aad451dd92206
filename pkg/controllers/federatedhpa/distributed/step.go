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
func (s *site) finish(in *situation) {
	switch s.presence {
	case assignment.Present:
		s.finishPresent(in)
		if in.native() && !s.next.Bumped && s.next.Max > 0 && s.next.Scale == nil && s.isEmpty() {
			s.next.Scale = new(s.next.Min) // it may no longer be at zero, and its own autoscaler does not begin there
		}
	case assignment.Refusing:
		s.next.Scale, s.next.Bumped = s.begins(s.next.Max), s.next.Min == 1 && s.own != nil && s.mayBeEmpty()
	case assignment.Silent:
		s.finishSilent(in)
	case assignment.Leaving:
		s.finishLeaving(in)
	}
}

func (s *site) finishPresent(in *situation) {
	if s.own != nil && in.native() && in.waits() {
		s.next.Bumped = s.next.Min == 1 && s.mayBeEmpty() // the one that is not in sight may be empty
	}
	switch {
	case in.native() && s.next.Bumped && !s.lacks():
		s.next.Scale = nil // its own autoscaler sees to it
	case s.next.Scale != nil || s.next.Max == 0:
	case s.current() == 0 && s.begins(s.next.Max) != nil:
		s.next.Scale = s.begins(s.next.Max) // it was to begin, and has not yet, whatever the spec has become since
	case s.lacks() && s.next.State != v1alpha1.ClusterScaledToZero:
		s.next.Scale = new(s.next.Min) // somebody deleted the workload: it is made again, and runs
	}
	if s.beginsUnwanted(s.next.Scale) {
		s.next.Scale = nil
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

func (s *site) finishSilent(in *situation) {
	if s.next.Scale = s.order(); s.Before.State == v1alpha1.ClusterScaledToZero {
		s.next.Scale = new(int32(0)) // so that it is known when the cluster is back
	}
	s.keepAsIs(in)
	if in.replaced(s) && s.here() && s.own == nil {
		s.next.Min, s.next.Max = 0, 0 // it has none, and the others have its part
	}
}

func (s *site) finishLeaving(in *situation) {
	if s.state == s.next.State {
		return
	}
	s.next.State, s.next.Since = s.state, in.Now
	if s.Before.State == s.state && s.Before.Since != nil {
		s.next.Since = s.Before.Since.Time
	}
}

// keepAsIs preserves the autoscaler of a cluster that is not in sight, except for its bounds, which may not be applied yet.
func (s *site) keepAsIs(in *situation) {
	if s.own == nil {
		return
	}
	s.next.Hold, s.next.Bumped = held(s.own), s.next.Min == 1 && s.mayBeEmpty()
	b := s.own.Spec.Behavior
	if in.Object.Spec.FederatedHPAAssignment.ScaleDownOrder == v1alpha1.ScaleDownBestEffort && b != nil && b.ScaleDown != nil {
		s.next.Window = time.Duration(ptr.Deref(b.ScaleDown.StabilizationWindowSeconds, 0)) * time.Second
	}
}

// mayBeEmpty: its autoscaler may run nothing.
func (s *site) mayBeEmpty() bool {
	return s.own.Spec.MinReplicas != nil && *s.own.Spec.MinReplicas == 0
}

// waits: a cluster is silent that may be back at once.
func (in *situation) waits() bool {
	return slices.ContainsFunc(in.sites, func(s site) bool {
		return s.presence == assignment.Silent && !in.replaced(&s)
	})
}
