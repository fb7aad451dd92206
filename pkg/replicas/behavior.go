// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
)

// normalizeBehavior brings a recommendation within the windows, rates and bounds of a spec with behavior, and returns
// the replicas. A recommendation aged exactly a window does not count for it.
func (v *view) normalizeBehavior(d *Decision, recommended int32) int32 {
	upStart := v.Now.Add(-window(v.Spec.Behavior.ScaleUp, 0))
	downStart := v.Now.Add(-window(v.Spec.Behavior.ScaleDown, v.Options.StabilizationWindow.Truncate(time.Second)))
	w := Window{Up: v.Now.Sub(upStart), Down: v.Now.Sub(downStart)}
	for _, r := range d.State.Recommendations {
		if r.At.After(upStart) {
			w.Lowest = atMost(w.Lowest, r.Replicas)
		}
		if r.At.After(downStart) {
			w.Highest = atLeast(w.Highest, r.Replicas)
		}
	}
	d.Explanation.Window = w
	lowest, highest := *atMost(w.Lowest, recommended), *atLeast(w.Highest, recommended)
	stabilized := min(max(v.Scale.Replicas, lowest), highest)
	d.State = d.State.recommend(Recommendation{recommended, v.Now}, func(r Recommendation) bool {
		return r.At.Before(upStart) && r.At.Before(downStart)
	})
	v.sayStabilized(d, recommended, stabilized, recommended < v.Scale.Replicas)
	l, rate := v.rate(d.State, stabilized)
	d.Explanation.Rate = rate
	return v.sayLimited(d, stabilized, l)
}

// window returns for how long recommendations count in one direction.
func window(rules *autoscalingv2.HPAScalingRules, otherwise time.Duration) time.Duration {
	if rules == nil || rules.StabilizationWindowSeconds == nil {
		return otherwise
	}
	return time.Duration(*rules.StabilizationWindowSeconds) * time.Second
}
