// SPDX-License-Identifier: Apache-2.0

package apiguard

import "github.com/prometheus/client_golang/prometheus"

// Metrics tells whether the hub still leads to us. It has one series for each
// APIService of ours, from the first time that the hub could be asked.
type Metrics struct {
	ours *prometheus.GaugeVec
}

// NewMetrics registers on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{ours: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: "fleetscale", Name: "apiservice_ours",
		Help: "1 if the APIService points at our Service, 0 if it points elsewhere or does not exist.",
	}, []string{"apiservice"})}
	reg.MustRegister(m.ours)
	return m
}

func (m *Metrics) set(apiservice string, ours bool) {
	value := 0.0
	if ours {
		value = 1
	}
	m.ours.WithLabelValues(apiservice).Set(value)
}
