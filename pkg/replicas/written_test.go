// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"errors"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// byPods lets replicas change by so many pods in a minute, in both directions, and asks for no window.
func byPods(up, down int32) *autoscalingv2.HorizontalPodAutoscalerBehavior {
	rules := func(n int32) *autoscalingv2.HPAScalingRules {
		return &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32), Policies: []autoscalingv2.HPAScalingPolicy{
			{Type: autoscalingv2.PodsScalingPolicy, Value: n, PeriodSeconds: 60}}}
	}
	return &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: rules(up), ScaleDown: rules(down)}
}

// written follows a question through: each decision is written, and the next one asked a while later.
func written(q Question, percent int64, pauses ...time.Duration) (replicas []int32, last Decision) {
	for _, pause := range pauses {
		q.Now = q.Now.Add(pause)
		q = q.use("east", percent)
		q.Metrics[0].Pods["east"] = maxedAt(q)
		last = ended(Decide(q), q.Now)
		q.Scale.Replicas, q.Scale.StatusReplicas, q.State, q.Status = last.Replicas, last.Replicas, last.State, last.Status
		replicas = append(replicas, last.Replicas)
	}
	return replicas, last
}

// A policy allows so much in its period, counting what was changed in it: in both directions.
func TestPoliciesCountWhatWasWritten(t *testing.T) {
	const minute = time.Minute
	pauses := []time.Duration{0, minute / 4, minute / 4, minute/2 - 1, 1, minute}
	q := ask(20, cluster("east", 20))
	q.Spec.Behavior = byPods(5, 4)
	down, last := written(q, 1, pauses...)
	same(t, "replicas on the way in", []int32{16, 16, 16, 16, 12, 8}, down)
	same(t, "changes on the way in, of the last period", []int32{4, 4}, amounts(last.State.ScaleDowns))
	same(t, "changes on the way out, on the way in", nil, last.State.ScaleUps)

	up, last := written(q, 400, pauses...)
	same(t, "replicas on the way out", []int32{25, 25, 25, 25, 30, 35}, up)
	same(t, "changes on the way in, on the way out", nil, last.State.ScaleDowns)
	same(t, "changes on the way out, of the last period", []int32{5, 5}, amounts(last.State.ScaleUps))

	q.Spec.Behavior = nil
	_, last = written(q, 400, 0)
	same(t, "what is remembered where there are no policies", State{Recommendations: last.State.Recommendations}, last.State)
}

func amounts(changes []Change) []int32 {
	var all []int32
	for _, c := range changes {
		all = append(all, c.Replicas)
	}
	return all
}

// What is remembered beyond the longest period is replaced, each direction by its own.
func TestChangesAreRememberedForTheLongestPeriod(t *testing.T) {
	b := byPods(5, 4)
	b.ScaleUp.Policies = append(b.ScaleUp.Policies, autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PodsScalingPolicy, Value: 9,
		PeriodSeconds: 300})
	ago := func(d time.Duration) []Change { return []Change{{Replicas: 1, At: start.Add(-d)}} }
	s := State{ScaleUps: ago(5 * time.Minute), ScaleDowns: ago(time.Minute)}
	same(t, "up, at the end of the period", 2, len(s.scaled(b, 3, start).ScaleUps))
	same(t, "down, at the end of the period", 2, len(s.scaled(b, -3, start).ScaleDowns))
	same(t, "up, after it", []Change{{Replicas: 3, At: start.Add(1)}}, s.scaled(b, 3, start.Add(1)).ScaleUps)
	same(t, "down, after it", []Change{{Replicas: 3, At: start.Add(1)}}, s.scaled(b, -3, start.Add(1)).ScaleDowns)
	same(t, "up, where it goes down", s.ScaleUps, s.scaled(b, -3, start.Add(1)).ScaleUps)
	same(t, "down, where it goes up", s.ScaleDowns, s.scaled(b, 3, start.Add(1)).ScaleDowns)
}

// What is said and stored once the replicas are written, and once they are refused.
func TestWhatIsSaidOfAWrite(t *testing.T) {
	q := ask(10, cluster("east", 10)).use("east", 75)
	q.Generation, q.Status.DesiredReplicas, q.Status.CurrentReplicas = 7, 9, 8
	q.Status.LastScaleTime = &metav1.Time{Time: start.Add(-time.Hour)}
	d := Decide(q)
	const reason = "cpu resource utilization (percentage of request) above target"
	later := start.Add(time.Second)

	scaled := d.Scaled(later)
	same(t, "Events", []Event{{"Normal", "SuccessfulRescale", "New size: 15; reason: " + reason}}, scaled.Events)
	same(t, "the condition", able(later, corev1.ConditionTrue, "SucceededRescale",
		"the HPA controller was able to update the target scale to 15"),
		*find(scaled.Status.Conditions, autoscalingv2.AbleToScale))
	same(t, "when it was scaled", later, scaled.Status.LastScaleTime.Time)
	same(t, "replicas", []int32{10, 15}, []int32{scaled.Status.CurrentReplicas, scaled.Status.DesiredReplicas})
	same(t, "metrics", 1, len(scaled.Status.CurrentMetrics))
	same(t, "generation", int64(7), *scaled.Status.ObservedGeneration)

	refused := d.Refused(later, errors.New("no"))
	same(t, "Events, refused", []Event{{"Warning", "FailedRescale", "New size: 15; reason: " + reason + "; error: no"}}, refused.Events)
	same(t, "the condition, refused",
		able(later, corev1.ConditionFalse, "FailedUpdateScale", "the HPA controller was unable to update the target scale: no"),
		*find(refused.Status.Conditions, autoscalingv2.AbleToScale))
	same(t, "when it was scaled, refused", start.Add(-time.Hour), refused.Status.LastScaleTime.Time)
	same(t, "replicas, refused", []int32{10, 9}, []int32{refused.Status.CurrentReplicas, refused.Status.DesiredReplicas})
	same(t, "metrics, refused", 1, len(refused.Status.CurrentMetrics))
	same(t, "the error", "scaling Deployment/shop/web: no", refused.Err.Error())
	if find(refused.Status.Conditions, autoscalingv2.ScaledToZero) != nil {
		t.Error("a write that was refused says something of zero")
	}
}

// able is the condition as it is when its status became so at that time; else it is as old as the question.
func able(now time.Time, status corev1.ConditionStatus, reason, message string) autoscalingv2.HorizontalPodAutoscalerCondition {
	c := autoscalingv2.HorizontalPodAutoscalerCondition{Type: autoscalingv2.AbleToScale, Status: status, Reason: reason, Message: message}
	if c.LastTransitionTime = metav1.NewTime(start); status == corev1.ConditionFalse {
		c.LastTransitionTime = metav1.NewTime(now)
	}
	return c
}

// Zero replicas are ours to end where we wrote them, and something can end them.
func TestWhoseZeroItIs(t *testing.T) {
	const ours, notOurs = "True ScaledToZero: the HPA controller scaled the workload to zero",
		"False NotScaledToZero: the HPA controller did not scale the workload to zero"
	idle := func(least int32, queue int64) Question {
		q := ask(2, cluster("east", 2)).with(externalOf(value("100")), queue)
		q.Spec.MinReplicas = &least
		return q
	}
	byCPU := ask(2, cluster("east", 2)).use("east", 0)
	byCPU.Spec.MinReplicas = new(int32)
	tests := map[string]struct {
		question Question
		want     string
	}{
		"to zero, by a metric that ends it": {idle(0, 0), ours},
		"to zero, and nothing ends it":      {byCPU, notOurs},
		"to a minimum above zero":           {idle(1, 0), notOurs},
		"to another number":                 {idle(0, 50_000), notOurs},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(tc.question)
			if !d.Rescale {
				t.Fatalf("%d replicas stay", d.Replicas)
			}
			c := find(d.Scaled(start).Status.Conditions, autoscalingv2.ScaledToZero)
			same(t, "the condition", tc.want, string(c.Status)+" "+c.Reason+": "+c.Message)
		})
	}
}
