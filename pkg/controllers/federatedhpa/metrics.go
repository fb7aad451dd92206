// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"cmp"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// Metrics are those of Kubernetes' HorizontalPodAutoscaler controller, with fleetscale_ before their names, so that
// dashboards need no more than that; and two of clusters. Series of an object go with it. Labels: action is scale_up, scale_down or none; error is spec, internal or none; metric_type is
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
	byKey           *tally
}

// NewMetrics registers on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	const namespace, subsystem, own = "fleetscale", "horizontal_pod_autoscaler_controller", "federatedhpa"
	m := &Metrics{
		reconciliations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "reconciliations_total",
			Help: "Looks at a FederatedHPA, by what was written (action) and what went wrong (error).",
		}, []string{"action", "error"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "reconciliation_duration_seconds",
			Help:    "Time that a look at a FederatedHPA takes.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 15),
		}, []string{"action", "error"}),
		computations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "metric_computation_total",
			Help: "Metrics that were weighed, by what they call for (action) and whether they could be used (error).",
		}, []string{"action", "error", "metric_type"}),
		computing: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "metric_computation_duration_seconds",
			Help:    "Time until a metric was answered.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 15),
		}, []string{"action", "error", "metric_type"}),
		skips: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "stale_sync_skips_total",
			Help: "Looks that were put off because the object was known only as before our own last write.",
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
			Help: "FederatedHPAs that can not see the cluster, and so do not scale in.",
		}, []string{"cluster"}),
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: own, Name: "member_scale_writes_total",
			Help: "Replicas told to a member, by result: ok or error.",
		}, []string{"cluster", "result"}),
		byKey: newTally(),
	}
	reg.MustRegister(m.reconciliations, m.durations, m.computations, m.computing, m.skips, m.objects, m.desired, m.unseen, m.writes)
	return m
}

// reconciled counts a look; err is why it could not be stored.
func (m *Metrics) reconciled(in *situation, d *decision, err error, took time.Duration) {
	labels := prometheus.Labels{"action": wrote(in, d), "error": faultOf(cmp.Or(d.Err, err))}
	m.reconciliations.With(labels).Inc()
	m.durations.With(labels).Observe(took.Seconds())
	for i, p := range d.Explanation.Metrics {
		of := []string{callsFor(p, in.object.Status.CurrentReplicas), faultOf(p.Err), typeOf(in, i)}
		m.computations.WithLabelValues(of...).Inc()
		m.computing.WithLabelValues(of...).Observe(in.took[i].Seconds())
	}
	if d.division != nil {
		for _, c := range d.division.changes {
			m.writes.WithLabelValues(c.part.facts.Name, resultOf(c.err)).Inc()
		}
	}
	m.desired.WithLabelValues(in.object.Namespace, in.object.Name).Set(float64(d.Status.DesiredReplicas))
	m.count(client.ObjectKeyFromObject(in.object), d.Explanation.Unseen)
}

func (m *Metrics) count(key client.ObjectKey, unseen []replicas.Unseen) {
	m.byKey.note(key, unseen, m.unseen)
	m.objects.Set(float64(m.byKey.size()))
}

func (m *Metrics) forget(key client.ObjectKey) {
	m.desired.DeleteLabelValues(key.Namespace, key.Name)
	m.byKey.drop(key, m.unseen)
	m.objects.Set(float64(m.byKey.size()))
}

func (m *Metrics) skipped() { m.skips.WithLabelValues(v1alpha1.GroupName, "federatedhpas").Inc() }

const none = "none"

// wrote is what was done to the workload.
func wrote(in *situation, d *decision) string {
	if !d.Rescale || summary.Condition(&v1alpha1.FederatedHPAStatus{Conditions: d.Status.Conditions}, autoscalingv2.AbleToScale).Reason != replicas.ReasonSucceededRescale {
		return none
	}
	return direction(in.scale.Replicas, d.Replicas)
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
	switch kind := in.object.Spec.Metrics[i].Type; kind {
	case autoscalingv2.ResourceMetricSourceType, autoscalingv2.ContainerResourceMetricSourceType, autoscalingv2.PodsMetricSourceType,
		autoscalingv2.ObjectMetricSourceType, autoscalingv2.ExternalMetricSourceType:
		return string(kind)
	}
	return "unknown"
}
