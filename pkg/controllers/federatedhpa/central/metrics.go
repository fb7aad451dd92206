// SPDX-License-Identifier: Apache-2.0

package central

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// Metrics are those of Kubernetes' HorizontalPodAutoscaler controller, with fleetscale_ before their names, so that
// dashboards need no more than that; and two of clusters. Series of an object go with it. Labels: action is scale_up, scale_down or none;
// error is spec, internal or none; metric_type is
// that of the spec; cluster is a member's name.
type Metrics struct {
	reconciliations *prometheus.CounterVec
	durations       *prometheus.HistogramVec
	computations    *prometheus.CounterVec
	computing       *prometheus.HistogramVec
	skips           *prometheus.CounterVec
	objects         prometheus.Gauge
	desired         *prometheus.GaugeVec
	unseen          *prometheus.GaugeVec
	writes          *prometheus.CounterVec
	mu              sync.Mutex
	blind           map[string]int // by cluster, how many objects cannot see it
}

// NewMetrics registers on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	const namespace, subsystem, own = "fleetscale", "horizontal_pod_autoscaler_controller", "federatedhpa"
	m := &Metrics{
		reconciliations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "reconciliations_total",
			Help: "Reconciliations of a FederatedHPA, by what was written (action) and what went wrong (error).",
		}, []string{"action", "error"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "reconciliation_duration_seconds",
			Help:    "Duration of a reconciliation of a FederatedHPA.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 15),
		}, []string{"action", "error"}),
		computations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "metric_computation_total",
			Help: "Metrics that were evaluated, by what they call for (action) and whether they could be used (error).",
		}, []string{"action", "error", "metric_type"}),
		computing: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "metric_computation_duration_seconds",
			Help:    "Latency of a metric.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 15),
		}, []string{"action", "error", "metric_type"}),
		skips: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "stale_sync_skips_total",
			Help: "Reconciliations that were deferred because the cached object was older than our own last write.",
		}, []string{"group", "resource"}),
		objects: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "num_horizontal_pod_autoscalers",
			Help: "FederatedHPAs in central mode.",
		}),
		desired: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "desired_replicas",
			Help: "Replicas that the fleet should run, by FederatedHPA.",
		}, []string{"namespace", "hpa_name"}),
		unseen: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: own, Name: "unseen",
			Help: "FederatedHPAs that cannot see the cluster, and so do not scale in.",
		}, []string{"cluster"}),
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: own, Name: "member_scale_writes_total",
			Help: "Writes of replicas to a member, by result: ok or error.",
		}, []string{"cluster", "result"}),
		blind: map[string]int{},
	}
	reg.MustRegister(m.reconciliations, m.durations, m.computations, m.computing, m.skips, m.objects, m.desired, m.unseen, m.writes)
	return m
}

// reconciled counts a reconcile; err is why its result could not be stored.
func (m *Metrics) reconciled(o *outcome, memory *Memory, err error, took time.Duration) {
	labels := prometheus.Labels{"action": wrote(o), "error": faultOf(cmp.Or(o.Err, err))}
	m.reconciliations.With(labels).Inc()
	m.durations.With(labels).Observe(took.Seconds())
	for i, p := range o.Explanation.Metrics {
		of := []string{callsFor(p, o.Object.Status.CurrentReplicas), faultOf(p.Err), typeOf(&o.situation, i)}
		m.computations.WithLabelValues(of...).Inc()
		m.computing.WithLabelValues(of...).Observe(o.took[i].Seconds())
	}
	for _, p := range o.written {
		m.writes.WithLabelValues(p.Facts.Name, resultOf(p.err)).Inc()
	}
	m.desired.WithLabelValues(o.Object.Namespace, o.Object.Name).Set(float64(o.Status.DesiredReplicas))
	m.count(memory, o.Explanation.Unseen)
	if !memory.counted {
		memory.counted = true
		m.objects.Inc()
	}
}

// count replaces the clusters that an object cannot see, and shows the counts that change. A cluster that everybody sees has
// no series.
func (m *Metrics) count(memory *Memory, unseen []replicas.Unseen) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for by, clusters := range map[int][]replicas.Unseen{-1: memory.unseen, 1: unseen} {
		for _, c := range clusters {
			m.blind[c.Cluster] += by
		}
	}
	for _, c := range slices.Concat(memory.unseen, unseen) {
		if m.blind[c.Cluster] == 0 {
			delete(m.blind, c.Cluster)
			m.unseen.DeleteLabelValues(c.Cluster)
			continue
		}
		m.unseen.WithLabelValues(c.Cluster).Set(float64(m.blind[c.Cluster]))
	}
	memory.unseen = unseen
}

func (m *Metrics) forget(key client.ObjectKey, memory *Memory) {
	m.desired.DeleteLabelValues(key.Namespace, key.Name)
	m.count(memory, nil)
	if memory.counted {
		m.objects.Dec()
	}
}

// Skipped counts an object that a cache showed as it was before the last write.
func (m *Metrics) Skipped() { m.skips.WithLabelValues(v1alpha1.GroupName, "federatedhpas").Inc() }

const none = "none"

// wrote returns what was done to the workload.
func wrote(o *outcome) string {
	if !o.Rescale || summary.Condition(&v1alpha1.FederatedHPAStatus{Conditions: o.Status.Conditions},
		autoscalingv2.AbleToScale).Reason != replicas.ReasonSucceededRescale {
		return none
	}
	return direction(o.scale.Replicas, o.Replicas)
}

func callsFor(p replicas.Proposal, current int32) string {
	if p.Err != nil {
		return none
	}
	return direction(current, p.Replicas)
}

func direction(from, to int32) string {
	switch {
	case to > from:
		return "scale_up"
	case to < from:
		return "scale_down"
	}
	return none
}

func faultOf(err error) string {
	var spec replicas.SpecError
	switch {
	case err == nil:
		return none
	case errors.As(err, &spec):
		return "spec"
	}
	return "internal"
}

func resultOf(err error) string {
	if err != nil {
		return "error"
	}
	return "ok"
}

// typeOf is the type of that metric; another word for one that does not exist, so that the label stays bounded.
func typeOf(in *situation, i int) string {
	switch kind := in.Object.Spec.Metrics[i].Type; kind {
	case autoscalingv2.ResourceMetricSourceType, autoscalingv2.ContainerResourceMetricSourceType, autoscalingv2.PodsMetricSourceType,
		autoscalingv2.ObjectMetricSourceType, autoscalingv2.ExternalMetricSourceType:
		return string(kind)
	}
	return "unknown"
}
