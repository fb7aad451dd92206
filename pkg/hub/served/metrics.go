// SPDX-License-Identifier: Apache-2.0

package served

import "github.com/prometheus/client_golang/prometheus"

// Metrics tells of each of our kinds whether what the hub has for it is ours. It has one series for each kind, from the first time
// that the hub could be asked.
type Metrics struct {
	ours *prometheus.GaugeVec
}

// NewMetrics registers those of the schema on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	return newMetrics(reg, "schema_ours",
		"1 if the hub keeps every field of the kind that fleetscale reads and writes, 0 if it drops some or does not serve the kind.")
}

// NewWebhookMetrics registers those of Karmada's webhooks, which package webhooks watches.
func NewWebhookMetrics(reg prometheus.Registerer) *Metrics {
	return newMetrics(reg, "webhooks_ours",
		"1 if no webhook of Karmada is asked about the kind, 0 if one is, which refuses fields of ours or takes them out.")
}

func newMetrics(reg prometheus.Registerer, name, help string) *Metrics {
	m := &Metrics{ours: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "fleetscale", Name: name, Help: help}, []string{"kind"})}
	reg.MustRegister(m)
	return m
}

// Describe implements [prometheus.Collector].
func (m *Metrics) Describe(to chan<- *prometheus.Desc) { m.ours.Describe(to) }

// Collect implements [prometheus.Collector].
func (m *Metrics) Collect(to chan<- prometheus.Metric) { m.ours.Collect(to) }

// Set tells whether that of a kind is ours.
func (m *Metrics) Set(kind string, ours bool) {
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
