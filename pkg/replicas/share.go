// SPDX-License-Identifier: Apache-2.0

package replicas

import "math"

// shared returns the replicas for a value and the target for each replica, both in milli, and the value for each replica
// that runs now; with none, the whole value.
func (v *view) shared(value, target int64, m *Metric) measured {
	told := Told{Value: value, Running: v.statusReplicas(), Lagging: v.lagging()}
	if m.Told != nil {
		told = *m.Told
	}
	running := told.Running
	got := measured{value: value}
	w := weighed{value: value, replicas: running, outcome: OutcomeTolerated, entries: int(running)}
	if ratio := float64(value) / (float64(target) * float64(running)); !v.tolerance().within(ratio) {
		w.replicas, w.outcome = ceil32(float64(value)/float64(target)), OutcomeScaled
	} else if told.Lagging {
		w.replicas, w.outcome = v.told(), OutcomeLagging
	}
	if running != 0 {
		got.value = ceil64(float64(value) / float64(running))
	}
	got.replicas, got.working = w.replicas, v.worked(RuleShare, target, w, told)
	return got
}

// totalOfShares adds values up, within int64. A sum below zero is taken for one beyond the bound, as Kubernetes does: a
// metric that can be negative has no share for each replica.
func totalOfShares(values []int64) int64 {
	sum := int64(0)
	for _, value := range values {
		if sum += value; sum < 0 { // too large a sum wraps to below zero, as sum was not
			return math.MaxInt64
		}
	}
	return sum
}
