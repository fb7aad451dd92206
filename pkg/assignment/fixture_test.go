// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// snapshot is of a fleet whose sites are present and content, at noon.
func snapshot(policy Policy, least, most int32, sites ...Site) Snapshot {
	s := Snapshot{Policy: policy, Min: least, Max: most, Sites: sites, Now: noon,
		Delay: time.Minute, Window: 5 * time.Minute, Grace: 5 * time.Minute, Tolerance: 100,
		Rest: 2 * time.Minute, WindowStep: 2 * time.Minute}
	s.Rebalance = (&v1alpha1.FederatedHPAAssignment{FederatedHPAAssignmentType: v1alpha1.FederatedHPAAssignmentType(
		policy)}).RebalanceOrDefault()
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
