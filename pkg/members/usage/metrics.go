// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Metrics tells what is in memory and what it cost. Series are bounded by
// members, times a dozen results for the scrapes; a departed member's go.
type Metrics struct {
	stores  collector
	scrapes *prometheus.CounterVec
	late    prometheus.Histogram
}

// NewMetrics registers on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		stores: newCollector(),
		scrapes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "fleetscale", Subsystem: "usage", Name: "scrapes_total",
			Help: "Requests to a member for the usage of pods or nodes, by result: Answered, Absent (no such API), or the reason of its silence.",
		}, []string{"cluster", "result"}),
		late: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "fleetscale", Subsystem: "usage", Name: "added_age_seconds",
			Help:    "Upper bound of the time for which a newer value was already there when a sample was scraped: the age that scraping adds.",
			Buckets: []float64{0.25, 0.5, 1, 1.5, 2, 3, 5, 7.5, 10, 15, 30, 60},
		}),
	}
	reg.MustRegister(m.scrapes, m.late, &m.stores)
	return m
}

func (m *Metrics) observeLateness(d time.Duration) { m.late.Observe(d.Seconds()) }

func (m *Metrics) countScrape(cluster string, err error) {
	m.scrapes.WithLabelValues(cluster, fleet.ResultOf(err)).Inc()
}

func (m *Metrics) forget(cluster string) {
	m.scrapes.DeletePartialMatch(prometheus.Labels{"cluster": cluster})
}

func (m *Metrics) collectFrom(s *Store) { m.stores.store.Store(s) }

func newCollector() collector {
	return collector{
		hot:     describe("hot_namespaces", "Targets that are scraped from each member once per period: namespaces, and the nodes."),
		samples: describe("samples", "Pods and nodes whose usage is in memory.", "cluster"),
		age:     describe("age_seconds", "Age of the oldest sample in memory, since it was requested.", "cluster"),
		locked:  describe("beat_locked", "1 when it is known when the member measures, and it is scraped just after.", "cluster"),
		unlabelled: describe("unlabelled", "1 when the member's metrics API leaves labels out, so that it is scraped once per selector.",
			"cluster"),
	}
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName("fleetscale", "usage", name), help, labels, nil)
}

// collector reads the store, once there is one, when it is asked, so that nothing of it has to be
// kept current, or be deleted.
type collector struct {
	store                                 atomic.Pointer[Store]
	hot, samples, age, locked, unlabelled *prometheus.Desc
}

var _ prometheus.Collector = (*collector)(nil)

func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.hot, c.samples, c.age, c.locked, c.unlabelled} {
		ch <- d
	}
}

func (c *collector) Collect(ch chan<- prometheus.Metric) {
	store := c.store.Load()
	if store == nil {
		return
	}
	store.mu.Lock()
	hot, scrapers := len(store.hot), store.all()
	store.mu.Unlock()
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	gauge(c.hot, float64(hot))
	for _, sc := range scrapers {
		s := sc.state(time.Now())
		name := sc.source.Name()
		gauge(c.samples, float64(s.samples), name)
		gauge(c.age, s.age.Seconds(), name)
		gauge(c.locked, number01(s.locked), name)
		gauge(c.unlabelled, number01(s.unlabelled), name)
	}
}

func number01(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// scraperState is what the metrics tell of one member.
type scraperState struct {
	samples            int
	age                time.Duration
	locked, unlabelled bool
}

func (s *scraper) state(now time.Time) scraperState {
	s.mu.Lock()
	state := scraperState{locked: s.locked}
	s.mu.Unlock()
	for _, t := range s.hotTargets() {
		samples, age := t.size(now)
		state.samples += samples
		state.age = max(state.age, age)
		state.unlabelled = state.unlabelled || t.key.selector != ""
	}
	return state
}
