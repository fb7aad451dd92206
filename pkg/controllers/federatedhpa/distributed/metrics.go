// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/assignment"
)

// Metrics say what the controller does.
type Metrics struct {
	steps   *prometheus.CounterVec
	writes  *prometheus.CounterVec
	objects prometheus.Gauge
	bounds  *prometheus.GaugeVec
}

// NewMetrics registers the metrics.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	const namespace, subsystem = "fleetscale", "distributed"
	m := &Metrics{
		steps: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "steps_total",
			Help: "Steps by which bounds moved between clusters, by their action, which is also the reason of their Events.",
		}, []string{"action"}),
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "member_writes_total",
			Help: "Writes to members, by what was written (apply or delete of a HorizontalPodAutoscaler, scale, create_workload) and result: ok " +
				"or error.",
		}, []string{"cluster", "what", "result"}),
		objects: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "federatedhpas",
			Help: "FederatedHPAs in distributed mode.",
		}),
		bounds: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "assigned_max_replicas",
			Help: "The part of maxReplicas that a cluster has, by FederatedHPA.",
		}, []string{"namespace", "name", "cluster"}),
	}
	reg.MustRegister(m.steps, m.writes, m.objects, m.bounds)
	return m
}

// stepped counts a step that moved something.
func (m *Metrics) stepped(action assignment.Action) {
	m.steps.WithLabelValues(string(action)).Inc()
}

// reconciled shows what every cluster has by now.
func (m *Metrics) reconciled(p plan, memory *Memory) {
	if p.fault != nil {
		return
	}
	shown := map[string]int32{}
	for name, site := range p.step.Sites {
		if site.Max > 0 {
			shown[name] = site.Max
		}
	}
	m.show(client.ObjectKeyFromObject(p.Object), memory, shown)
}

// show replaces the bounds that are shown of an object; nil: it is gone.
func (m *Metrics) show(key client.ObjectKey, memory *Memory, bounds map[string]int32) {
	for name := range memory.shown {
		if _, still := bounds[name]; !still {
			m.bounds.DeleteLabelValues(key.Namespace, key.Name, name)
		}
	}
	for name, n := range bounds {
		m.bounds.WithLabelValues(key.Namespace, key.Name, name).Set(float64(n))
	}
	switch {
	case memory.shown == nil && bounds != nil:
		m.objects.Inc()
	case memory.shown != nil && bounds == nil:
		m.objects.Dec()
	}
	memory.shown = bounds
}

func (m *Metrics) wrote(cluster, what string, err error) {
	result := "ok"
	if err != nil {
		result = "error"
	}
	m.writes.WithLabelValues(cluster, what, result).Inc()
}
