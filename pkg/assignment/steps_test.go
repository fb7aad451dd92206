// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// snapshot is of a fleet whose sites are present and content, at noon.
func snapshot(policy Policy, least, most int32, sites ...Site) Snapshot {
	s := Snapshot{Policy: policy, Min: least, Max: most, Sites: sites, Now: noon,
		Delay: time.Minute, Window: 5 * time.Minute, Grace: 5 * time.Minute, Tolerance: 100}
	s.Rebalance = (&v1alpha1.FederatedHPAAssignment{FederatedHPAAssignmentType: v1alpha1.FederatedHPAAssignmentType(policy)}).RebalanceOrDefault()
	return s
}

// change is the snapshot with something else in it.
func (s Snapshot) change(change func(*Snapshot)) Snapshot {
	change(&s)
	return s
}

// site runs replicas under the bounds, content with what it runs.
func site(name string, least, most, current int32, changes ...func(*Site)) Site {
	s := Site{Name: name, Min: least, Max: most, Current: current, State: v1alpha1.ClusterActive, Since: *ago(9000)}
	s.Weight, s.Ceiling = 1, math.MaxInt32
	s.Desired, s.ScalingActive, s.Steady = current, current > 0, true
	if s.TooManyReplicas = false; most == 0 {
		s.State = v1alpha1.ClusterExcluded
	}
	for _, change := range changes {
		change(&s)
	}
	return s
}

type siteChange = func(*Site)

func priority(n int32) siteChange { return func(s *Site) { s.Priority = n } }
func weight(n int64) siteChange   { return func(s *Site) { s.Weight = n } }
func ceiling(n int32) siteChange  { return func(s *Site) { s.Ceiling = n } }
func hosts(more int32) siteChange { return func(s *Site) { s.Additional = &more } }
func ratio(n ...int64) siteChange { return func(s *Site) { s.Ratios = n } }
func silent(seconds int) siteChange {
	return func(s *Site) { s.Presence, s.State, s.Since = Silent, v1alpha1.ClusterUnreachable, *ago(seconds) }
}
func back(s *Site)    { s.State = v1alpha1.ClusterUnreachable }
func leaving(s *Site) { s.Presence = Leaving }
func fresh(s *Site)   { s.State, s.Since = "", time.Time{} }
func atZero(s *Site) {
	s.State, s.Current, s.Desired, s.ScalingActive = v1alpha1.ClusterScaledToZero, 0, 0, false
}
func wants(n int32) siteChange {
	return func(s *Site) { s.Desired = n }
}
func limited(s *Site) { s.TooManyReplicas = true }

// pending are Pods that no node takes, for some seconds.
func pending(n int32, seconds int) siteChange {
	return func(s *Site) { s.Unschedulable, s.UnschedulableSince = n, ago(seconds) }
}

func saturated(schedulable *time.Time) siteChange {
	return func(s *Site) { s.State, s.SchedulableSince = v1alpha1.ClusterSaturated, schedulable }
}

// told is a step in words: the action, and for each site its bounds, what it is told to run, and its state if that is
// not Active.
func told(step Step) string {
	words := []string{string(step.Action) + ":"}
	if step.Action == "" {
		words = []string{"-"}
	}
	var names []string
	for name := range step.Sites {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		s := step.Sites[name]
		word := fmt.Sprintf("%s %d/%d", name, s.Min, s.Max)
		if s.Scale != nil {
			word += fmt.Sprintf(" run %d", *s.Scale)
		}
		if s.Hold {
			word += " hold"
		}
		if s.State != v1alpha1.ClusterActive {
			word += " " + string(s.State)
		}
		words = append(words, word+",")
	}
	return strings.TrimSuffix(strings.Join(words, " "), ",")
}

func low(s *Snapshot)     { s.Memory.UnderloadedSince = new(metav1.NewTime(*ago(300))) }
func toZero(s *Snapshot)  { s.ScalingToZero = true }
func changed(s *Snapshot) { s.Changed = true }

func TestNext(t *testing.T) {
	both := func(s *Snapshot) { toZero(s); low(s) }
	demand := func(s *Snapshot) {
		s.Rebalance.Strategy = v1alpha1.RebalanceDemand
	}
	idle := func(name string, n int32, changes ...siteChange) Site {
		return site(name, n, n+9, n, append([]siteChange{ratio(400)}, changes...)...)
	}
	v6 := func(changes ...siteChange) Site { return site("m1", 8, 23, 16, append(changes, priority(2))...) }
	tests := map[string]struct {
		Snapshot
		want string
	}{
		// The split.
		"at first": {snapshot(StaticWeighted, 2, 10, site("m1", 0, 0, 1, weight(1), fresh), site("m2", 0, 0, 4, weight(2), fresh), site("m3", 0, 0, 0, weight(3), fresh)).change(changed),
			"BoundsSplit: m1 1/1, m2 1/4, m3 1/5 run 1"},
		"at first, to zero": {snapshot(StaticWeighted, 2, 10, site("m1", 0, 0, 1, weight(1), fresh), site("m2", 0, 0, 4, weight(2), fresh), site("m3", 0, 0, 0, weight(3), fresh)).change(changed).change(toZero),
			"BoundsSplit: m1 1/1, m2 1/4, m3 1/5 ScaledToZero"},
		"at first, some get nothing": {snapshot(Aggregated, 2, 6, site("m1", 0, 0, 0, hosts(8), fresh), site("m2", 0, 0, 0, hosts(2), fresh)).change(changed),
			"BoundsSplit: m1 2/6 run 2, m2 0/0 Excluded"},
		"a new cluster has its share of static weights": {snapshot(StaticWeighted, 1, 9, site("m1", 1, 5, 1), site("m2", 1, 4, 1), site("m3", 0, 0, 0, fresh)),
			"BoundsSplit: m1 1/3, m2 1/3, m3 1/3 run 1"},
		"so has one that comes again": {snapshot(StaticWeighted, 1, 9, site("m1", 1, 5, 1), site("m2", 1, 4, 1), site("m3", 0, 0, 7)),
			"BoundsSplit: m1 1/3, m2 1/3, m3 1/3"},
		"one that is too light has none": {snapshot(StaticWeighted, 1, 9, site("m1", 1, 5, 1), site("m2", 1, 4, 1), site("m3", 0, 0, 7, weight(0))),
			"-: m1 1/5, m2 1/4, m3 0/0 Excluded"},
		"what is full hosts what it hosts": {snapshot(DynamicWeighted, 1, 24, site("a", 1, 12, 7, pending(3, 60)), site("b", 1, 12, 4, hosts(0))).change(changed),
			"BoundsSplit: a 1/14, b 1/10"},
		"a new cluster must wait for capacity to move": {snapshot(Aggregated, 1, 9, site("m1", 1, 5, 1, hosts(0)), site("m2", 1, 4, 1, hosts(0)), site("m3", 0, 0, 0, fresh)),
			"-: m1 1/5, m2 1/4, m3 0/0 Excluded"},
		"duplicated bounds follow the clusters": {snapshot(Duplicated, 3, 10, site("m1", 3, 10, 7), site("m2", 0, 0, 0, fresh), site("m3", 3, 10, 4, leaving)),
			"BoundsSplit: m1 3/10, m2 3/10 run 3, m3 0/0 Excluded"},
		"duplicated bounds stay": {snapshot(Duplicated, 3, 10, site("m1", 3, 10, 7), site("m2", 3, 10, 4, silent(9000))),
			"-: m1 3/10, m2 3/10 Unreachable"},
		"an edit takes nobody's room": {snapshot(Prioritized, 2, 12, site("m1", 1, 10, 4, priority(2), hosts(9)), site("m2", 1, 10, 5, priority(1), hosts(0))).change(changed),
			"BoundsSplit: m1 2/7 hold, m2 1/5"},
		"an edit, while a cluster is silent": {snapshot(StaticWeighted, 1, 12, site("m1", 1, 5, 4), site("m2", 1, 5, 5, silent(15)), site("m3", 1, 2, 1)).change(changed),
			"BoundsSplit: m1 1/4, m2 1/5 Unreachable, m3 1/3"},

		"an edit, while a cluster has a part of the minimum": {snapshot(StaticWeighted, 6, 12, site("m1", 2, 4, 4), site("m2", 3, 5, 5, silent(15)), site("m3", 1, 3, 1)).change(changed),
			"BoundsSplit: m1 2/4, m2 3/5 Unreachable, m3 1/3"},

		// Clusters that go and come.
		"static weights without m3": {snapshot(StaticWeighted, 2, 10, site("m1", 1, 1, 1, weight(1)), site("m2", 1, 4, 4, weight(2)), site("m3", 1, 5, 5, weight(3), silent(300))),
			"BoundsTakenOver: m1 1/3, m2 2/7, m3 1/5 Unreachable"},
		"silent, but not for long": {snapshot(StaticWeighted, 2, 10, site("m1", 1, 1, 1, weight(1)), site("m2", 1, 4, 4, weight(2)), site("m3", 1, 5, 5, weight(3), silent(299))),
			"-: m1 1/1, m2 1/4, m3 1/5 Unreachable"},
		"just silent": {snapshot(StaticWeighted, 2, 10, site("m1", 1, 5, 1), site("m2", 1, 5, 4, func(s *Site) { s.Presence = Silent })),
			"-: m1 1/5, m2 1/5 Unreachable"},
		"out of the affinity": {snapshot(Prioritized, 8, 23, site("m1", 6, 12, 8, priority(2), hosts(10)), site("m2", 2, 8, 2, priority(1), hosts(9)), site("m3", 2, 3, 2, leaving)),
			"BoundsTakenOver: m1 6/15, m2 2/8, m3 0/0 Excluded"},
		"the minimum too": {snapshot(Prioritized, 8, 23, site("m1", 3, 12, 8, priority(2), hosts(10)), site("m2", 0, 0, 0, priority(1), hosts(9)), site("m3", 5, 11, 5, silent(301))),
			"BoundsTakenOver: m1 7/18, m2 1/5 run 1, m3 5/11 Unreachable"},
		"the minimum, less what silent clusters have": {snapshot(Prioritized, 6, 19, site("m1", 2, 10, 4, hosts(9)), site("m2", 3, 5, 3, silent(15)), site("m3", 1, 4, 1, silent(300))),
			"BoundsTakenOver: m1 3/14, m2 3/5 Unreachable, m3 1/4 Unreachable"},
		"what was switched off by hand stays off": {snapshot(Prioritized, 2, 9, site("m1", 1, 5, 0), site("m2", 1, 4, 1, leaving)),
			"BoundsTakenOver: m1 2/9, m2 0/0 Excluded"},
		"what may run nothing does not begin": {snapshot(Aggregated, 1, 9, site("m1", 1, 5, 2, hosts(2)), site("m2", 0, 0, 0, hosts(9)), site("m3", 1, 4, 1, leaving)).change(toZero),
			"BoundsTakenOver: m1 1/5, m2 1/4 ScaledToZero, m3 0/0 Excluded"},
		"back again, with more than is too much": {snapshot(Aggregated, 1, 20, site("m1", 1, 10, 5, hosts(9)), site("m2", 1, 6, 5, hosts(0)), site("m3", 1, 10, 2, back, hosts(0))),
			"BoundsTakenOver: m1 1/12, m2 1/6, m3 1/2"},
		"back again: it keeps what it runs, the others what they run": {snapshot(Aggregated, 2, 20, site("m1", 1, 12, 9, hosts(5)), site("m2", 1, 8, 2, hosts(5)), site("m3", 1, 8, 3, back)),
			"BoundsTakenOver: m1 1/11, m2 1/6, m3 1/3"},
		"back again, more runs than may": {snapshot(Prioritized, 2, 10, site("m1", 1, 6, 6, priority(3)), site("m2", 1, 4, 4, priority(2)), site("m3", 1, 6, 5, priority(1), back)),
			"BoundsTakenOver: m1 1/6 hold, m2 1/3 hold, m3 1/1"},
		"back in time": {snapshot(Prioritized, 2, 10, site("m1", 1, 6, 1, priority(3)), site("m2", 1, 4, 1, priority(2), back)),
			"-: m1 1/6, m2 1/4"},

		// Pods that no node takes.
		"spilled": {snapshot(Prioritized, 8, 24, v6(pending(6, 60)), site("m2", 1, 1, 1, priority(1))),
			"MaximumSpilled: m1 8/10 Saturated, m2 1/14"},
		"spilled to one that runs nothing": {snapshot(Prioritized, 8, 24, v6(pending(6, 60)), site("m2", 1, 1, 0, priority(1))),
			"MaximumSpilled: m1 8/10 Saturated, m2 1/14 run 1"},
		"not for long enough": {snapshot(Prioritized, 8, 24, v6(pending(6, 59)), site("m2", 1, 1, 1, priority(1))),
			"-: m1 8/23, m2 1/1"},
		"spilled to the next that can host it, then to one without bounds": {snapshot(Prioritized, 8, 24, v6(pending(6, 60)), site("m2", 1, 1, 1, priority(1), hosts(5)), site("m3", 0, 0, 0, hosts(20))),
			"MaximumSpilled: m1 8/10 Saturated, m2 1/6, m3 1/8 run 1"},
		"fewer than the minimum are hosted": {snapshot(Prioritized, 8, 24, v6(pending(11, 60)), site("m2", 1, 1, 1, priority(1))),
			"MaximumSpilled: m1 5/5 Saturated, m2 4/19"},
		"none are hosted": {snapshot(Prioritized, 8, 24, v6(pending(16, 60)), site("m2", 1, 1, 1, priority(1))),
			"MaximumSpilled: m1 1/1 Saturated, m2 8/23"},
		"a full cluster can not host what its nodes seem to have": {snapshot(Aggregated, 1, 20, site("m1", 1, 5, 7, pending(2, 60), hosts(9)), site("m2", 1, 15, 3, hosts(0))),
			"-: m1 1/5, m2 1/15"},
		"nothing moves while a cluster may be back at once": {snapshot(Prioritized, 8, 25, v6(pending(6, 60)), site("m2", 1, 1, 1, priority(1)), site("m3", 1, 1, 1, silent(299))),
			"-: m1 8/23, m2 1/1, m3 1/1 Unreachable"},
		"but when it is out": {snapshot(Prioritized, 8, 24, v6(pending(6, 60)), site("m2", 1, 1, 1, priority(1)), site("m3", 1, 1, 1, silent(300))),
			"MaximumSpilled: m1 8/10 Saturated, m2 1/14, m3 1/1 Unreachable"},
		"the lost part of the minimum goes as far as maxima allow": {snapshot(Prioritized, 8, 24, v6(pending(16, 60)), site("m2", 1, 1, 1, priority(1), ceiling(3)), site("m3", 0, 0, 0)),
			"MaximumSpilled: m1 1/1 Saturated, m2 3/3, m3 6/20 run 6"},
		"downwards before upwards": {snapshot(Prioritized, 8, 33, site("m0", 1, 9, 1, priority(3), hosts(50)), v6(pending(6, 60)), site("m2", 1, 1, 1, priority(1), hosts(50))),
			"MaximumSpilled: m0 1/9 hold, m1 8/10 Saturated, m2 1/14"},
		"nowhere to spill to": {snapshot(Prioritized, 8, 24, v6(pending(6, 60)), site("m2", 1, 1, 2, priority(1), pending(1, 5))),
			"-: m1 8/23 hold, m2 1/1"},
		"spilled already": {snapshot(Prioritized, 8, 24, site("m1", 8, 10, 16, priority(2), pending(6, 90), saturated(nil)), site("m2", 1, 14, 1, priority(1))),
			"-: m1 8/10 Saturated, m2 1/14"},
		"upwards, if there is none below": {snapshot(Prioritized, 1, 24, site("m1", 1, 4, 1, priority(2)), site("m2", 1, 20, 9, priority(1), pending(3, 60))),
			"MaximumSpilled: m1 1/18 hold, m2 1/6 Saturated"},
		"as far as ceilings allow": {snapshot(Aggregated, 1, 24, site("m1", 1, 20, 9, pending(3, 60)), site("m2", 1, 4, 1, ceiling(10))),
			"MaximumSpilled: m1 1/14 Saturated, m2 1/10"},
		"static weights stay": {snapshot(StaticWeighted, 8, 24, v6(pending(6, 60)), site("m2", 1, 1, 1, priority(1))),
			"-: m1 8/23, m2 1/1"},
		"room again, but not for long": {snapshot(Aggregated, 8, 24, site("m1", 8, 10, 10, saturated(ago(59)), hosts(3)), site("m2", 1, 14, 14)),
			"-: m1 8/10 Saturated, m2 1/14"},
		"room again": {snapshot(Aggregated, 8, 24, site("m1", 8, 10, 10, saturated(ago(60)), hosts(3)), site("m2", 1, 14, 14)),
			"-: m1 8/10, m2 1/14"},

		// The order of scaling down.
		"the lowest shrinks first": {snapshot(Prioritized, 3, 17, site("c1", 1, 4, 4, priority(3), ratio(500)), site("c2", 1, 9, 9, priority(2), ratio(500)), site("c3", 1, 4, 4, priority(1), ratio(500), wants(2))),
			"-: c1 1/4 hold, c2 1/9 hold, c3 1/4"},
		"the lowest is stuck: it is drained": {snapshot(Prioritized, 3, 17, site("c1", 1, 4, 4, priority(3), ratio(567)), site("c2", 1, 9, 9, priority(2), ratio(567)), site("c3", 1, 4, 2, priority(1), ratio(567))).change(low),
			"LowPriorityDrained: c1 1/7 hold, c2 1/9 hold, c3 1/1"},
		"and then the next": {snapshot(Prioritized, 3, 17, site("c1", 1, 7, 4, priority(3), ratio(608)), site("c2", 1, 9, 9, priority(2), ratio(608)), site("c3", 1, 1, 1, priority(1), ratio(608))).change(low),
			"LowPriorityDrained: c1 1/12 hold, c2 1/4, c3 1/1"},
		"what does not run is not counted": {snapshot(Prioritized, 6, 27, site("a", 1, 4, 0, priority(2), atZero), site("c", 6, 19, 10, priority(3), ratio(200)), site("d", 1, 4, 4, priority(2), ratio(1500))).change(low),
			"LowPriorityDrained: a 1/4, c 6/22 hold, d 1/1"},
		"what is freed stays with those that have bounds": {snapshot(Prioritized, 2, 12, site("a", 0, 0, 0, priority(3)), site("c", 1, 6, 4, priority(2), ratio(200)), site("d", 1, 6, 4, priority(1), ratio(200))).change(low),
			"LowPriorityDrained: a 0/0 Excluded, c 1/11 hold, d 1/1"},
		"no less than the minima": {snapshot(Prioritized, 7, 27, site("c", 6, 20, 8, priority(3), ratio(100)), site("d", 1, 7, 4, priority(2), ratio(100))).change(low),
			"LowPriorityDrained: c 6/26 hold, d 1/1"},
		"nobody is held, so nobody is drained": {snapshot(Prioritized, 7, 27, site("c", 6, 20, 8, priority(2), ratio(100)), site("d", 1, 7, 4, priority(2), ratio(100))).change(low),
			"-: c 6/20, d 1/7"},
		"those above can not take what is drained": {snapshot(Prioritized, 2, 17, site("a", 1, 7, 7, priority(3), ceiling(7), ratio(300)), site("b", 1, 10, 3, priority(2), ratio(300))).change(low),
			"-: a 1/7 hold, b 1/10"},
		"by the metric that takes most": {snapshot(Prioritized, 3, 17, site("c1", 1, 4, 4, priority(3), ratio(567, 500)), site("c2", 1, 9, 9, priority(2), ratio(567, 500)), site("c3", 1, 4, 2, priority(1), ratio(567, 500))).change(low),
			"LowPriorityDrained: c1 1/7 hold, c2 1/9 hold, c3 1/1"},
		"no drain while the lowest still moves": {snapshot(Prioritized, 3, 17, site("c1", 1, 4, 4, priority(3), ratio(567)), site("c2", 1, 9, 9, priority(2), ratio(567)), site("c3", 1, 4, 2, priority(1), ratio(567), func(s *Site) { s.Steady = false })).change(low),
			"-: c1 1/4 hold, c2 1/9 hold, c3 1/4"},
		"no drain before a window is over": {snapshot(Prioritized, 3, 17, site("c1", 1, 4, 4, priority(3), ratio(567)), site("c2", 1, 9, 9, priority(2), ratio(567)), site("c3", 1, 4, 2, priority(1), ratio(567))).change(func(s *Snapshot) { s.Memory.UnderloadedSince = new(metav1.NewTime(*ago(299))) }),
			"-: c1 1/4 hold, c2 1/9 hold, c3 1/4"},
		"no drain within the tolerance": {snapshot(Prioritized, 2, 17, site("c1", 1, 9, 9, priority(3), ratio(900)), site("c3", 1, 8, 2, priority(1), ratio(900))).change(low),
			"-: c1 1/9 hold, c3 1/8"},
		"best effort holds nobody": {snapshot(Prioritized, 3, 17, site("c1", 1, 4, 4, priority(3), ratio(567)), site("c2", 1, 9, 9, priority(2), ratio(567)), site("c3", 1, 4, 2, priority(1), ratio(567))).change(low).change(func(s *Snapshot) { s.ScaleDownOrder = v1alpha1.ScaleDownBestEffort }),
			"-: c1 1/4, c2 1/9, c3 1/4"},
		"held for one that is silent": {snapshot(Prioritized, 3, 17, site("c1", 1, 9, 3, priority(3)), site("c2", 1, 8, 2, priority(2), silent(15))),
			"-: c1 1/9 hold, c2 1/8 Unreachable"},
		"but not for one above": {snapshot(Prioritized, 3, 17, site("c1", 1, 9, 3, priority(3)), site("c2", 1, 8, 2, priority(4), silent(15))),
			"-: c1 1/9, c2 1/8 Unreachable"},
		"nor for one that can not shrink": {snapshot(Prioritized, 3, 17, site("c1", 1, 9, 3, priority(3)), site("c2", 2, 8, 2, priority(2), silent(15))),
			"-: c1 1/9, c2 2/8 Unreachable"},
		"nor for a silent one without bounds": {snapshot(Prioritized, 3, 9, site("c1", 1, 9, 3, priority(3)), site("c2", 0, 0, 2, priority(2), silent(15))),
			"-: c1 1/9, c2 0/0 Unreachable"},
		"nor for one without bounds": {snapshot(Prioritized, 1, 9, site("c1", 1, 9, 3, priority(3)), site("c2", 0, 0, 2, priority(2))),
			"-: c1 1/9, c2 0/0 Excluded"},
		"nobody is held when all are at their minima": {snapshot(Prioritized, 2, 17, site("c1", 1, 9, 1, priority(3)), site("c2", 1, 8, 1, priority(2))),
			"-: c1 1/9, c2 1/8"},

		// To zero and from zero.
		"to zero: the lightest": {snapshot(StaticWeighted, 2, 10, site("m1", 1, 1, 1, weight(1), ratio(600)), site("m2", 1, 4, 1, weight(2), ratio(600)), site("m3", 1, 5, 1, weight(3), ratio(600))).change(both),
			"ScaledToZero: m1 1/1 run 0 ScaledToZero, m2 1/4, m3 1/5"},
		"no further than the minimum": {snapshot(StaticWeighted, 2, 10, site("m1", 1, 1, 0, weight(1), atZero), site("m2", 1, 4, 1, weight(2), ratio(600)), site("m3", 1, 5, 1, weight(3), ratio(600))).change(both),
			"-: m1 1/1 ScaledToZero, m2 1/4, m3 1/5"},
		"to zero: the smallest, the last of equals": {snapshot(Aggregated, 8, 24, site("m1", 8, 20, 8, ratio(600)), site("m2", 1, 2, 1, ratio(600)), site("m3", 1, 2, 1, ratio(600))).change(both),
			"ScaledToZero: m1 8/20, m2 1/2, m3 1/2 run 0 ScaledToZero"},
		"to zero: the lowest priority": {snapshot(Prioritized, 8, 24, site("m1", 8, 23, 8, priority(2), ratio(600)), site("m2", 1, 1, 1, priority(1), ratio(600))).change(both),
			"ScaledToZero: m1 8/23, m2 1/1 run 0 ScaledToZero"},
		"to zero: the smallest, though it could host most": {snapshot(Aggregated, 1, 24, site("m1", 2, 20, 2, ratio(100)), site("m2", 1, 4, 1, ratio(100), hosts(20))).change(both),
			"ScaledToZero: m1 2/20, m2 1/4 run 0 ScaledToZero"},
		"not the last one": {snapshot(StaticWeighted, 0, 10, site("m1", 1, 5, 0, atZero), site("m2", 1, 5, 1, ratio(0))).change(both),
			"-: m1 1/5 ScaledToZero, m2 1/5"},
		"the others can just carry it": {snapshot(StaticWeighted, 1, 10, site("m1", 1, 3, 1, ratio(500)), site("m2", 1, 4, 1, ratio(1000)), site("m3", 1, 3, 1, ratio(500))).change(both),
			"ScaledToZero: m1 1/3, m2 1/4, m3 1/3 run 0 ScaledToZero"},
		"not while one wants more": {snapshot(StaticWeighted, 1, 10, site("m1", 1, 5, 1, ratio(300), wants(2)), site("m2", 1, 5, 1, ratio(300))).change(both),
			"-: m1 1/5, m2 1/5"},
		"not while one can not scale": {snapshot(StaticWeighted, 1, 10, site("m1", 1, 5, 1, ratio(300), func(s *Site) { s.ScalingActive = false }), site("m2", 1, 5, 1, ratio(300))).change(both),
			"-: m1 1/5, m2 1/5"},
		"not while Pods wait": {snapshot(StaticWeighted, 1, 10, site("m1", 1, 5, 1, ratio(300), pending(1, 5)), site("m2", 1, 5, 1, ratio(300))).change(both),
			"-: m1 1/5, m2 1/5"},
		"a window after one was woken": {snapshot(StaticWeighted, 1, 10, site("m1", 1, 5, 1, ratio(300)), site("m2", 1, 5, 1, ratio(300))).change(both).change(func(s *Snapshot) { s.Memory.LastScaleFromZeroTime = new(metav1.NewTime(*ago(300))) }),
			"ScaledToZero: m1 1/5, m2 1/5 run 0 ScaledToZero"},
		"the others could not carry it": {snapshot(StaticWeighted, 1, 10, site("m1", 1, 3, 1, ratio(800)), site("m2", 1, 4, 1, ratio(800)), site("m3", 1, 3, 1, ratio(800))).change(both),
			"-: m1 1/3, m2 1/4, m3 1/3"},
		"not while one is above its minimum": {snapshot(StaticWeighted, 1, 10, site("m1", 1, 5, 1, ratio(300)), site("m2", 1, 5, 2, ratio(300))).change(both),
			"-: m1 1/5, m2 1/5"},
		"not before a window is over": {snapshot(StaticWeighted, 1, 10, site("m1", 1, 5, 1, ratio(300)), site("m2", 1, 5, 1, ratio(300))).change(toZero),
			"-: m1 1/5, m2 1/5"},
		"not soon after one was woken": {snapshot(StaticWeighted, 1, 10, site("m1", 1, 5, 1, ratio(300)), site("m2", 1, 5, 1, ratio(300))).change(both).change(func(s *Snapshot) { s.Memory.LastScaleFromZeroTime = new(metav1.NewTime(*ago(299))) }),
			"-: m1 1/5, m2 1/5"},
		"not unless it may be": {snapshot(StaticWeighted, 1, 10, site("m1", 1, 5, 1, ratio(300)), site("m2", 1, 5, 1, ratio(300))).change(low),
			"-: m1 1/5, m2 1/5"},
		"from zero: the load takes as many as all minima": {snapshot(StaticWeighted, 2, 10, site("m1", 1, 1, 0, atZero), site("m2", 1, 4, 1, ratio(1200)), site("m3", 1, 5, 1, ratio(1200))).change(toZero),
			"ScaledFromZero: m1 1/1 run 1, m2 1/4, m3 1/5"},
		"less load does not wake": {snapshot(StaticWeighted, 2, 10, site("m1", 1, 1, 0, atZero), site("m2", 1, 4, 1, ratio(1000)), site("m3", 1, 5, 1, ratio(1000))).change(toZero),
			"-: m1 1/1 ScaledToZero, m2 1/4, m3 1/5"},
		"from zero: one is at its limit": {snapshot(Aggregated, 1, 10, site("m1", 4, 4, 0, atZero), site("m2", 1, 3, 3, limited, ratio(1200)), site("m3", 1, 3, 0, atZero)).change(toZero),
			"ScaledFromZero: m1 4/4 run 4, m2 1/3, m3 1/3 run 1"},
		"not because one wanted more before": {snapshot(Aggregated, 1, 10, site("m1", 4, 4, 0, atZero), site("m2", 1, 3, 3, limited, ratio(900)), site("m3", 1, 3, 0, atZero)).change(toZero),
			"MinimumMoved: m1 2/4 ScaledToZero, m2 3/3, m3 1/3 ScaledToZero"},
		"at its limit no more": {snapshot(Aggregated, 1, 10, site("m1", 1, 4, 0, atZero), site("m2", 1, 6, 3, limited, ratio(10))).change(toZero),
			"-: m1 1/4 ScaledToZero, m2 1/6"},
		"from zero: the highest priority alone": {snapshot(Prioritized, 1, 9, site("m1", 4, 4, 0, priority(1), atZero), site("m2", 1, 3, 3, limited, ratio(1200)), site("m3", 1, 2, 0, priority(2), atZero)).change(toZero),
			"ScaledFromZero: m1 4/4 ScaledToZero, m2 1/3, m3 1/2 run 1"},
		"from zero: Pods that no node takes": {snapshot(StaticWeighted, 1, 9, site("m1", 1, 4, 0, atZero), site("m2", 1, 5, 3, pending(1, 60), ratio(10))).change(toZero),
			"ScaledFromZero: m1 1/4 run 1, m2 1/5"},
		"from zero, though a cluster is silent": {snapshot(StaticWeighted, 1, 10, site("m1", 4, 4, 0, atZero), site("m2", 3, 5, 5, limited, ratio(1200)), site("m3", 1, 1, 1, silent(15))).change(toZero),
			"ScaledFromZero: m1 4/4 run 4, m2 3/5, m3 1/1 Unreachable"},
		"nothing runs, and nothing should": {snapshot(StaticWeighted, 0, 9, site("m1", 1, 4, 0, atZero), site("m2", 1, 5, 0, atZero)).change(toZero),
			"-: m1 1/4 ScaledToZero, m2 1/5 ScaledToZero"},
		"nothing runs, and something should": {snapshot(StaticWeighted, 0, 9, site("m1", 1, 4, 0, atZero), site("m2", 1, 5, 0, atZero)).change(toZero).change(func(s *Snapshot) { s.Wanted = true }),
			"ScaledFromZero: m1 1/4 run 1, m2 1/5 run 1"},
		"fewer run than the minimum of the fleet: the minimum moves": {snapshot(StaticWeighted, 5, 9, site("m1", 2, 4, 0, atZero), site("m2", 3, 5, 3, ratio(10))).change(toZero),
			"MinimumMoved: m1 1/4 ScaledToZero, m2 4/5"},
		"and then from zero": {snapshot(StaticWeighted, 5, 9, site("m1", 1, 4, 0, atZero), site("m2", 4, 5, 4, ratio(10))).change(toZero),
			"ScaledFromZero: m1 1/4 run 1, m2 4/5"},
		"from zero: nobody can take the minimum": {snapshot(StaticWeighted, 7, 9, site("m1", 3, 5, 0, atZero), site("m2", 4, 4, 4, ratio(10))).change(toZero),
			"ScaledFromZero: m1 3/5 run 3, m2 4/4"},
		"switched off by hand": {snapshot(StaticWeighted, 1, 9, site("m1", 1, 4, 0), site("m2", 1, 5, 5, limited, ratio(2000))),
			"-: m1 1/4, m2 1/5"},
		"a minimum at zero goes to those that run": {snapshot(StaticWeighted, 9, 30, site("m1", 2, 5, 4, weight(1), ratio(10)), site("m2", 4, 10, 5, weight(2), ratio(10)), site("m3", 6, 15, 0, weight(3), atZero)).change(toZero),
			"MinimumMoved: m1 3/5, m2 8/10, m3 1/15 ScaledToZero"},
		"what has no room stays": {snapshot(StaticWeighted, 9, 30, site("m1", 2, 3, 4, weight(1), ratio(10)), site("m2", 4, 6, 5, weight(2), ratio(10)), site("m3", 6, 21, 0, weight(3), atZero)).change(toZero),
			"MinimumMoved: m1 3/3, m2 6/6, m3 3/21 ScaledToZero"},

		// Bounds that follow capacity.
		"dynamic weights": {snapshot(DynamicWeighted, 3, 16, site("a", 1, 9, 5, hosts(0)), site("b", 1, 4, 2, hosts(4)), site("c", 1, 3, 3, hosts(2))),
			"MaximumMovedToCapacity: a 1/5, b 1/6, c 1/5"},
		"priorities": {snapshot(Prioritized, 3, 24, site("a", 1, 10, 10, priority(3), hosts(2)), site("b", 1, 9, 3, priority(2), hosts(0)), site("c", 1, 5, 1, priority(1), hosts(9))),
			"MaximumMovedToCapacity: a 1/12 hold, b 1/3, c 1/9"},
		"what nobody can host for sure stays": {snapshot(Prioritized, 2, 24, site("a", 1, 12, 10, priority(2), hosts(3)), site("b", 1, 12, 3, priority(1), hosts(0))),
			"MaximumMovedToCapacity: a 1/14 hold, b 1/10"},
		"once that is so, it stays so": {snapshot(Prioritized, 2, 24, site("a", 1, 14, 10, priority(2), hosts(3)), site("b", 1, 10, 3, priority(1), hosts(0))),
			"-: a 1/14 hold, b 1/10"},
		"no capacity: nothing moves": {snapshot(Prioritized, 2, 24, site("a", 8, 10, 10, priority(2), hosts(0)), site("b", 1, 14, 1, priority(1), hosts(0))),
			"-: a 8/10, b 1/14"},
		"a minimum is in use": {snapshot(DynamicWeighted, 4, 12, site("a", 3, 9, 0, hosts(0)), site("b", 1, 3, 3, hosts(9))),
			"MaximumMovedToCapacity: a 3/3, b 1/9"},
		"a ceiling": {snapshot(DynamicWeighted, 2, 13, site("a", 1, 9, 5, hosts(0)), site("b", 1, 4, 2, hosts(9), ceiling(6))),
			"MaximumMovedToCapacity: a 1/7, b 1/6"},
		"a ceiling, and much to move": {snapshot(DynamicWeighted, 2, 23, site("a", 1, 15, 5, hosts(0)), site("b", 1, 8, 2, hosts(9), ceiling(10))),
			"MaximumMovedToCapacity: a 1/13, b 1/10"},
		"in proportion to what can be hosted": {snapshot(DynamicWeighted, 3, 16, site("a", 1, 9, 5, hosts(0)), site("b", 1, 4, 2, hosts(6)), site("c", 1, 3, 3, hosts(3))),
			"MaximumMovedToCapacity: a 1/5, b 1/6, c 1/5"},
		"not for a little that one at its limit would lose": {snapshot(Prioritized, 2, 100, site("a", 1, 50, 10, priority(2), hosts(41)), site("b", 1, 50, 10, priority(1), hosts(39), limited)),
			"-: a 1/50 hold, b 1/50"},
		"a twentieth is enough": {snapshot(Prioritized, 2, 80, site("a", 1, 40, 10, priority(2), hosts(32)), site("b", 1, 40, 10, priority(1), hosts(28))),
			"MaximumMovedToCapacity: a 1/42 hold, b 1/38"},
		"not to a cluster that could not host what it had": {snapshot(DynamicWeighted, 2, 13, site("a", 1, 9, 5, hosts(0)), site("b", 1, 4, 2, hosts(9), saturated(ago(5)))),
			"-: a 1/9, b 1/4 Saturated"},
		"not twice in an interval": {snapshot(DynamicWeighted, 3, 16, site("a", 1, 9, 5, hosts(0)), site("b", 1, 4, 2, hosts(4)), site("c", 1, 3, 3, hosts(2))).change(func(s *Snapshot) { s.Memory.LastRebalanceTime = new(metav1.NewTime(*ago(299))) }),
			"-: a 1/9, b 1/4, c 1/3"},
		"but after an interval": {snapshot(DynamicWeighted, 3, 16, site("a", 1, 9, 5, hosts(0)), site("b", 1, 4, 2, hosts(4)), site("c", 1, 3, 3, hosts(2))).change(func(s *Snapshot) { s.Memory.LastRebalanceTime = new(metav1.NewTime(*ago(300))) }),
			"MaximumMovedToCapacity: a 1/5, b 1/6, c 1/5"},
		"not for a little": {snapshot(Prioritized, 2, 100, site("a", 1, 50, 10, priority(2), hosts(41)), site("b", 1, 50, 10, priority(1), hosts(39))),
			"-: a 1/50 hold, b 1/50"},
		"a little, where it is wanted": {snapshot(Prioritized, 2, 100, site("a", 1, 50, 50, priority(2), hosts(1), limited), site("b", 1, 50, 10, priority(1), hosts(39))),
			"MaximumMovedToCapacity: a 1/51 hold, b 1/49"},
		"to a cluster that had nothing": {snapshot(Aggregated, 1, 9, site("a", 1, 9, 3, hosts(0)), site("b", 0, 0, 0, hosts(4))),
			"MaximumMovedToCapacity: a 1/5, b 1/4 run 1"},

		// Bounds that follow demand.
		"to the one that wants more": {snapshot(StaticWeighted, 3, 15, site("a", 1, 5, 5, limited, ratio(1600)), site("b", 1, 5, 2, ratio(1000)), site("c", 1, 5, 5, pending(2, 60), ratio(1000))).change(demand),
			"BoundsMovedToDemand: a 1/8, b 1/4, c 1/3 Saturated"},
		"no more than it can host": {snapshot(StaticWeighted, 2, 10, site("a", 1, 5, 5, limited, ratio(1600), hosts(1)), site("b", 1, 5, 1, ratio(1000))).change(demand),
			"BoundsMovedToDemand: a 1/6, b 1/4"},
		"not to one that could not host what it had": {snapshot(StaticWeighted, 2, 10, site("a", 1, 5, 5, limited, ratio(1600), saturated(nil)), site("b", 1, 5, 1, ratio(1000))).change(demand),
			"-: a 1/5 Saturated, b 1/5"},
		"nobody wants more": {snapshot(StaticWeighted, 3, 15, site("a", 1, 5, 5, ratio(1000)), site("b", 1, 5, 2, ratio(1000)), site("c", 1, 5, 5, ratio(1000))).change(demand),
			"-: a 1/5, b 1/5, c 1/5"},
		"nobody has anything to give": {snapshot(StaticWeighted, 6, 10, site("a", 1, 5, 5, limited, ratio(1600)), site("b", 5, 5, 5, ratio(1000))).change(demand),
			"-: a 1/5, b 5/5"},
		"two minutes after it scaled": {snapshot(StaticWeighted, 2, 10, site("a", 1, 5, 5, limited, ratio(1600)), site("b", 1, 5, 1, ratio(1000), func(s *Site) { s.LastScale = ago(120) })).change(demand),
			"BoundsMovedToDemand: a 1/7, b 1/3"},
		"no more than its ceiling": {snapshot(StaticWeighted, 2, 10, site("a", 1, 5, 5, limited, ratio(1600), ceiling(6)), site("b", 1, 5, 1, ratio(1000))).change(demand),
			"BoundsMovedToDemand: a 1/6, b 1/4"},
		"not to one that would shrink": {snapshot(StaticWeighted, 2, 10, site("a", 1, 5, 5, limited, ratio(1600), wants(3)), site("b", 1, 5, 1, ratio(1000))).change(demand),
			"-: a 1/5, b 1/5"},
		"not to one that has room": {snapshot(StaticWeighted, 2, 10, site("a", 1, 5, 4, limited, ratio(1600)), site("b", 1, 5, 1, ratio(1000))).change(demand),
			"-: a 1/5, b 1/5"},
		"not to one whose Pods wait": {snapshot(StaticWeighted, 2, 10, site("a", 1, 5, 5, limited, ratio(1600), pending(1, 5)), site("b", 1, 5, 1, ratio(1000))).change(demand),
			"-: a 1/5, b 1/5"},
		"it wants more, and nobody knows how much": {snapshot(StaticWeighted, 2, 10, site("a", 1, 5, 5, limited), site("b", 1, 5, 1, ratio(1000))).change(demand),
			"BoundsMovedToDemand: a 1/6, b 1/4"},
		"what is soon needed is not given": {snapshot(StaticWeighted, 2, 14, site("a", 1, 5, 5, limited, ratio(1600)), site("b", 1, 9, 2, wants(6), ratio(1000))).change(demand),
			"BoundsMovedToDemand: a 1/6, b 1/8"},
		"nor what is the minimum": {snapshot(StaticWeighted, 7, 14, site("a", 1, 5, 5, limited, ratio(1600)), site("b", 6, 9, 2, ratio(1000))).change(demand),
			"BoundsMovedToDemand: a 1/6, b 6/8"},
		"nor the minimum of one that can not host it": {snapshot(StaticWeighted, 5, 10, site("a", 1, 5, 5, limited, ratio(1600)), site("c", 4, 5, 5, pending(2, 60), ratio(1000))).change(demand),
			"BoundsMovedToDemand: a 1/6, c 4/4 Saturated"},
		"the last one that is spare": {snapshot(StaticWeighted, 2, 8, site("a", 1, 5, 5, limited, ratio(1600)), site("b", 1, 3, 2, ratio(1000))).change(demand),
			"BoundsMovedToDemand: a 1/6, b 1/2"},
		"who has most to spare gives first": {snapshot(StaticWeighted, 3, 15, site("a", 1, 5, 5, limited, ratio(1200)), site("b", 1, 3, 1, ratio(1000)), site("c", 1, 7, 1, ratio(1000))).change(demand),
			"BoundsMovedToDemand: a 1/6, b 1/3, c 1/6"},
		"what is of no use goes first": {snapshot(StaticWeighted, 3, 15, site("a", 1, 5, 5, limited, ratio(1400)), site("b", 1, 5, 2, ratio(1000)), site("c", 1, 5, 5, pending(2, 60), ratio(1000))).change(demand),
			"BoundsMovedToDemand: a 1/7, b 1/5, c 1/3 Saturated"},
		"two want more": {snapshot(StaticWeighted, 3, 20, site("a", 1, 5, 5, limited, ratio(1200)), site("b", 1, 5, 5, limited, ratio(1600)), site("c", 1, 10, 2, ratio(1000))).change(demand),
			"BoundsMovedToDemand: a 1/6, b 1/8, c 1/6"},
		"duplicated bounds stay, whatever is wanted": {snapshot(Duplicated, 1, 5, site("a", 1, 5, 5, limited, ratio(1600)), site("b", 1, 5, 1, ratio(1000))).change(demand),
			"-: a 1/5, b 1/5"},
		"not from one that scaled lately": {snapshot(StaticWeighted, 2, 10, site("a", 1, 5, 5, limited, ratio(1600)), site("b", 1, 5, 2, ratio(1000), func(s *Site) { s.LastScale = ago(119) })).change(demand),
			"-: a 1/5, b 1/5"},
		"a minimum that is not needed": {snapshot(StaticWeighted, 6, 16, site("a", 4, 8, 4, ratio(400)), site("b", 2, 8, 2, wants(6), ratio(1000))).change(demand),
			"BoundsMovedToDemand: a 3/8, b 3/8"},
		"to the one that lacks most, from the one that needs least": {snapshot(StaticWeighted, 12, 32, site("a", 4, 8, 4, ratio(400)), site("b", 4, 8, 4, ratio(300)), site("c", 2, 8, 2, wants(4), ratio(1000)), site("d", 2, 8, 2, wants(6), ratio(1000), func(s *Site) { s.LastScale = ago(900) })).change(demand).change(func(s *Snapshot) { s.Sites[0].LastScale = ago(1) }),
			"BoundsMovedToDemand: a 4/8, b 3/8, c 2/8, d 3/8"},
		"from the one that needs least": {snapshot(StaticWeighted, 10, 24, site("a", 4, 8, 4, ratio(400)), site("b", 4, 8, 4, ratio(300)), site("c", 2, 8, 2, wants(4), ratio(1000))).change(demand),
			"BoundsMovedToDemand: a 4/8, b 3/8, c 3/8"},
		"nobody lacks a minimum": {snapshot(StaticWeighted, 6, 16, site("a", 4, 8, 4, ratio(400)), site("b", 2, 8, 2, ratio(1000))).change(demand),
			"-: a 4/8, b 2/8"},
		"nobody may have more of it": {snapshot(StaticWeighted, 6, 10, site("a", 4, 8, 4, ratio(400)), site("b", 2, 2, 2, wants(6), ratio(1000))).change(demand),
			"-: a 4/8, b 2/2"},
		"one is the least": {snapshot(StaticWeighted, 3, 16, site("a", 1, 8, 1, ratio(400)), site("b", 2, 8, 2, wants(6), ratio(1000))).change(demand),
			"-: a 1/8, b 2/8"},
		"one that runs more than its minimum keeps it": {snapshot(StaticWeighted, 6, 16, site("a", 4, 8, 5, ratio(400)), site("b", 2, 8, 2, wants(6), ratio(1000))).change(demand),
			"-: a 4/8, b 2/8"},
		"so does one that wants more": {snapshot(StaticWeighted, 6, 16, site("a", 4, 8, 4, ratio(400), wants(5)), site("b", 2, 8, 2, wants(6), ratio(1000))).change(demand),
			"-: a 4/8, b 2/8"},
		"so does one of which nothing is known": {snapshot(StaticWeighted, 6, 16, site("a", 4, 8, 4), site("b", 2, 8, 2, wants(6), ratio(1000))).change(demand),
			"-: a 4/8, b 2/8"},
		"a minimum that is needed": {snapshot(StaticWeighted, 6, 16, site("a", 4, 8, 4, ratio(500)), site("b", 2, 8, 2, wants(6), ratio(1000))).change(demand),
			"-: a 4/8, b 2/8"},
		"no demand is followed unless asked for": {snapshot(StaticWeighted, 5, 28, idle("a", 4), site("b", 1, 15, 1, wants(6))),
			"-: a 4/13, b 1/15"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(strings.TrimPrefix(tc.want, "-: "), strings.TrimPrefix(told(Next(tc.Snapshot)), "- ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
