// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/ratelimit"
)

// Results of requests beside the reasons of silences.
const (
	resultAnswered = "Answered"
	resultCanceled = "Canceled" // by us; it says nothing of the member
)

// meter counts and times what one member is asked, over all its connections.
type meter struct {
	cluster string
	metrics *Metrics // may be nil
	last    atomic.Pointer[time.Time]
	clock   clock

	mu     sync.RWMutex
	closed bool // guarded by mu; nothing is counted any more
}

func (m *meter) lastSuccess() time.Time {
	if t := m.last.Load(); t != nil {
		return *t
	}
	return time.Time{}
}

// observe counts one request that has ended.
func (m *meter) observe(result string, took time.Duration) {
	if result == resultAnswered {
		now := time.Now()
		m.last.Store(&now)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.metrics == nil || m.closed {
		return
	}
	m.metrics.requests.WithLabelValues(m.cluster, result).Inc()
	m.metrics.seconds.WithLabelValues(m.cluster).Observe(took.Seconds())
}

// offence counts one.
func (m *meter) offence(o offence) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.metrics != nil && !m.closed {
		m.metrics.offences.WithLabelValues(m.cluster, string(o)).Inc()
	}
}

// dropped counts items that nobody asked for.
func (m *meter) dropped(kind string, n int) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.metrics != nil && !m.closed {
		m.metrics.dropped.WithLabelValues(m.cluster, kind).Add(float64(n))
	}
}

// observeClock takes the Date of an answer.
func (m *meter) observeClock(header http.Header, sent, received time.Time) {
	m.clock.observe(header, sent, received)
	offset, known := m.clock.offset()
	m.mu.RLock()
	defer m.mu.RUnlock()
	if known && m.metrics != nil && !m.closed {
		m.metrics.clocks.WithLabelValues(m.cluster).Set(offset.Seconds())
	}
}

// close ends the counting and deletes the member's series. A request that ends
// later cannot bring them back.
func (m *meter) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	if m.metrics != nil {
		m.metrics.forget(m.cluster)
	}
}

// resultOf is the one word for how a request ended.
func resultOf(resp *http.Response, err error) string {
	if errors.Is(err, context.Canceled) || errors.Is(err, errReplaced) || ratelimit.Throttled(err) {
		return resultCanceled
	}
	if err == nil && resp.StatusCode >= http.StatusMultipleChoices {
		err = apierrors.NewGenericServerResponse(resp.StatusCode, "", schema.GroupResource{}, "", "", 0, false)
	}
	if silence, _ := fleet.Classify(err); silence != nil {
		return string(silence.Reason)
	}
	return resultAnswered
}

// Metrics counts and times requests. Series are bounded by clusters, times a dozen
// results for the requests, nine offences, and a dozen
// kinds of items; they go when a cluster leaves.
type Metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	clocks   *prometheus.GaugeVec
	offences *prometheus.CounterVec
	dropped  *prometheus.CounterVec
}

// NewMetrics registers on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "fleetscale", Subsystem: "cluster", Name: "requests_total",
			Help: "Requests to a member cluster, probes included, by result: Answered, Canceled, or the reason why there was no answer.",
		}, []string{"cluster", "result"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "fleetscale", Subsystem: "cluster", Name: "request_duration_seconds",
			Help:    "Time from sending a request to a member cluster until its answer was read or it failed.",
			Buckets: prometheus.ExponentialBuckets(0.005, 2, 11), // 5ms to 5.12s; --member-timeout is 5s
		}, []string{"cluster"}),
		clocks: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "fleetscale", Subsystem: "cluster", Name: "clock_offset_seconds",
			Help: "The member cluster's clock minus ours. It is trusted up to a minute.",
		}, []string{"cluster"}),
		offences: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "fleetscale", Subsystem: "cluster", Name: "offences_total",
			Help: "What a member cluster sent that none does that is well: TooLarge, EndlessList, HarmfulQuantity, TooHeavy (it would unfold " +
				"to many times its bytes), ContentType (of a format that it was not asked for in), Stuck (it could not be decoded in time), " +
				"Chatter (much that belongs to no answer), " +
				"Unasked (very many items that nobody asked for), Panic (our code panicked over it).",
		}, []string{"cluster", "offence"}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "fleetscale", Subsystem: "cluster", Name: "dropped_items_total",
			Help: "Items of lists and watches that a member cluster was not asked for, or sent twice, and that were dropped, by kind: those of " +
				"another namespace or name, or without one.",
		}, []string{"cluster", "kind"}),
	}
	reg.MustRegister(m.requests, m.seconds, m.clocks, m.offences, m.dropped)
	return m
}

func (m *Metrics) forget(cluster string) {
	m.requests.DeletePartialMatch(prometheus.Labels{"cluster": cluster})
	m.seconds.DeletePartialMatch(prometheus.Labels{"cluster": cluster})
	m.clocks.DeletePartialMatch(prometheus.Labels{"cluster": cluster})
	m.offences.DeletePartialMatch(prometheus.Labels{"cluster": cluster})
	m.dropped.DeletePartialMatch(prometheus.Labels{"cluster": cluster})
}

// clockSamples are those that the offset is the median of. A sample is wrong
// by up to half a second and half its round trip, and probes are not in step
// with seconds, so that the median of some is better than any.
const clockSamples = 9

// MostClockOffset is the farthest that a cluster's clock is believed to be off.
const MostClockOffset = time.Minute

// clock compares a member's clock with ours. The zero clock knows nothing.
type clock struct {
	mu      sync.Mutex
	samples []time.Duration // the last ones, in order of time
	alarmed bool
}

// observe takes the Date of an answer. It is the second in which the member
// wrote it; what it meant was, on average, the middle of that second.
func (c *clock) observe(header http.Header, sent, received time.Time) {
	date, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return
	}
	ours := sent.Add(received.Sub(sent) / 2)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.samples) == clockSamples {
		c.samples = slices.Delete(c.samples, 0, 1)
	}
	c.samples = append(c.samples, date.Add(time.Second/2).Sub(ours))
}

// offset is the member's time minus ours, however large.
func (c *clock) offset() (offset time.Duration, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.median(), len(c.samples) > 0
}

func (c *clock) median() time.Duration {
	if len(c.samples) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(c.samples))
	middle := len(sorted) / 2
	return (sorted[middle] + sorted[(len(sorted)-1)/2]) / 2
}

// ClockOffset is the cluster's time minus ours, to half a second or better and
// within a minute. It is not known before the first contact.
func (p *Peer) ClockOffset() (offset time.Duration, known bool) {
	offset, known = p.meter.clock.offset()
	return min(max(offset, -MostClockOffset), MostClockOffset), known
}

// CheckClock says once that the cluster's clock is too far off to be believed.
func (p *Peer) CheckClock(ctx context.Context) {
	if p.meter.clock.alarm() {
		offset, _ := p.meter.clock.offset()
		klog.FromContext(ctx).Info("Ignoring the cluster's clock, which is too far from ours", "cluster", p.meter.cluster, "offset", offset,
			"believed", MostClockOffset)
	}
}

// alarm is true the first time that the clock is found farther off than can be
// believed, and again after it was not.
func (c *clock) alarm() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.alarmed
	c.alarmed = c.median().Abs() > MostClockOffset
	return c.alarmed && !was
}
