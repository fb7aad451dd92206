// SPDX-License-Identifier: Apache-2.0

package apiguard

import "github.com/prometheus/client_golang/prometheus"

// Metrics tells whether the hub still leads to us. It has one series for each
// APIService of ours and for each group that we serve, from the first time that the hub could be asked.
type Metrics struct {
	ours, split *prometheus.GaugeVec
}

// NewMetrics registers on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		ours: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "fleetscale", Name: "apiservice_ours",
			Help: "1 if the APIService points at our Service, 0 if it points elsewhere or does not exist.",
		}, []string{"apiservice"}),
		split: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "fleetscale", Name: "apiservice_group_split",
			Help: "1 if some versions of the API group lead to our Service and others elsewhere, so that their clients get different answers.",
		}, []string{"group"}),
	}
	reg.MustRegister(m.ours, m.split)
	return m
}

func (m *Metrics) set(apiservice string, ours bool) {
	m.ours.WithLabelValues(apiservice).Set(number(ours))
}

func (m *Metrics) setSplit(group string, split bool) {
	m.split.WithLabelValues(group).Set(number(split))
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
