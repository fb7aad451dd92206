// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Metrics times the questions put to the hub. Series are bounded by four APIs
// times a dozen results.
type Metrics struct {
	seconds *prometheus.HistogramVec
}

// NewMetrics registers on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "fleetscale", Subsystem: "hub_metrics", Name: "request_duration_seconds",
		Help: "Latency of the hub's metrics APIs until the response is read, by API (resource, custom, external, or discovery of the custom " +
			"one's versions) " +
			"and result: Answered, Absent (no such API, metric or object), or why there is no answer.",
		Buckets: prometheus.ExponentialBuckets(0.005, 2, 12), // 5 ms to 10.24 s; a reconcile has 15 s
	}, []string{"api", "result"})}
	reg.MustRegister(m.seconds)
	return m
}

// observe counts a request, unless nobody waits for it any more. Answered says that there was an answer, whether or not
// it could be read.
func (m *Metrics) observe(a api, err error, answered bool, took time.Duration) {
	if errors.Is(err, context.Canceled) {
		return
	}
	m.seconds.WithLabelValues(string(a), resultOf(err, answered)).Observe(took.Seconds())
}

func resultOf(err error, answered bool) string {
	if err != nil && answered {
		return string(fleet.ReasonBadAnswer)
	}
	return fleet.ResultOf(err)
}
