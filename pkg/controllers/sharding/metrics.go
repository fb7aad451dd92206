// SPDX-License-Identifier: Apache-2.0

package sharding

import "github.com/prometheus/client_golang/prometheus"

// Metrics are of all shards.
type Metrics struct {
	held prometheus.Gauge
	ends *prometheus.CounterVec
}

// NewMetrics registers on reg.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		held: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "fleetscale", Subsystem: "shards", Name: "held",
			Help: "Shards whose objects this replica reconciles. 0 without --shards: the leader reconciles all.",
		}),
		ends: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "fleetscale", Subsystem: "shards", Name: "ended_total",
			Help: "Shards that this replica no longer reconciles: released, so that another replica takes them over at once, or lost, as " +
				"their Leases could not be renewed.",
		}, []string{"how"}),
	}
	m.ends.WithLabelValues(released)
	m.ends.WithLabelValues(lost)
	reg.MustRegister(m.held, m.ends)
	return m
}

const (
	released = "released"
	lost     = "lost"
)

func (m *Metrics) holds(n int) { m.held.Set(float64(n)) }

func (m *Metrics) ended(leaseLost bool) {
	how := released
	if leaseLost {
		how = lost
	}
	m.ends.WithLabelValues(how).Inc()
}
