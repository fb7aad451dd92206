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

// Losses tells of objects that have lost fields to a schema that is not ours. It has one series for each kind that has lost some.
type Losses struct {
	cut      *prometheus.GaugeVec
	restored *prometheus.CounterVec
}

// NewLosses registers on reg, so two instances never share state.
func NewLosses(reg prometheus.Registerer) *Losses {
	l := &Losses{
		cut: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "fleetscale", Name: "specs_cut",
			Help: "Objects of the kind that have lost fields to another schema, and so are not acted on.",
		}, []string{"kind"}),
		restored: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "fleetscale", Name: "specs_restored_total",
			Help: "Objects of the kind whose lost fields were restored from their annotation fleetscale.io/spec.",
		}, []string{"kind"}),
	}
	reg.MustRegister(l.cut, l.restored)
	return l
}

// Lost notes that an object has lost fields; known is whether it was noted before.
func (l *Losses) Lost(kind string, known *bool) {
	if !*known {
		*known = true
		l.cut.WithLabelValues(kind).Inc()
	}
}

// Found notes that an object lacks nothing, or is gone.
func (l *Losses) Found(kind string, known *bool) {
	if *known {
		*known = false
		l.cut.WithLabelValues(kind).Dec()
	}
}

// Restored counts an object whose fields were restored.
func (l *Losses) Restored(kind string) { l.restored.WithLabelValues(kind).Inc() }
