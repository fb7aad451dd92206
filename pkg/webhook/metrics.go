// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics tells what was asked and answered. Its labels take few values: the
// webhooks and kinds of this package, four operations, the results below, and
// the rules of package admission.
type Metrics struct {
	duration *prometheus.HistogramVec
	refusals *prometheus.CounterVec
}

// The results of an admission.
const (
	resultAllowed = "allowed"
	resultRefused = "refused"
	resultFailed  = "failed" // it could not be judged
)

// NewMetrics registers on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "fleetscale", Name: "admission_duration_seconds",
			Help:    "Time to answer an admission request, and with _count the number of them.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .1, .5, 2.5, 10},
		}, []string{"webhook", "kind", "operation", "result"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "fleetscale", Name: "admission_refusals_total",
			Help: "Admissions refused by a rule. One that several rules refuse counts for each.",
		}, []string{"kind", "operation", "rule"}),
	}
	reg.MustRegister(m.duration, m.refusals)
	return m
}

// asked is what one admission is counted by.
type asked struct {
	webhook, kind, operation string
}

func (m *Metrics) answered(a asked, v verdict, took time.Duration) {
	m.duration.WithLabelValues(a.webhook, a.kind, a.operation, v.result).Observe(took.Seconds())
	for _, rule := range v.rules {
		m.refusals.WithLabelValues(a.kind, a.operation, rule).Inc()
	}
}
