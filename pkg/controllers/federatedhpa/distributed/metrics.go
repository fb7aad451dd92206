// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/fleetscale/fleetscale/pkg/assignment"
)

// Metrics say what the controller does.
type Metrics struct {
	steps   *prometheus.CounterVec
	writes  *prometheus.CounterVec
	undone  *prometheus.CounterVec
	objects prometheus.Gauge
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
		undone: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "writes_undone_total",
			Help: "Writes to members that were found to be set back by others, by what was written: apply of a HorizontalPodAutoscaler, or scale.",
		}, []string{"cluster", "what"}),
		objects: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "federatedhpas",
			Help: "FederatedHPAs in distributed mode.",
		}),
	}
	reg.MustRegister(m.steps, m.writes, m.undone, m.objects)
	return m
}

// stepped counts a step that moved something.
func (m *Metrics) stepped(action assignment.Action) {
	m.steps.WithLabelValues(string(action)).Inc()
}

// reconciled counts an object whose spec could be read.
func (m *Metrics) reconciled(p plan, memory *Memory) {
	if p.fault == nil && !memory.counted {
		memory.counted = true
		m.objects.Inc()
	}
}

func (m *Metrics) forget(memory *Memory) {
	if memory.counted {
		m.objects.Dec()
	}
}

func (m *Metrics) wrote(cluster, what string, err error) {
	result := "ok"
	if err != nil {
		result = "error"
	}
	m.writes.WithLabelValues(cluster, what, result).Inc()
}
