// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"math"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// resized is the question of a workload that was told so many replicas instead: Pods that are more or fewer were counted, the load is the
// same, and each requests what they do in the mean.
func resized(q replicas.Question, current int32) replicas.Question {
	by := int64(replicas.Whole(current, q.Copies)) - int64(replicas.Whole(q.Scale.Replicas, q.Copies))
	if by == 0 {
		return q
	}
	q.Scale.Replicas = current
	q.Scale.StatusReplicas = within32(int64(q.Scale.StatusReplicas) + by)
	q.Metrics = slices.Clone(q.Metrics)
	for i := range q.Metrics {
		m := &q.Metrics[i]
		if m.Told == nil {
			continue
		}
		told := *m.Told
		told.Clusters = nil // nobody says where the Pods would be
		told.Sums = spread(told.Sums, by)
		if ready := max(1, told.Ready+by); told.Ready > 0 { // a value that is to be a target falls as Pods are added
			told.Value = int64(float64(told.Value) * float64(told.Ready) / float64(ready))
			told.Ready = ready
		}
		told.Running = max(0, within32(int64(told.Running)+by))
		m.Told = &told
	}
	return q
}

func spread(s replicas.Sums, by int64) replicas.Sums {
	if s.Counted == 0 {
		return s
	}
	counted := max(1, int64(s.Counted)+by)
	s.Requests = int64(math.Round(float64(s.Requests) / float64(s.Counted) * float64(counted)))
	s.Counted = int(counted)
	return s
}

func within32(n int64) int32 { return int32(max(math.MinInt32, min(n, math.MaxInt32))) }

// usage is how much of something there is, in percent.
type usage struct {
	percent           int64
	known, ofRequests bool
}

// use is what the Pods that a metric counts use of their requests, or else its value of the target that the spec gives.
func use(m *replicas.Metric, spec *autoscalingv2.MetricSpec) usage {
	if m.Told == nil || m.Err != nil {
		return usage{}
	}
	t := m.Told
	switch target := aimOf(spec); {
	case t.Err != nil:
		return usage{}
	case target.ofPods && t.Sums.Counted > 0 && target.utilization:
		return percent(float64(t.Sums.Used), float64(t.Sums.Requests), true)
	case target.ofPods:
		pods := t.Sums.Counted + t.Sums.Strangers
		return percent(float64(t.Sums.Used)+float64(t.Sums.StrangersUsed), float64(pods)*float64(target.milli), false)
	case target.share:
		return percent(float64(t.Value), float64(t.Running)*float64(target.milli), false)
	default:
		return percent(float64(t.Value), float64(target.milli), false)
	}
}

func percent(value, of float64, ofRequests bool) usage {
	if of <= 0 {
		return usage{ofRequests: ofRequests}
	}
	return usage{int64(min(math.Round(100*value/of), math.MaxInt32)), true, ofRequests}
}

// value is nil if it is not known.
func (u usage) value() *int64 {
	if !u.known {
		return nil
	}
	return new(u.percent) // alone: there are many of them
}

// higher is the higher one of two values, of which each may not be known.
func higher(a, b *int64) *int64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

type aim struct {
	ofPods, utilization, share bool
	milli                      int64
}

func aimOf(spec *autoscalingv2.MetricSpec) aim {
	target, a := v1alpha1.TargetOf(spec), aim{}
	if target == nil {
		return a
	}
	a.ofPods = spec.Object == nil && spec.External == nil
	switch {
	case target.AverageValue != nil:
		a.milli, a.share = target.AverageValue.MilliValue(), !a.ofPods
	case target.AverageUtilization != nil:
		a.utilization = true
	case target.Value != nil:
		a.milli = target.Value.MilliValue()
	}
	return a
}
