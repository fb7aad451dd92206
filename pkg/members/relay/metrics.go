// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Metrics tells what was asked of members, and what it spared them. Series are
// bounded by members and the two APIs, times a dozen results for the requests;
// a departed member's go. Of time there is one for each API, since a histogram for each member would be most of all series.
type Metrics struct {
	requests  *prometheus.CounterVec
	seconds   *prometheus.HistogramVec
	questions *prometheus.CounterVec
	catalogue *prometheus.GaugeVec
}

// How a question was served, for the metrics.
const (
	servedAsked    = "asked"
	servedShared   = "shared"
	servedKept     = "kept"
	servedNotAsked = "notasked"
)

// NewMetrics registers on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	named := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: "fleetscale", Subsystem: "relay", Name: name, Help: help}
	}
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts(named("requests_total",
			"Requests to a member's custom or external metrics API, discovery included, by result: Answered, Absent (no such API, metric or "+
				"object), or the reason of its silence.")),
			[]string{"cluster", "api", "result"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "fleetscale", Subsystem: "relay", Name: "request_duration_seconds",
			Help:    "Time from sending a request to a member's custom or external metrics API until its answer or failure.",
			Buckets: prometheus.ExponentialBuckets(0.005, 2, 11), // 5 ms to 5.12 s; the deadline is 5 s by default
		}, []string{"api"}),
		questions: prometheus.NewCounterVec(prometheus.CounterOpts(named("questions_total",
			"Queries for a member's custom or external metrics, by how they were served: asked, shared (waited for another's request), kept "+
				"(from memory), or notasked (known to be away, or the hub itself).")),
			[]string{"cluster", "api", "served"}),
		catalogue: prometheus.NewGaugeVec(prometheus.GaugeOpts(named("catalogue_metrics",
			"Metrics that a member was last seen to have.")),
			[]string{"cluster", "api"}),
	}
	reg.MustRegister(m.requests, m.seconds, m.questions, m.catalogue)
	return m
}

// of is one member's part.
func (m *Metrics) of(cluster, api string) *meter {
	return &meter{metrics: m, cluster: cluster, api: api}
}

// A meter writes the series of one member and API until it ends. Then they
// are gone and stay so, whatever is still under way.
type meter struct {
	metrics      *Metrics
	cluster, api string

	mu   sync.Mutex
	over bool
}

func (m *meter) request(err error, took time.Duration) {
	m.write(func() {
		m.metrics.requests.WithLabelValues(m.cluster, m.api, fleet.ResultOf(err)).Inc()
		m.metrics.seconds.WithLabelValues(m.api).Observe(took.Seconds())
	})
}

func servedBy(ended bool) string {
	if ended {
		return servedKept
	}
	return servedShared
}

func (m *meter) served(how string) {
	m.write(func() { m.metrics.questions.WithLabelValues(m.cluster, m.api, how).Inc() })
}

func (m *meter) catalogue(names int) {
	m.write(func() { m.metrics.catalogue.WithLabelValues(m.cluster, m.api).Set(float64(names)) })
}

func (m *meter) write(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.over {
		f()
	}
}

func (m *meter) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = true
	own := prometheus.Labels{"cluster": m.cluster, "api": m.api}
	m.metrics.requests.DeletePartialMatch(own)
	m.metrics.questions.DeletePartialMatch(own)
	m.metrics.catalogue.DeletePartialMatch(own)
}
