// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"maps"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/memberhpa"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// plan is the next assignment of every cluster.
type plan struct {
	// situation is the one decided on, but for what of the last step no longer holds.
	situation
	// decided is what the step was decided on, and said what it was before it was completed. stays: the last one has not come true, and the
	// step is that.
	decided assignment.Snapshot
	said    assignment.Step
	step    assignment.Step
	stays   bool
}

// decide returns the next assignment of every cluster. While the last step has not come true in a cluster that can be written,
// it stays that, as far as its premise holds; a new spec overtakes it, and a cluster that is back after others took its
// place over.
func decide(in situation) plan {
	if in.fault != nil {
		return plan{situation: in}
	}
	in.sites = slices.Clone(in.sites)
	if in.changed() {
		in.askAll()
	}
	in.drop(assignment.Lapsed(in.snapshot()))
	snapshot := in.snapshot()
	step := assignment.Next(snapshot)
	said := step
	said.Sites = maps.Clone(step.Sites)
	step.Incomplete = step.Incomplete || in.edited() && !snapshot.Changed
	for s := range sight.Pointers(in.sites) {
		s.next = step.Sites[s.Facts.Name]
	}
	stays := !snapshot.Changed && in.pending() && !in.overtaken()
	switch {
	case stays:
		in.stay(&step)
	case !in.waits():
		in.welcome()
	}
	for s := range sight.Pointers(in.sites) {
		s.finish(&in)
		step.Sites[s.Facts.Name] = s.next
	}
	return plan{in, snapshot, said, step, stays}
}

// welcome: clusters that take again what they had refused have been considered.
func (in *situation) welcome() {
	for s := range sight.Pointers(in.sites) {
		s.recovered = s.recovered && s.presence != assignment.Present
	}
}

// askAll sends a new spec to those clusters, too, that refused the last one. One that the others do not wait for is asked
// for its part of it first.
func (in *situation) askAll() {
	for s := range sight.Pointers(in.sites) {
		if s.presence == assignment.Refusing && !in.gaveUp(s) {
			s.presence = assignment.Present
		}
	}
}

// drop forgets what was recorded and must no longer be carried out. Where bounds must not, what becomes less does so no further than
// to what runs, and what becomes more stays as it stands: nothing that becomes more has been written yet, as what becomes less
// comes first.
func (in *situation) drop(lapse assignment.Lapse) {
	for s := range sight.Pointers(in.sites) {
		if lapse.Orders[s.Facts.Name] {
			s.last.Scale = nil
		}
		switch {
		case s.presence == assignment.Leaving || !s.Autoscalers.Known:
		case lapse.Bounds:
			upper := min(s.stands(), max(s.last.Max, s.current()-s.unschedulable()))
			s.last.Min, s.last.Max = min(s.least(), upper), upper
		case s.Standing.Standing != taints.Free:
			s.getsNoMore()
		}
	}
}

// getsNoMore takes back what a cluster was assigned before it was cordoned or drained, and does not have yet. One without an autoscaler
// of ours keeps of that what it runs.
func (s *site) getsNoMore() {
	lower, upper := s.least(), s.stands()
	if !s.owns() {
		lower, upper = 1, s.current()
	}
	s.last.Max = min(s.last.Max, upper)
	s.last.Min = min(s.last.Min, lower, s.last.Max)
}

// snapshot is the situation as package assignment wants it.
func (in *situation) snapshot() assignment.Snapshot {
	s := assignment.Snapshot{
		UID:        string(in.Object.UID),
		Grace:      in.options.Grace,
		Rest:       in.options.Rest,
		WindowStep: in.options.WindowStep,
		Changed:    in.changed(),
		Wanted:     in.wanted,
		Now:        in.Now,
	}
	s.Follow(&in.Object.Spec, in.options.usual())
	if m := in.Object.Status.Assignment; m != nil {
		s.Memory = *m
	}
	for i := range in.sites {
		s.Sites = append(s.Sites, in.sites[i].snapshot(in))
	}
	return s
}

func (s *site) snapshot(in *situation) assignment.Site {
	lower, upper, stands := s.last.Min, s.last.Max, s.stands()
	if s.presence == assignment.Leaving && s.here() && s.refused.message == "" {
		stands = 0 // it goes at once
	}
	givenUp := s.presence == assignment.Refusing && in.gaveUp(s)
	if givenUp {
		if upper = min(upper, stands); s.lacks() {
			upper = 0
		}
		lower = min(lower, upper) // the others get what it does not take
	}
	site := assignment.Site{
		Name: s.Facts.Name, Preference: s.Preference, Presence: s.presence, Standing: s.Standing.Standing,
		State: s.Before.State, Min: lower, Max: upper, Current: s.current(),
		Stands: stands, Ordered: s.order(), Asleep: s.asleep(), Balks: s.balks, GivenUp: givenUp, Recovered: s.recovered,
		Ready: int32(s.Pods.Ready()), Unschedulable: s.unschedulable(), Additional: s.Room(s.current()), Promised: s.Promised,
		SchedulableSince: sight.Time(s.Before.SchedulableSince), SaturatedFirst: sight.Time(s.Before.SaturatedFirst),
	}
	if s.Before.Since != nil {
		site.Since = s.Before.Since.Time
	}
	if s.Stuck == "" { // otherwise nothing is taken from it
		site.UnschedulableSince = sight.Time(s.unschedulableSince(in.Now))
	}
	if s.own != nil {
		site.Autoscaler = memberhpa.Read(s.own, &in.Object.Spec.HorizontalPodAutoscalerSpec, s.ClockOffset)
		site.Steady = s.steady >= steadyReconciles
		spread(site.Ratios, s.own.Status.CurrentReplicas, site.Current)
	}
	return site
}

// spread makes ratios that were measured while more ran those of what is told to run now, under the same load. What was
// measured while less ran stays: that the load is low is not known yet.
func spread(ratios []int64, measured, current int32) {
	if measured <= current || current == 0 {
		return
	}
	for i := range ratios {
		ratios[i] = (min(ratios[i], math.MaxInt32)*int64(measured) + int64(current) - 1) / int64(current)
	}
}

// unschedulableSince returns since when replicas have found no node, by our clock; nil: none wait.
func (s *site) unschedulableSince(now time.Time) *metav1.Time {
	switch {
	case !s.inSight():
		return s.Before.UnschedulableSince
	case s.unschedulable() == 0:
		return nil
	default:
		return s.UnschedulableSince(now)
	}
}

// unschedulable returns how many replicas found no node. Pods beyond the replicas, as those of a rollout, wait for others to
// leave.
func (s *site) unschedulable() int32 {
	beyond := max(0, len(s.Pods.Pods)-int(s.current()))
	return int32(min(max(0, s.Pods.Unschedulable-beyond), math.MaxInt32))
}

// toZero: a cluster may run nothing.
func (in *situation) toZero() bool { return ptr.Deref(in.Object.Spec.ScalingToZero, false) }

// native: the members' autoscalers take their clusters to zero and back.
func (in *situation) native() bool {
	return in.toZero() && in.Object.Spec.ScalingToZeroMode == v1alpha1.ScalingToZeroNative
}

// pending: a cluster does not have its assignment yet, and can be written. What one refuses the others do not wait for, nor
// for what cannot grow meanwhile, nor at all for one that is drained.
func (in *situation) pending() bool {
	stuck := slices.ContainsFunc(in.sites, func(s site) bool {
		return s.presence == assignment.Refusing && !in.gaveUp(&s) && s.mayExceed(s.last.Max)
	})
	for s := range sight.Pointers(in.sites) {
		switch {
		case s.presence != assignment.Present, s.Drained(), stuck && s.last.Max > s.stands():
		case !s.has(s.last.Min, s.last.Max), s.order() != nil && !s.balks:
			return true
		}
	}
	return false
}

// gaveUp: the cluster has refused bounds, or has had them set back, for so long that the others wait for it no more.
func (in *situation) gaveUp(s *site) bool {
	if s.contested && in.Now.Sub(s.ofHPA.Since) >= in.options.Grace {
		return true
	}
	return s.refused.last.Sub(s.refused.since) >= in.options.Grace
}

// overtaken: a cluster is back whose place the others took over, so that the bounds of all together are too much.
func (in *situation) overtaken() bool {
	return slices.ContainsFunc(in.sites, func(s site) bool {
		away := s.Before.State == v1alpha1.ClusterUnreachable && s.Before.Since != nil &&
			(in.Now.Sub(s.Before.Since.Time) >= in.options.Grace || s.Before.Reason == taints.Drained.String())
		return s.presence == assignment.Present && (away || s.rejoins())
	})
}

// has reports whether our autoscaler in the cluster has these bounds; both 0: whether there is none.
func (s *site) has(lower, upper int32) bool {
	if upper == 0 || !s.owns() {
		return upper == 0 && !s.owns()
	}
	return s.own.Spec.MaxReplicas == upper && (s.least() == lower || lower == 1 && *s.own.Spec.MinReplicas == 0)
}

// least is the minimum that our autoscaler has, and at least 1, as the bounds of a cluster are.
func (s *site) least() int32 {
	if s.own == nil {
		return 0
	}
	return max(1, ptr.Deref(s.own.Spec.MinReplicas, 0))
}

// stay makes the step the one that has not come true yet. What follows from how clusters are, and not from bounds, holds.
func (in *situation) stay(step *assignment.Step) {
	step.Action = ""
	memory := v1alpha1.AssignmentStatus{}
	if m := in.Object.Status.Assignment; m != nil {
		memory = *m.DeepCopy()
	}
	memory.UnderloadedSince = step.Memory.UnderloadedSince
	step.Memory = memory
	for s := range sight.Pointers(in.sites) {
		if s.presence != assignment.Present {
			continue
		}
		next := &s.next
		next.Min, next.Max = s.last.Min, s.last.Max
		next.Scale, next.SchedulableSince, next.SaturatedFirst = s.order(), sight.Time(s.Before.SchedulableSince),
			sight.Time(s.Before.SaturatedFirst)
		if s.asleep() {
			next.Scale = new(int32(0))
		}
		next.State, next.Since = v1alpha1.ClusterExcluded, in.Now // until it gets its first bounds
		if s.Before.State != "" && s.Before.Since != nil {
			next.State, next.Since = s.Before.State, s.Before.Since.Time
		}
	}
}
