// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Retold is a question that the same decision is made of, with what the decision used of Pods, samples and values in their place: of a
// cluster, that it is there, whether it can be seen, and whether it is draining; of a metric, its sums. It is as small for a thousand Pods
// as for one. By another spec it leads to the decision that the question would have led to, as long as the same metrics are asked, with
// targets of the same kinds; see [Metric.Retarget].
func (d *Decision) Retold(q *Question) Question {
	r := *q
	r.Template = nil
	r.Status = autoscalingv2.HorizontalPodAutoscalerStatus{DesiredReplicas: q.Status.DesiredReplicas}
	for _, kind := range []conditionType{autoscalingv2.ScaledToZero, v1alpha1.FleetVisible} {
		if c := find(q.Status.Conditions, kind); c != nil {
			r.Status.Conditions = append(r.Status.Conditions, autoscalingv2.HorizontalPodAutoscalerCondition{Type: kind, Status: c.Status})
		}
	}
	r.Clusters = make([]Cluster, len(q.Clusters))
	assigned := make([]int32, len(q.Clusters)) // of their own: who asked may write to a scale that is going to be written
	for i := range q.Clusters {
		c := &q.Clusters[i]
		r.Clusters[i] = Cluster{
			Name: c.Name, Silent: c.Silent, Drained: c.Drained, Replicas: c.Replicas, Selector: c.Selector, Autoscalers: c.Autoscalers,
		}
		if c.Assigned != nil {
			assigned[i] = *c.Assigned
			r.Clusters[i].Assigned = &assigned[i]
		}
	}
	r.Metrics = nil
	if q.NeedsMetrics() {
		r.Metrics = make([]Metric, min(len(q.Metrics), len(q.Spec.Metrics)))
	}
	for i := range r.Metrics {
		r.Metrics[i] = q.Metrics[i].retold(&q.Spec.Metrics[i])
		if i < len(d.Explanation.Metrics) && r.Metrics[i].Err == nil {
			r.Metrics[i].Told = &d.Explanation.Metrics[i].Working.Told
		}
	}
	return r
}

func (m *Metric) retold(spec *autoscalingv2.MetricSpec) Metric {
	r := Metric{Err: m.Err, Coverage: m.Coverage}
	if spec.Object != nil && r.Err == nil && len(m.Values) != 1 {
		r.Err = errValues(m)
	}
	return r
}

func errValues(m *Metric) error {
	return fmt.Errorf("the answer has %d values, and not one", len(m.Values))
}

// Retarget returns the answer of a metric as it would have been to another target of it; the error says why that is not known.
func (m *Metric) Retarget(now, before *autoscalingv2.MetricSpec) (Metric, error) {
	was := targetOf(before)
	return m.RetargetFrom(now, was.rule, was.percent)
}

// RetargetFrom is [Metric.Retarget] of one that had that rule, and that target where it was a utilization.
func (m *Metric) RetargetFrom(now *autoscalingv2.MetricSpec, old Rule, percent int32) (Metric, error) {
	is := targetOf(now)
	rule := is.rule
	switch {
	case m.Err != nil || m.Told == nil || rule == old && (rule != RuleUtilization || is.percent == percent):
		return *m, nil
	case rule != old && (rule != RuleAverage || old != RuleUtilization || m.Told.Err != nil):
		return Metric{}, fmt.Errorf("sums for a target of the kind %s do not tell what one of the kind %s asks for", old, rule)
	case rule != RuleUtilization:
		return *m, nil
	}
	busy, known := m.Told.Sums.BusyAt(is.percent)
	if !known {
		return Metric{}, fmt.Errorf("the Pods without a sample request too many different amounts for their sums to tell what another target " +
			"asks for")
	}
	r, told := *m, *m.Told
	told.Sums.Busy, r.Told = busy, &told
	return r, nil
}

// aim is how a metric comes to its number, and its target where that is a utilization.
type aim struct {
	rule    Rule
	percent int32
}

func targetOf(spec *autoscalingv2.MetricSpec) aim {
	target := v1alpha1.TargetOf(spec)
	switch {
	case spec.Pods != nil:
		return aim{rule: RuleAverage}
	case spec.Object != nil && spec.Object.Target.Type == autoscalingv2.ValueMetricType:
		return aim{rule: RuleRatio}
	case spec.External != nil && spec.External.Target.AverageValue == nil:
		return aim{rule: RuleRatio}
	case target == nil || spec.Object != nil || spec.External != nil:
		return aim{rule: RuleShare}
	case target.AverageValue == nil && target.AverageUtilization != nil:
		return aim{RuleUtilization, *target.AverageUtilization}
	}
	return aim{rule: RuleAverage}
}

// RuleOf returns how a metric comes to its number.
func RuleOf(spec *autoscalingv2.MetricSpec) Rule { return targetOf(spec).rule }
