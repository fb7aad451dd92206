// SPDX-License-Identifier: Apache-2.0

package served

import "github.com/prometheus/client_golang/prometheus"

// Metrics tells whether the hub serves our schema. It has one series for each
// of the two kinds, from the first time that the hub could be asked.
type Metrics struct {
	ours *prometheus.GaugeVec
}

// NewMetrics registers on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{ours: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: "fleetscale", Name: "schema_ours",
		Help: "1 if the hub keeps every field of the kind that fleetscale reads and writes, 0 if it drops some or does not serve the kind.",
	}, []string{"kind"})}
	reg.MustRegister(m.ours)
	return m
}

func (m *Metrics) set(kind string, ours bool) {
	value := 0.0
	if ours {
		value = 1
	}
	m.ours.WithLabelValues(kind).Set(value)
}
