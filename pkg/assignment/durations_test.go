// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// A site that was scaled takes part again once it has rested.
func TestRestIsAsLongAsGiven(t *testing.T) {
	for rest, want := range map[time.Duration]Action{0: DemandFollowed, 2 * time.Minute: DemandFollowed, 4 * time.Minute: ""} {
		full := func(s *Site) { s.Desired, s.TooManyReplicas, s.LastScale = 5, true, ago(180) }
		sites := []Site{site("a", 1, 5, 5, full, ratio(1500)), site("b", 1, 5, 1, ratio(500))}
		got := Next(snapshot(StaticWeighted, 2, 10, sites...).change(func(s *Snapshot) {
			s.Rebalance.Strategy, s.Rest = v1alpha1.RebalanceDemand, rest
		}))
		fleettest.Same(t, "action with a rest of "+rest.String(), want, got.Action)
	}
}

// With BestEffort each priority waits a step longer than the one below it.
func TestWindowStepIsAsLongAsGiven(t *testing.T) {
	first := func(s *Site) { s.Priority = 2 }
	for step, want := range map[time.Duration]time.Duration{
		time.Second: 301 * time.Second, 2 * time.Minute: 420 * time.Second, time.Hour: time.Hour,
	} {
		got := Next(snapshot(Prioritized, 2, 10, site("a", 1, 5, 5, first), site("b", 1, 5, 1)).change(func(s *Snapshot) {
			s.ScaleDownOrder, s.WindowStep = v1alpha1.ScaleDownBestEffort, step
		}))
		fleettest.Same(t, "window of a with a step of "+step.String(), want, got.Sites["a"].Window)
		fleettest.Same(t, "window of b", 5*time.Minute, got.Sites["b"].Window)
	}
}
