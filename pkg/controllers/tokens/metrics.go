// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Results of attempts.
const (
	resultRenewed = "Renewed"
	resultFailed  = "Failed"
	resultRefused = "Refused"
)

// Metrics tell of tokens. Series are bounded by registrations times two credentials; they go when a registration does.
type Metrics struct {
	expiry   *prometheus.GaugeVec
	renewals *prometheus.CounterVec
}

// NewMetrics registers on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		expiry: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "fleetscale", Name: "cluster_token_expiry_timestamp_seconds",
			Help: "When the token of a registration Secret expires, in Unix time; +Inf: never. The credential is read or write.",
		}, []string{"cluster", "credential"}),
		renewals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "fleetscale", Name: "cluster_token_renewals_total",
			Help: "Attempts to renew the token of a registration Secret, by result: Renewed, Failed, or Refused, where the member " +
				"returned what is not used.",
		}, []string{"cluster", "credential", "result"}),
	}
	reg.MustRegister(m.expiry, m.renewals)
	return m
}

func (m *Metrics) expires(cluster string, c credential, at time.Time) {
	seconds := math.Inf(1)
	if !at.IsZero() {
		seconds = float64(at.Unix())
	}
	m.expiry.WithLabelValues(cluster, string(c)).Set(seconds)
}

// none is for a credential that is no token of a ServiceAccount.
func (m *Metrics) none(cluster string, c credential) { m.expiry.DeleteLabelValues(cluster, string(c)) }

func (m *Metrics) attempted(cluster string, c credential, result string) {
	m.renewals.WithLabelValues(cluster, string(c), result).Inc()
}

func (m *Metrics) forget(cluster string) {
	m.expiry.DeletePartialMatch(prometheus.Labels{"cluster": cluster})
	m.renewals.DeletePartialMatch(prometheus.Labels{"cluster": cluster})
}
