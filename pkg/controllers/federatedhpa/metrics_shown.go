// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"cmp"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/recording/series"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// shown is what the metrics tell of one object. The series are made of it when they are asked for: they take many times its memory.
type shown struct {
	min, max                int32
	current, desired, ready int32 // or unknown
	mode                    v1alpha1.AutoscalingMode
	state                   v1alpha1.FederatedHPAState
	clusters                []shownCluster
	amounts                 []summary.Amount
	decision                *shownDecision
}

// shownDecision is what the last decision that was stored was told, in central mode.
type shownDecision struct {
	at             time.Time
	unseen, copies int32
	told           []shownTold
}

// shownTold is what one metric was told.
type shownTold struct {
	index int
	name  string
	rule  replicas.Rule
	told  *replicas.Told
}

// clusterKinds are the label values of the numbers of a cluster.
var clusterKinds = [...]string{"assigned", "assigned_max", "current", "ready", "unschedulable"}

// unknown are replicas that are not known.
const unknown = -1

type shownCluster struct {
	name     string
	replicas [len(clusterKinds)]int32 // unknown, if they are
}

// shownOf takes an object as it is stored, whose defaults may be missing.
func shownOf(object *v1alpha1.FederatedHPA) *shown {
	s := &shown{
		min: ptr.Deref(object.Spec.MinReplicas, 1), max: object.Spec.MaxReplicas,
		current: unknown, desired: unknown, ready: ptr.Deref(object.Status.ReadyReplicas, unknown),
		mode:     cmp.Or(object.Spec.Mode, v1alpha1.ModeActive),
		clusters: make([]shownCluster, len(object.Status.Clusters)),
		amounts:  summary.Amounts(object.Spec.Metrics, object.Status.CurrentMetrics),
	}
	if object.Status.ObservedGeneration != nil { // otherwise nothing was decided yet, and none is not zero
		s.current, s.desired = object.Status.CurrentReplicas, ptr.Deref(summary.Desired(&object.Status), unknown)
	}
	if object.Status.Summary != nil {
		s.state = object.Status.Summary.State
	}
	for i := range object.Status.Clusters {
		c := &object.Status.Clusters[i]
		s.clusters[i] = shownCluster{c.Name, [...]int32{
			ptr.Deref(c.AssignedReplicas, unknown), ptr.Deref(c.AssignedMax, unknown), ptr.Deref(c.CurrentReplicas, unknown),
			ptr.Deref(c.ReadyReplicas, unknown), ptr.Deref(c.UnschedulableReplicas, unknown),
		}}
	}
	s.decision = decisionOf(object, s.amounts)
	return s
}

// decisionOf is the decision that the status is of; nil: it tells of none, or of one by another spec.
func decisionOf(object *v1alpha1.FederatedHPA, amounts []summary.Amount) *shownDecision {
	status := &object.Status
	e := status.Explanation
	if e == nil || e.Basis == explanation.BasisSplit || ptr.Deref(status.ObservedGeneration, 0) != object.Generation ||
		e.CurrentReplicas != status.CurrentReplicas || e.DesiredReplicas != status.DesiredReplicas {
		return nil
	}
	d := &shownDecision{at: e.Time.Time, unseen: e.UnseenClusters, copies: e.Copies}
	for i := range e.Metrics {
		m := &e.Metrics[i]
		if m.Error != "" || m.ReadyUnknown || m.Lagging || int(m.Index) >= len(amounts) {
			continue // a reader is to see that it does not know, rather than half of it
		}
		d.told = append(d.told, shownTold{int(m.Index), amounts[m.Index].Name, replicas.Rule(m.Rule), explanation.Told(m)})
	}
	return d
}

// collect adds the series of the decision.
func (d *shownDecision) collect(add func(desc *prometheus.Desc, value float64, labels ...string)) {
	add(decidedDesc, float64(d.at.UnixMicro())/1e6)
	add(unseenClustersDesc, float64(d.unseen))
	if d.copies > 0 {
		add(copiesDesc, float64(d.copies))
	}
	for i := range d.told {
		t := &d.told[i]
		series.Tell(t.rule, t.told, func(k series.Kind, n int64) int64 {
			desc, value := metricPodsDesc, float64(n)
			if k.IsAmount() {
				desc, value = metricAmountDesc, value/1000
			}
			add(desc, value, strconv.Itoa(t.index), t.name, k.String())
			return n
		})
	}
}
