// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
)

// way is how replicas are decided on.
type way int

const (
	unknownScale way = iota // not at all
	disabled                // they stay at zero
	toMax                   // by the spec's bound alone
	toMin                   // the same
	byMetrics
)

// Why replicas change, where it is not a metric.
const (
	aboveMax    = "Current number of replicas above Spec.MaxReplicas"
	belowMin    = "Current number of replicas below Spec.MinReplicas"
	belowTarget = "All metrics below target"
)

// NeedsMetrics reports whether the decision is made by metrics, so that Pods and metrics must be gathered for it. It reads
// at Spec, Status and Scale only.
func (q *Question) NeedsMetrics() bool { return q.way() == byMetrics }

func (q *Question) way() way {
	switch current := q.Scale.Replicas; {
	case q.Scale.Err != nil:
		return unknownScale
	case current == 0 && !q.mayLeaveZero():
		return disabled
	case current == 0:
		return byMetrics
	case current > q.Spec.MaxReplicas:
		return toMax
	case current < q.minReplicas():
		return toMin
	}
	return byMetrics
}

// Decide answers a question. The same question has the same answer, whatever the order of clusters and Pods; but where
// several Pods of a cluster lack a request, the message names the first in the order given, as that of Kubernetes does.
func Decide(q Question) Decision {
	v, d := newView(&q), q.begin()
	way := q.way()
	if way == unknownScale {
		v.sayNoScale(&d)
		return d
	}
	d.set(v.Now, autoscalingv2.AbleToScale, boolStatus(true), ReasonSucceededGetScale,
		"the HPA controller was able to get the target's current scale")
	d.State = d.State.begin(v.Scale.Replicas, v.Now)
	switch way {
	case disabled:
		d.Explanation.Basis = BasisDisabled
		v.inactive(&d, ReasonScalingDisabled, "scaling is disabled since the replica count of the target is zero")
		v.settle(&d, v.Scale.Replicas, nil)
	case toMax:
		d.Explanation.Reason, d.Explanation.Basis = aboveMax, BasisMax
		v.settle(&d, v.Spec.MaxReplicas, nil)
	case toMin:
		d.Explanation.Reason, d.Explanation.Basis = belowMin, BasisMin
		v.settle(&d, v.minReplicas(), nil)
	default:
		v.follow(&d)
	}
	return d
}

func (q *Question) begin() Decision {
	d := Decision{Replicas: q.Scale.Replicas, Status: q.Status, State: q.State}
	d.Status.Conditions = slices.Clone(q.Status.Conditions)
	d.plan = plan{
		generation:  q.Generation,
		behavior:    q.Spec.Behavior,
		current:     q.Scale.Replicas,
		before:      q.Status.DesiredReplicas,
		zeroIsOurs:  q.minReplicas() == 0 && q.endsZero(),
		description: fmt.Sprintf("%s/%s/%s", q.Spec.ScaleTargetRef.Kind, q.Namespace, q.Spec.ScaleTargetRef.Name),
	}
	return d
}

// sayNoScale leaves all of the status as it was but one condition.
func (v *view) sayNoScale(d *Decision) {
	d.warn(ReasonFailedGetScale, v.Scale.Err.Error())
	d.set(v.Now, autoscalingv2.AbleToScale, boolStatus(false), ReasonFailedGetScale,
		fmt.Sprintf("the HPA controller was unable to get the target's current scale: %v", v.Scale.Err))
	d.Err = fmt.Errorf("reading the scale of %s: %w", d.plan.description, v.Scale.Err)
}

// follow decides by the metrics.
func (v *view) follow(d *Decision) {
	v.dark = v.unseen()
	d.Explanation.Basis = BasisNothing
	c, err := v.combine(d)
	v.reportUnseen(d)
	if err != nil {
		d.report(v.Scale.Replicas, d.plan.before, c.statuses)
		d.warn(ReasonFailedComputeMetricsReplicas, err.Error())
		d.Err = fmt.Errorf("computing the replicas of %s by its metrics: %w", d.plan.description, err)
		return
	}
	d.Explanation.Basis = BasisMetrics
	d.Err = c.err(len(v.Spec.Metrics))
	d.Explanation.Asked = max(0, c.replicas)
	recommended := v.hold(d, d.Explanation.Asked)
	d.Explanation.Metric, d.Explanation.Recommended = c.metric, recommended
	switch {
	case recommended > v.Scale.Replicas:
		d.Explanation.Reason = c.metric + " above target"
	case recommended < v.Scale.Replicas:
		d.Explanation.Reason = belowTarget
	}
	desired := int32(0)
	if v.Spec.Behavior == nil {
		desired = v.normalize(d, recommended)
	} else {
		desired = v.normalizeBehavior(d, recommended)
	}
	v.settle(d, v.lift(d, desired), c.statuses)
}

// settle ends the decision where replicas stay; where they change, that is told first.
func (v *view) settle(d *Decision, desired int32, metrics []autoscalingv2.MetricStatus) {
	d.Replicas, d.plan.metrics = desired, metrics
	if d.Rescale = desired != v.Scale.Replicas; !d.Rescale {
		d.report(desired, desired, metrics)
	}
}
