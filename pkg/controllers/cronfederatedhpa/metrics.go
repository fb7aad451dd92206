// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/controllers/perobject"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
)

// Metrics tells how punctual the runs are. The only label is the result, of
// which there are four.
type Metrics struct {
	lag  *prometheus.HistogramVec
	next perobject.Shown[time.Time]
}

// NewMetrics registers on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		lag: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "fleetscale", Subsystem: "cron", Name: "run_lag_seconds",
			Help: "Time from the schedule of a run until it was recorded, and with _count the number of runs: succeeded, failed, superseded " +
				"or missed.",
			Buckets: []float64{.25, .5, 1, 2.5, 5, 10, 30, 60, 300, 600, 3600, 86400},
		}, []string{"result"}),
	}
	reg.MustRegister(m.lag, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "fleetscale", Subsystem: "cron", Name: "next_run_timestamp_seconds",
		Help: "When the next run of all is due, in seconds since 1970. In the past: it is delayed. 0: there is none.",
	}, m.earliest))
	for _, r := range []cronplan.Result{cronplan.Succeeded, cronplan.Failed, cronplan.Superseded, cronplan.Missed} {
		m.lag.WithLabelValues(string(r))
	}
	return m
}

func (m *Metrics) ran(r cronplan.Result, lag time.Duration) {
	m.lag.WithLabelValues(string(r)).Observe(lag.Seconds())
}

// awaits remembers the next run of an object; zero if it has none.
func (m *Metrics) awaits(key client.ObjectKey, next time.Time) {
	if next.IsZero() {
		m.next.Forget(key)
		return
	}
	m.next.Set(key, next)
}

func (m *Metrics) forget(key client.ObjectKey) { m.next.Forget(key) }

func (m *Metrics) earliest() float64 {
	var first time.Time
	m.next.Each(func(_ client.ObjectKey, next time.Time) {
		if first.IsZero() || next.Before(first) {
			first = next
		}
	})
	if first.IsZero() {
		return 0
	}
	return float64(first.Unix())
}
