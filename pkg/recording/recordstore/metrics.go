// SPDX-License-Identifier: Apache-2.0

package recordstore

import "github.com/prometheus/client_golang/prometheus"

// Why records are left out.
const (
	reasonBusy       = "Busy"
	reasonTooLarge   = "TooLarge"
	reasonUnwritable = "Unwritable"
)

// Metrics say what is recorded.
type Metrics struct {
	records prometheus.Counter
	dropped *prometheus.CounterVec
	bytes   prometheus.Gauge
}

// NewMetrics registers on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	const namespace, subsystem = "fleetscale", "decision_record"
	m := &Metrics{
		records: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "records_total",
			Help: "Decisions of FederatedHPAs and MultidimPodAutoscalers that were recorded.",
		}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "dropped_total",
			Help: "Decisions that were not recorded, by reason: Busy (more came than could be written), TooLarge, or Unwritable (the " +
				"directory of --record-dir).",
		}, []string{"reason"}),
		bytes: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "bytes",
			Help: "Size of the record of decisions, of which --record-max is the bound.",
		}),
	}
	for _, reason := range []string{reasonBusy, reasonTooLarge, reasonUnwritable} {
		m.dropped.WithLabelValues(reason)
	}
	reg.MustRegister(m.records, m.dropped, m.bytes)
	return m
}
