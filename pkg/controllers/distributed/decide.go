// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/memberhpa"
)

// decide says what every cluster is to have next. While the last step has not come true in a cluster that can be written,
// it stays that, as far as its premise holds; a new spec overtakes it, and a cluster that is back after others took its
// place over.
func decide(in *situation) assignment.Step {
	if in.fault != nil {
		return assignment.Step{}
	}
	if in.changed() {
		in.askAll()
	}
	in.drop(assignment.Lapsed(in.snapshot()))
	snapshot := in.snapshot()
	step := assignment.Next(snapshot)
	switch {
	case !snapshot.Changed && in.pending() && !in.overtaken():
		in.stay(&step)
	case !in.waits(&step):
		in.welcome()
	}
	for i := range in.sites {
		in.sites[i].finish(in, &step)
	}
	return step
}

// welcome: clusters that take again what they had refused have been reckoned with.
func (in *situation) welcome() {
	for i := range in.sites {
		s := &in.sites[i]
		s.recovered = s.recovered && s.presence != assignment.Present
	}
}

// askAll has a new spec told to those clusters, too, that refused the last one. One that the others do not wait for is asked
// for its part of it first.
func (in *situation) askAll() {
	for i := range in.sites {
		if s := &in.sites[i]; s.presence == assignment.Refusing && !in.gaveUp(s) {
			s.presence = assignment.Present
		}
	}
}

// drop forgets what was recorded and must not be carried out any more: what becomes less does so no further than to what runs,
// and what becomes more stays as it stands. Nothing that becomes more of it has been written yet,
// as what becomes less comes first.
func (in *situation) drop(lapse assignment.Lapse) {
	for i := range in.sites {
		s := &in.sites[i]
		if lapse.Orders[s.facts.Name] {
			s.before.AssignedReplicas = nil
		}
		if lapse.Bounds && s.presence != assignment.Leaving && s.autoscalers.Known {
			upper := min(s.stands(in.object), max(value(s.before.AssignedMax), s.current()-s.unschedulable()))
			s.before.AssignedMin, s.before.AssignedMax = new(min(s.least(), upper)), &upper
		}
	}
}

// snapshot is the situation as package assignment wants it.
func (in *situation) snapshot() assignment.Snapshot {
	spec, a := &in.object.Spec, in.object.Spec.FederatedHPAAssignment
	s := assignment.Snapshot{
		Policy:         assignment.Policy(a.FederatedHPAAssignmentType),
		UID:            string(in.object.UID),
		Min:            *spec.MinReplicas,
		Max:            spec.MaxReplicas,
		Order:          a.DistributionOrder,
		ScaleDownOrder: a.ScaleDownOrder,
		Rebalance:      a.RebalanceOrDefault(),
		ScalingToZero:  spec.ScalingToZero && !in.native(),
		Delay:          time.Duration(*spec.AutoscaleMultiClusterDelay) * time.Second,
		Window:         in.window(),
		Tolerance:      in.tolerance(),
		Grace:          in.options.Grace,
		Changed:        in.changed(),
		Wanted:         in.wanted,
		Now:            in.now,
	}
	if m := in.object.Status.Assignment; m != nil {
		s.Memory = *m
	}
	for i := range in.sites {
		s.Sites = append(s.Sites, in.sites[i].snapshot(in))
	}
	return s
}

func (s *site) snapshot(in *situation) assignment.Site {
	lower, upper := s.bounds()
	stands := s.stands(in.object)
	if s.presence == assignment.Leaving && s.here() && s.refused.message == "" {
		stands = 0 // it goes at once
	}
	if s.presence == assignment.Refusing && in.gaveUp(s) {
		if upper = min(upper, stands); s.absent {
			upper = 0
		}
		lower = min(lower, upper) // the others get what it does not take
	}
	site := assignment.Site{
		Name: s.facts.Name, Preference: s.preference, Presence: s.presence,
		State: s.before.State, Min: lower, Max: upper, Current: s.current(),
		Stands: stands, Ordered: s.order(), Balks: s.balks, Recovered: s.recovered,
		Unschedulable: s.unschedulable(), Additional: s.additional,
		SchedulableSince: timeOf(s.before.SchedulableSince), SaturatedFirst: timeOf(s.before.SaturatedFirst),
	}
	if s.before.Since != nil {
		site.Since = s.before.Since.Time
	}
	// A StatefulSet deletes its last Pods, which need not be those that wait: nothing is taken from it.
	if in.object.Spec.ScaleTargetRef.Kind != "StatefulSet" {
		site.UnschedulableSince = timeOf(s.unschedulableSince(in.now))
	}
	if s.own != nil {
		site.Autoscaler = memberhpa.Read(s.own, &in.object.Spec.HorizontalPodAutoscalerSpec, s.cluster.ClockOffset())
		site.Steady = s.steady >= steadyLooks
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

// unschedulableSince is since when replicas have found no node, by our clock; nil: none wait.
func (s *site) unschedulableSince(now time.Time) *metav1.Time {
	switch found := s.listing.UnschedulableSince; {
	case !s.inSight():
		return s.before.UnschedulableSince
	case s.unschedulable() == 0:
		return nil
	case s.before.UnschedulableSince != nil:
		return s.before.UnschedulableSince
	case found.IsZero():
		return &metav1.Time{Time: now}
	default:
		since := found.Add(-s.cluster.ClockOffset())
		if since.After(now) {
			since = now
		}
		return &metav1.Time{Time: since}
	}
}

// native: the members' autoscalers take their clusters to zero and back.
func (in *situation) native() bool {
	return in.object.Spec.ScalingToZero && in.object.Spec.ScalingToZeroMode == v1alpha1.ScalingToZeroNative
}

func (in *situation) window() time.Duration {
	if b := in.object.Spec.Behavior; b != nil && b.ScaleDown != nil && b.ScaleDown.StabilizationWindowSeconds != nil {
		return time.Duration(*b.ScaleDown.StabilizationWindowSeconds) * time.Second
	}
	return in.options.Window
}

// tolerance is that of scaling down, in thousandths.
func (in *situation) tolerance() int64 {
	part := in.options.Tolerance
	if b := in.object.Spec.Behavior; b != nil && b.ScaleDown != nil && b.ScaleDown.Tolerance != nil {
		part = b.ScaleDown.Tolerance.AsApproximateFloat64()
	}
	return int64(math.Round(1000 * part))
}

// pending: a cluster does not have what it is to have, and may be told. What one refuses the others do not wait for, nor
// for what cannot grow meanwhile.
func (in *situation) pending() bool {
	stuck := slices.ContainsFunc(in.sites, func(s site) bool {
		return s.presence == assignment.Refusing && !in.gaveUp(&s) && s.mayExceed(in, value(s.before.AssignedMax))
	})
	for i := range in.sites {
		s := &in.sites[i]
		lower, upper := s.bounds()
		switch {
		case s.presence != assignment.Present, stuck && upper > s.stands(in.object):
		case !s.has(in.object, lower, upper), s.order() != nil && !s.balks:
			return true
		}
	}
	return false
}

// gaveUp: the cluster has refused bounds for so long that the others wait for it no more.
func (in *situation) gaveUp(s *site) bool {
	return s.refused.last.Sub(s.refused.since) >= in.options.Grace
}

// overtaken: a cluster is back whose place the others took over, so that the bounds of all together are too much.
func (in *situation) overtaken() bool {
	return slices.ContainsFunc(in.sites, func(s site) bool {
		return s.presence == assignment.Present && s.before.State == v1alpha1.ClusterUnreachable &&
			s.before.Since != nil && in.now.Sub(s.before.Since.Time) >= in.options.Grace
	})
}

// has says whether our autoscaler in the cluster has these bounds; both 0: whether there is none.
func (s *site) has(object *v1alpha1.FederatedHPA, lower, upper int32) bool {
	if upper == 0 {
		return s.own == nil || !claims.Ours(s.own, object.UID)
	}
	if s.own == nil || !claims.Ours(s.own, object.UID) || s.own.Spec.MaxReplicas != upper {
		return false
	}
	return s.least() == lower || lower == 1 && *s.own.Spec.MinReplicas == 0
}

// least is the minimum that our autoscaler has, and at least 1, as the bounds of a cluster are.
func (s *site) least() int32 {
	if s.own == nil {
		return 0
	}
	return max(1, value(s.own.Spec.MinReplicas))
}

// stay makes the step the one that has not come true yet. What follows from how clusters are, and not from bounds, holds.
func (in *situation) stay(step *assignment.Step) {
	step.Action = ""
	memory := v1alpha1.AssignmentStatus{}
	if m := in.object.Status.Assignment; m != nil {
		memory = *m.DeepCopy()
	}
	memory.UnderloadedSince = step.Memory.UnderloadedSince
	step.Memory = memory
	for i := range in.sites {
		s := &in.sites[i]
		if s.presence != assignment.Present {
			continue
		}
		next := step.Sites[s.facts.Name]
		next.Min, next.Max = s.bounds()
		next.Scale, next.SchedulableSince, next.SaturatedFirst = s.order(), timeOf(s.before.SchedulableSince), timeOf(s.before.SaturatedFirst)
		next.State, next.Since = v1alpha1.ClusterExcluded, in.now // until it gets its first bounds
		if s.before.State != "" && s.before.Since != nil {
			next.State, next.Since = s.before.State, s.before.Since.Time
		}
		step.Sites[s.facts.Name] = next
	}
}

func timeOf(t *metav1.Time) *time.Time {
	if t == nil {
		return nil
	}
	return &t.Time
}

func metaTime(t *time.Time) *metav1.Time {
	if t == nil {
		return nil
	}
	return &metav1.Time{Time: *t}
}
