// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/plugin/explain"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// recorded is what a record of decisions has of an autoscaler.
type recorded struct {
	// From and To are when the first and the last decision were made.
	From      int64 `json:"from"`
	To        int64 `json:"to"`
	Decisions int   `json:"decisions"`
	// Torn: the end of the record could not be read.
	Torn bool `json:"torn,omitempty"`
	// Settable are fields that a replay can set, as they were at the end.
	Settable []setting `json:"settable"`

	points []point
}

// setting is a field of the spec.
type setting struct {
	Field string `json:"field"`
	Name  string `json:"name"`
	Value string `json:"value"`
}

// add takes in the next record. Where points are too many, some are merged: no more than four times as many as are shown are kept.
func (r *recorded) add(record *recording.Record) {
	at := record.Question.Now
	if r.Decisions == 0 {
		r.From = at.UnixMilli()
	}
	r.To = max(r.To, at.UnixMilli())
	r.Decisions++
	r.Settable = settable(&record.Spec.HorizontalPodAutoscalerSpec)
	p := pointOfRecord(record)
	if n := len(r.points); n > 0 && (r.points[n-1].says(p) || !p.At.After(r.points[n-1].At)) {
		return // of two leaders, or of two files, the one that came first
	}
	if r.points = append(r.points, p); len(r.points) > 4*mostPoints {
		r.points = thinned(r.points, 2*mostPoints)
	}
}

// thinned are no more than n of the points: in each part of the time, the one that is worst off, or has most replicas.
func thinned(points []point, n int) []point {
	if len(points) <= n {
		return points
	}
	from, whole := points[0].At, points[len(points)-1].At.Sub(points[0].At)
	thin, last := make([]point, 0, n), -1
	for i := range points {
		p := &points[i]
		part := min(n-1, int(float64(n)*float64(p.At.Sub(from))/float64(max(1, whole))))
		switch {
		case part != last:
			thin, last = append(thin, *p), part
		case p.worse(&thin[len(thin)-1]):
			thin[len(thin)-1] = *p
		}
	}
	return thin
}

func (p *point) worse(than *point) bool {
	ill, other := p.State != string(v1alpha1.StateActive), than.State != string(v1alpha1.StateActive)
	return ill && !other || ill == other && p.Desired > than.Desired
}

// pointOfRecord is what an autoscaler was when the decision was made: what of it was recorded.
func pointOfRecord(r *recording.Record) point {
	q := &r.Question
	d := replicas.Decide(*q)
	p := point{
		At: q.Now, Desired: replicas.Whole(r.After, q.Copies), State: string(stateOfRecord(r, &d)),
		Limit: explanation.LimitedBy(decidedOf(r, &d)),
		Min:   new(replicas.Whole(ptr.Deref(r.Spec.MinReplicas, 1), q.Copies)), Max: new(replicas.Whole(r.Spec.MaxReplicas, q.Copies)),
		Metrics: amounts(r.Spec.Metrics, d.Status.CurrentMetrics),
	}
	for i := range q.Clusters {
		c := &q.Clusters[i]
		var facts recording.Facts
		if i < len(r.Facts) {
			facts = r.Facts[i]
		}
		if facts.Ready != nil {
			p.Ready = new(ptr.Deref(p.Ready, 0) + *facts.Ready)
		}
		if runs := cmp.Or(c.Replicas, facts.Ready); runs != nil {
			p.Clusters = append(p.Clusters, share{c.Name, *runs})
		}
	}
	return p
}

// stateOfRecord is what the status said, as far as that follows from the decision.
func stateOfRecord(r *recording.Record, d *replicas.Decision) v1alpha1.FederatedHPAState {
	status := v1alpha1.FederatedHPAStatus{}
	status.Conditions = d.Status.Conditions
	active := summary.Condition(&status, autoscalingv2.ScalingActive)
	switch {
	case r.Question.Scale.Err != nil || r.Outcome == recording.Refused:
		return v1alpha1.StateFailing
	case active.Reason == replicas.ReasonScalingDisabled && r.Question.Scale.Replicas == 0:
		return v1alpha1.StatePaused
	case active.Status == corev1.ConditionFalse && active.Reason != replicas.ReasonScalingDisabled && !d.Rescale:
		return v1alpha1.StateFailing
	case r.Outcome == recording.Observed:
		return v1alpha1.StateObserving
	case d.Explanation.Held:
		return v1alpha1.StateHeld
	case summary.Condition(&status, autoscalingv2.ScalingLimited).Status == corev1.ConditionTrue:
		return v1alpha1.StateLimited
	}
	return v1alpha1.StateActive
}

func decidedOf(r *recording.Record, d *replicas.Decision) *explanation.Decided {
	q := &r.Question
	return &explanation.Decided{
		Spec: &r.Spec.HorizontalPodAutoscalerSpec, At: q.Now, Current: q.Scale.Replicas, Replicas: d.Replicas, Copies: q.Copies,
		Explanation: d.Explanation,
		Age: func(cluster string) *int32 {
			for i := range q.Clusters {
				if q.Clusters[i].Name == cluster && i < len(r.Facts) {
					return r.Facts[i].Age
				}
			}
			return nil
		},
	}
}

// moment is why one decision was what it was.
type moment struct {
	At int64 `json:"at"`
	// Explanation is what `kubectl fleetscale explain` would have printed of it.
	Explanation string `json:"explanation"`
}

// momentOf explains a recorded decision. How clusters divided the replicas is not recorded.
func momentOf(r *recording.Record) moment {
	m := moment{At: r.Question.Now.UnixMilli()}
	if err := r.Question.Scale.Err; err != nil {
		m.Explanation = fleet.PrintableLines("nothing was decided: " + err.Error())
		return m
	}
	d := replicas.Decide(r.Question)
	e := explanation.Of(decidedOf(r, &d))
	m.Explanation = fleet.PrintableLines(fmt.Sprintf("%d replicas, from %d: %s\n%s%s", e.DesiredReplicas, e.CurrentReplicas,
		explain.Because(e.LimitedBy), outcome(r), explanation.Text(e)))
	return m
}

// outcome says what became of a decision that changes replicas.
func outcome(r *recording.Record) string {
	switch {
	case r.Outcome == recording.Refused:
		return "  they could not be written\n"
	case r.Outcome == recording.Observed:
		return "  nothing was written: it only observes\n"
	case r.Outcome == recording.Scaled && r.After != r.Decided:
		return fmt.Sprintf("  %d were written\n", r.After)
	}
	return ""
}

// settable are the bounds and the targets.
func settable(spec *autoscalingv2.HorizontalPodAutoscalerSpec) []setting {
	number := func(n int32) string { return strconv.Itoa(int(n)) }
	all := []setting{
		{"spec.minReplicas", "minReplicas", number(ptr.Deref(spec.MinReplicas, 1))},
		{"spec.maxReplicas", "maxReplicas", number(spec.MaxReplicas)},
	}
	names := summary.Amounts(spec.Metrics, nil)
	for i := range spec.Metrics {
		m := &spec.Metrics[i]
		source := sourceField(m)
		target := replicas.TargetOf(m)
		if source == "" || target == nil {
			continue
		}
		field := fmt.Sprintf("spec.metrics[%d].%s.target.", i, source)
		add := func(of, unit, value string) {
			all = append(all, setting{field + of, "target of " + names[i].Name + unit, value})
		}
		switch {
		case target.AverageUtilization != nil:
			add("averageUtilization", ", in percent", number(*target.AverageUtilization))
		case target.AverageValue != nil:
			add("averageValue", "", target.AverageValue.String())
		case target.Value != nil:
			add("value", "", target.Value.String())
		}
	}
	return all
}

// sourceField is the name of the field that a metric has.
func sourceField(m *autoscalingv2.MetricSpec) string {
	switch {
	case m.Resource != nil:
		return "resource"
	case m.ContainerResource != nil:
		return "containerResource"
	case m.Pods != nil:
		return "pods"
	case m.Object != nil:
		return "object"
	case m.External != nil:
		return "external"
	}
	return ""
}

// joined are the points of a record, and then those that were seen since the page was started.
func joined(r *recorded, live []point, now time.Time) []point {
	if r == nil {
		return live
	}
	before := r.points
	for len(before) > 0 && (len(live) > 0 && !before[len(before)-1].At.Before(live[0].At) || before[len(before)-1].At.After(now)) {
		before = before[:len(before)-1]
	}
	return slices.Concat(before, live)
}
