// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"errors"
	"math"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

// remeasure answers every metric again. Loads are near those where decisions turn.
func (w *world) remeasure(d dice, now time.Time) {
	w.answers = map[string]answer{}
	load := of(d, 0, 0.01, 0.3, 0.5, 0.8, 0.89, 0.9, 0.91, 1, 1, 1.09, 1.1, 1.11, 1.3, 2, 5)
	if w.idle && !d.oneIn(5) {
		load = 0
	}
	for _, m := range w.hpa.Spec.Metrics {
		a := answer{}
		switch {
		case d.oneIn(12):
			a.err = errors.New(of(d, "unable to fetch metrics from the metrics API: refused", "no metrics returned from the metrics API"))
			a.values = []int64{0}
		case m.Object != nil:
			a.values = []int64{w.total(d, m.Object.Target, load)}
		case m.External != nil:
			a.values = d.parts(w.total(d, m.External.Target, load))
		default:
			a.samples = w.measure(d, m, load, now)
		}
		if _, known := w.answers[question(m)]; !known { // two metrics may ask the same
			w.answers[question(m)] = a
		}
	}
}

// total is a value that makes so much of its target.
func (w *world) total(d dice, t autoscalingv2.MetricTarget, load float64) int64 {
	switch {
	case t.AverageValue != nil:
		return int64(float64(t.AverageValue.MilliValue()) * load * float64(max(w.target.statusReplicas, 1)))
	case t.Value != nil:
		return int64(float64(t.Value.MilliValue()) * load)
	}
	return int64(d.IntN(1000))
}

// parts splits a value; some have a part below zero.
func (d dice) parts(total int64) []int64 {
	if d.oneIn(2) {
		return []int64{total}
	}
	first := total / of(d, int64(1), 2, 3, -1)
	return []int64{first, total - first}
}

// measure gives most Pods a sample, and some of none.
func (w *world) measure(d dice, m autoscalingv2.MetricSpec, load float64, now time.Time) map[string]sample {
	samples, lost := map[string]sample{}, of(d, math.MaxInt, math.MaxInt, 10, 3)
	for _, p := range w.pods {
		if lost != math.MaxInt && d.oneIn(lost) {
			continue
		}
		if p.cluster == w.drained && !w.selected(p) {
			continue // a drained cluster has no samples of Pods that nobody lists
		}
		samples[p.Name] = d.sample(p, d.value1(m, load), now)
	}
	for i := range of(d, 0, 0, 0, 0, 0, 0, 1, 3) {
		cluster := d.IntN(w.clusters)
		if cluster == w.drained {
			continue
		}
		local := "gone-" + string(rune('a'+i))
		samples[unionName(cluster, local, 0)] = sample{value: d.value1(m, load), at: now, cluster: cluster, local: local}
	}
	return samples
}

func (d dice) sample(p pod, value int64, now time.Time) sample {
	s := sample{value: value, window: 30 * time.Second, at: now.Add(-of(d, 0, 10*time.Second, time.Minute)), cluster: p.cluster,
		local: p.local}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && d.oneIn(3) { // at the very bound of the rule
			s.at = c.LastTransitionTime.Add(s.window + of(d, time.Duration(-1), 0, 1))
		}
	}
	return s
}

// value1 returns what one Pod uses at a load.
func (d dice) value1(m autoscalingv2.MetricSpec, load float64) int64 {
	noise := of(d, 1, 1, 1, 0.9, 1.2, 0)
	switch t := target1(m); {
	case t.AverageValue != nil:
		return int64(float64(t.AverageValue.MilliValue()) * load * noise)
	case t.AverageUtilization != nil && m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource.Name == corev1.ResourceMemory:
		return int64(float64(*t.AverageUtilization) * load * noise) // of 100m
	case t.AverageUtilization != nil:
		return int64(5 * float64(*t.AverageUtilization) * load * noise) // of 500m
	}
	return int64(d.IntN(1000)) - 20
}

func target1(m autoscalingv2.MetricSpec) autoscalingv2.MetricTarget {
	switch {
	case m.Resource != nil:
		return m.Resource.Target
	case m.ContainerResource != nil:
		return m.ContainerResource.Target
	case m.Pods != nil:
		return m.Pods.Target
	}
	return autoscalingv2.MetricTarget{}
}
