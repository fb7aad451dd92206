// SPDX-License-Identifier: Apache-2.0

package webhooks

import "github.com/prometheus/client_golang/prometheus"

// Metrics tells whether webhooks of Karmada are asked about our kinds. It has one
// series for each of [Kinds], from the first time that both of Karmada's configurations
// could be read; a hub that lacks them has none of its webhooks.
type Metrics struct {
	ours *prometheus.GaugeVec
}

// NewMetrics registers on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{ours: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: "fleetscale", Name: "webhooks_ours",
		Help: "1 if no webhook of Karmada is asked about the kind, 0 if one is, which refuses fields of ours or takes them out.",
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
