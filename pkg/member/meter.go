// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/fleet"
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
	if errors.Is(err, context.Canceled) {
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
