// SPDX-License-Identifier: Apache-2.0

package memory

import "github.com/prometheus/client_golang/prometheus"

// Metrics tells how much one [Memory] holds.
type Metrics struct {
	forgotten prometheus.Counter
	bytes     prometheus.Gauge
}

// NewMetrics registers on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		forgotten: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "fleetscale", Subsystem: "kept", Name: "forgotten_total",
			Help: "Answers of members that were forgotten because those of their namespace took more than its share of --max-kept-bytes.",
		}),
		bytes: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "fleetscale", Subsystem: "kept", Name: "bytes",
			Help: "Estimated memory of the answers of members that are kept; --max-kept-bytes at most.",
		}),
	}
	reg.MustRegister(m.forgotten, m.bytes)
	return m
}
