// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	ours "github.com/fleetscale/fleetscale/pkg/replicas"
)

// decider is our decision with what a controller does around it.
type decider struct {
	w      *world
	state  ours.State
	status autoscalingv2.HorizontalPodAutoscalerStatus
}

// decide reconciles the world once, before the other controller does.
func (d *decider) decide(now time.Time) ours.Decision {
	spec := template()
	q := ours.Question{
		Namespace:  namespace,
		Generation: d.w.hpa.Generation,
		Spec:       d.w.hpa.Spec,
		Status:     d.status,
		Scale: ours.Scale{Replicas: d.w.target.replicas, StatusReplicas: d.w.target.statusReplicas,
			Selector: d.w.target.selector, Err: d.w.target.getErr},
		Template: ours.RequestsOf(&spec),
		State:    d.state,
		Options:  options,
		Now:      now,
	}
	for i := range d.w.clusters {
		q.Clusters = append(q.Clusters, d.w.cluster(i))
	}
	if q.NeedsMetrics() { // else nobody would have asked
		for _, m := range d.w.hpa.Spec.Metrics {
			q.Metrics = append(q.Metrics, d.w.metric(m))
		}
	}
	return ours.Decide(q)
}

// follow completes the decision by what became of the write, and stores what a controller would.
func (d *decider) follow(decision ours.Decision, u *upstream) outcome {
	o := outcome{}
	if decision.Rescale {
		o.Writes = []int32{decision.Replicas}
		for range len(u.writes) - 1 { // each try writes the same
			o.Writes = append(o.Writes, decision.Replicas)
		}
		if u.writeErr != nil {
			decision = decision.Refused(u.wroteAt, u.writeErr)
		} else {
			decision = decision.Scaled(u.wroteAt)
		}
	}
	for _, e := range decision.Events {
		o.Events = append(o.Events, event(e))
	}
	d.state = decision.State
	if !apiequality.Semantic.DeepEqual(d.status, decision.Status) {
		if d.w.statusFail {
			o.Events = failedStatus(o.Events)
		} else {
			d.status = decision.Status
		}
	}
	o.Status = d.status
	return o
}

// failedStatus adds what a controller says of a status that it cannot write. Where metrics cannot be used, that is
// said last.
func failedStatus(events []event) []event {
	failed := event{corev1.EventTypeWarning, "FailedUpdateStatus", errStatus.Error()}
	if n := len(events); n > 0 && events[n-1].Reason == ours.ReasonFailedComputeMetricsReplicas {
		return append(events[:n-1:n-1], failed, events[n-1])
	}
	return append(events, failed)
}

func clusterName(i int) string { return fmt.Sprintf("member-%d", i) }

func unionName(cluster int, prefix string, i int) string {
	return fmt.Sprintf("c%d.%s%d", cluster, prefix, i)
}

func (w *world) cluster(i int) ours.Cluster {
	c := ours.Cluster{Name: clusterName(i)}
	present := int32(0)
	for _, p := range w.pods {
		if p.cluster == i && w.selected(p) {
			c.Pods = append(c.Pods, ourPod(p))
			if p.DeletionTimestamp == nil && p.Status.Phase != corev1.PodFailed {
				present++
			}
		}
	}
	if w.clusters > 1 {
		present += int32(w.uncreated[i])
		if c.Assigned = &present; i == w.drained {
			c.Assigned = new(int32)
		} else if present == 0 {
			c.Assigned = nil
		}
	}
	if w.rivals && len(c.Pods) > 0 {
		c.Autoscalers = []string{namespace + "/" + rival, namespace + "/" + name}
	}
	return c
}

func ourPod(p pod) ours.Pod {
	o := ours.Pod{Name: p.local, Phase: p.Status.Phase, Terminating: p.DeletionTimestamp != nil, Requests: ours.RequestsOf(&p.Spec)}
	if p.Status.StartTime != nil {
		o.Started = p.Status.StartTime.Time
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			o.Ready = ours.Ready{Status: c.Status, Since: c.LastTransitionTime.Time}
		}
	}
	return o
}

func (w *world) metric(m autoscalingv2.MetricSpec) ours.Metric {
	a := w.answers[question(m)]
	o := ours.Metric{Err: a.err, Values: a.values, Pods: map[string]map[string]ours.Sample{}}
	for _, s := range a.samples {
		cluster := clusterName(s.cluster)
		if o.Pods[cluster] == nil {
			o.Pods[cluster] = map[string]ours.Sample{}
		}
		o.Pods[cluster][s.local] = ours.Sample{Value: s.value, At: s.at, Window: s.window}
	}
	return o
}
