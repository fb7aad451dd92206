// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"errors"
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"
)

// scaled returns the replicas for a value and its target, both in milli: as many times the Ready Pods as the value is of
// the target. Without replicas the ratio itself is the answer, and nothing is tolerated.
func (v *view) scaled(value, target int64, m *Metric) (measured, error) {
	ratio := float64(value) / float64(target)
	ready, err := v.readyFor(m)
	told := Told{Err: err, Value: value, Ready: ready, ReadyUnknown: err != nil}
	got := measured{value: value}
	w := weighed{value: value, entries: int(ready), outcome: OutcomeScaled}
	switch {
	case v.Scale.Replicas == 0:
		w.replicas, w.entries = ceil32(ratio), 1
	case v.tolerance().within(ratio):
		w.replicas, w.outcome = v.told(), OutcomeTolerated
	case err != nil:
		return measured{working: Working{Told: told}}, fmt.Errorf("unable to calculate ready pods: %w", err)
	default:
		w.replicas = ceil32(ratio * float64(ready))
		if ratio < 1 && len(v.dark) > 0 && w.replicas > v.told() { // more Pods than replicas prove nothing if the value may be incomplete
			w.replicas, w.outcome = v.told(), OutcomeUnproven
		}
	}
	got.replicas, got.working = w.replicas, v.worked(RuleRatio, target, w, told)
	return got, nil
}

// readyFor is [view.readyPods], or what an earlier decision was told.
func (v *view) readyFor(m *Metric) (int64, error) {
	switch {
	case m.Told == nil:
		return v.readyPods()
	case m.Told.Err != nil:
		return 0, m.Told.Err
	case m.Told.ReadyUnknown:
		return 0, errors.New("no Ready Pod was known")
	}
	return m.Told.Ready, nil
}

// readyPods counts Ready Pods, those being deleted too. Of a cluster that cannot be seen they are those last seen; none
// at all are not believed then.
func (v *view) readyPods() (int64, error) {
	pods, ready := int64(0), int64(0)
	for _, m := range v.members {
		if m.Silent != nil && len(m.Pods) == 0 {
			pods, ready = pods+int64(m.LastReady), ready+int64(m.LastReady)
			continue
		}
		pods, ready = pods+int64(len(m.Pods)), ready+m.ready()
	}
	switch {
	case pods == 0:
		return 0, errNoPods
	case ready == 0 && v.hidden(nil):
		return 0, errors.New("no Ready Pod is known, and not all clusters are visible")
	}
	return ready, nil
}

func (c *Cluster) ready() int64 {
	n := int64(0)
	for i := range c.Pods {
		if c.Pods[i].Phase == corev1.PodRunning && c.Pods[i].Ready.Status == corev1.ConditionTrue {
			n++
		}
	}
	return n
}

// total adds values up, within int64.
func total(values []int64) int64 {
	sum := int64(0)
	for _, value := range values {
		if value > 0 && sum > math.MaxInt64-value {
			return math.MaxInt64
		}
		sum = saturatingAdd(sum, value)
	}
	return sum
}
