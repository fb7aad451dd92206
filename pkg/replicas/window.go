// SPDX-License-Identifier: Apache-2.0

package replicas

import autoscalingv2 "k8s.io/api/autoscaling/v2"

// normalize brings a recommendation within the window and the bounds of a spec without behavior, and returns the
// replicas. A recommendation aged exactly the window still counts.
func (v *view) normalize(d *Decision, recommended int32) int32 {
	start := v.Now.Add(-v.Options.StabilizationWindow)
	old := func(r Recommendation) bool { return r.At.Before(start) }
	w := Window{Down: v.Options.StabilizationWindow}
	for _, r := range d.State.Recommendations {
		if !old(r) {
			w.Highest = atLeast(w.Highest, r.Replicas)
		}
	}
	stabilized := recommended
	if w.Highest != nil {
		stabilized = max(stabilized, *w.Highest)
	}
	d.Explanation.Window = w
	d.State = d.State.recommend(Recommendation{recommended, v.Now}, old)
	v.sayStabilized(d, recommended, stabilized, true)
	d.Explanation.Rate = Rate{Limit: v.fastestWithout()}
	return v.sayLimited(d, stabilized, v.bound(stabilized))
}

// sayStabilized reports whether the window restrains, and in which direction it does.
func (v *view) sayStabilized(d *Decision, recommended, stabilized int32, down bool) {
	d.Explanation.Stabilized = stabilized
	reason, message := ReasonReadyForNewScale, "recommended size matches current size"
	switch {
	case stabilized == recommended:
	case down:
		reason, message = ReasonScaleDownStabilized,
			"recent recommendations were higher than current one, applying the highest recent recommendation"
	default:
		reason, message = ReasonScaleUpStabilized, "recent recommendations were lower than current one, applying the lowest recent recommendation"
	}
	d.set(v.Now, autoscalingv2.AbleToScale, boolStatus(true), reason, message)
}

// sayLimited reports whether a bound or a rate limits, and returns what it leaves.
func (v *view) sayLimited(d *Decision, stabilized int32, l limit) int32 {
	d.Explanation.Limited = l.replicas
	d.set(v.Now, autoscalingv2.ScalingLimited, boolStatus(l.replicas != stabilized), l.reason, l.message)
	return l.replicas
}
