// SPDX-License-Identifier: Apache-2.0

package member

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// Metrics tells of the fleet and of the requests to its clusters. Series are
// bounded by registrations; they go when a cluster leaves.
type Metrics struct {
	requests *connection.Metrics
	states   stateCollector
}

// NewMetrics registers on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{requests: connection.NewMetrics(reg), states: newStateCollector()}
	reg.MustRegister(&m.states)
	return m
}

// stateCollector reads the registry when it is asked, so that no series can
// outlive its cluster.
type stateCollector struct {
	snapshot atomic.Pointer[func() ([]listing, bool)]

	clusters, ready, joining, cordoned, drained, lastSuccess, registration, recorded *prometheus.Desc
}

// listing is a registration as the collector sees it.
type listing struct {
	registration string
	member       *Member
	listed       bool // in Members()
}

func newStateCollector() stateCollector {
	name := func(n string) string { return prometheus.BuildFQName("fleetscale", "", n) }
	return stateCollector{
		clusters: prometheus.NewDesc(name("clusters"),
			"Clusters of the fleet, ready or not.", nil, nil),
		ready: prometheus.NewDesc(name("cluster_ready"),
			"1 if the member cluster answers, 0 if it is silent.", []string{"cluster"}, nil),
		joining: prometheus.NewDesc(name("cluster_joining"),
			"1 until the member cluster is ready for the first time since it was registered: it counts for nothing.", []string{"cluster"}, nil),
		cordoned: prometheus.NewDesc(name("cluster_cordoned"),
			"1 if the registration cordons or drains the member cluster, so that it gets no more of autoscalers without tolerations.",
			[]string{"cluster"}, nil),
		drained: prometheus.NewDesc(name("cluster_drained"),
			"1 if the registration drains the member cluster, so that others take its part over and its silence is not waited for.",
			[]string{"cluster"}, nil),
		recorded: prometheus.NewDesc(name("identities_recorded"),
			"1 if the hub has the record of which registrations are established, 0 if each program remembers that for itself.", nil, nil),
		lastSuccess: prometheus.NewDesc(name("cluster_last_success_timestamp_seconds"),
			"When the member cluster last answered any request, in Unix time; 0 if never.", []string{"cluster"}, nil),
		registration: prometheus.NewDesc(name("cluster_registration_info"),
			"1 for each registration, with the cluster it is listed as and the reason of its state (Ready, Duplicate, Timeout, ...).",
			[]string{"cluster", "registration", "reason"}, nil),
	}
}

func (s *stateCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- s.clusters
	ch <- s.ready
	ch <- s.joining
	ch <- s.cordoned
	ch <- s.drained
	ch <- s.recorded
	ch <- s.lastSuccess
	ch <- s.registration
}

func (s *stateCollector) Collect(ch chan<- prometheus.Metric) {
	snapshot := s.snapshot.Load()
	if snapshot == nil {
		return
	}
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	clusters := 0
	listings, recorded := (*snapshot)()
	for _, l := range listings {
		state := l.member.State()
		gauge(s.registration, 1, l.member.Name(), l.registration, string(state.Reason))
		if !l.listed {
			continue
		}
		clusters++
		gauge(s.ready, number(state.Ready), l.member.Name())
		gauge(s.joining, number(state.Joining), l.member.Name())
		standing := l.member.Standing()
		gauge(s.cordoned, number(standing >= taints.Cordoned), l.member.Name())
		gauge(s.drained, number(standing == taints.Drained), l.member.Name())
		gauge(s.lastSuccess, unixSeconds(state), l.member.Name())
	}
	gauge(s.clusters, float64(clusters))
	gauge(s.recorded, number(recorded))
}

// number is 1 for true, 0 for false.
func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func unixSeconds(s State) float64 {
	if s.LastSuccess.IsZero() {
		return 0
	}
	return float64(s.LastSuccess.UnixMilli()) / 1000
}
