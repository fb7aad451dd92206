// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics exports the expiry of the certificate that this replica serves. There
// is no series before it serves one.
type Metrics struct {
	expires *prometheus.GaugeVec
}

// NewMetrics registers on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{expires: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: "fleetscale", Name: "serving_certificate_expiration_timestamp_seconds",
		Help: "When the self-signed certificate that is served expires, in seconds since 1970.",
	}, nil)}
	reg.MustRegister(m.expires)
	return m
}

func (m *Metrics) serves(until time.Time) {
	if m == nil {
		return
	}
	m.expires.WithLabelValues().Set(float64(until.Unix()))
}
