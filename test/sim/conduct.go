// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Conduct is how a member behaves. The zero value answers at once, and truly.
type Conduct struct {
	// Latency goes by before an answer begins, and up to Jitter more.
	Latency, Jitter time.Duration
	// Failing is the share of requests, 0 to 1, that are answered with Code.
	Failing float64
	// Code is an HTTP status; 0 means 503.
	Code int
	// Hang has requests taken and not answered, and watches fall silent, until the conduct changes.
	Hang bool
	// Garbage has requests answered with 200 and what is no answer.
	Garbage bool
	// Under limits all of the above to paths that begin so. Empty: all paths.
	Under string

	// Away has connections reset.
	Away bool
	// Flap is how long the member is Away, and then is not, in turns; 0: it does not flap.
	Flap time.Duration
	// ForeignCertificate has the member show a certificate of another cluster.
	ForeignCertificate bool
}

// WithoutMetricsServer is the conduct of a cluster whose metrics-server is gone.
func WithoutMetricsServer() Conduct {
	return Conduct{Failing: 1, Code: http.StatusServiceUnavailable, Under: "/apis/metrics.k8s.io"}
}

// Behave changes the member's conduct. Requests that hang are answered if they no longer should.
func (m *Member) Behave(c Conduct) {
	changed := m.conduct.set(c)
	if c.ForeignCertificate {
		m.sockets.resetAll()
	}
	m.sockets.setAway(c.Away || c.Flap > 0)
	if c.Flap > 0 {
		go m.flap(c.Flap, changed)
	}
}

func (m *Member) flap(d time.Duration, changed <-chan struct{}) {
	ticker := time.NewTicker(d)
	defer ticker.Stop()
	for away := false; ; away = !away {
		select {
		case <-changed:
			return
		case <-ticker.C:
			m.conduct.ifUnchanged(changed, func() { m.sockets.setAway(away) })
		}
	}
}

// conducting holds the present conduct.
type conducting struct {
	mu      sync.Mutex
	present Conduct
	changed chan struct{} // closed when it does
}

func newConducting() *conducting { return &conducting{changed: make(chan struct{})} }

func (c *conducting) set(next Conduct) (changed <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.changed)
	c.present, c.changed = next, make(chan struct{})
	return c.changed
}

func (c *conducting) now() Conduct {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.present
}

func (c *conducting) ifUnchanged(changed <-chan struct{}, f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if changed == c.changed {
		f()
	}
}

// hold returns when nothing hangs at the path, and whether ctx continues.
func (c *conducting) hold(ctx context.Context, path string) bool {
	for {
		c.mu.Lock()
		present, changed := c.present, c.changed
		c.mu.Unlock()
		if !present.Hang || !strings.HasPrefix(path, present.Under) {
			return ctx.Err() == nil
		}
		select {
		case <-ctx.Done():
			return false
		case <-changed:
		}
	}
}

// meet does to a request what the conduct says, and returns whether it is still to be answered.
func (c *conducting) meet(w http.ResponseWriter, r *http.Request) bool {
	if !c.hold(r.Context(), r.URL.Path) {
		return false
	}
	present := c.now()
	if !strings.HasPrefix(r.URL.Path, present.Under) {
		return true
	}
	if !elapse(r.Context(), present.wait()) {
		return false
	}
	switch {
	case present.Garbage:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`<html>It works!</html>`))
		return false
	case rand.Float64() < present.Failing:
		refuse(w, r, failure(present.Code))
		return false
	}
	return true
}

func (c Conduct) wait() time.Duration {
	if c.Jitter <= 0 {
		return c.Latency
	}
	return c.Latency + rand.N(c.Jitter)
}

// elapse waits, and returns whether ctx continues.
func elapse(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
