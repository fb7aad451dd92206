// SPDX-License-Identifier: Apache-2.0

package replicas

import "math"

// shared returns the replicas for a value and the target for each replica, both in milli, and the value for each replica
// that runs now; with none, the whole value.
func (v *view) shared(value, target int64) measured {
	running := v.statusReplicas()
	m := measured{replicas: running, value: value}
	if ratio := float64(value) / (float64(target) * float64(running)); !v.tolerance().within(ratio) {
		m.replicas = ceil32(float64(value) / float64(target))
	} else if v.lagging() {
		m.replicas = v.told()
	}
	if running != 0 {
		m.value = ceil64(float64(value) / float64(running))
	}
	return m
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
