// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// Rates are how many Pods of a cluster may be changed in a minute, of all workloads.
type Rates struct{ Resizes, Evictions int }

// limiters hold every cluster to the rates.
type limiters struct {
	Rates
	// part is how much of all objects this replica reconciles: the others change Pods too. nil: all.
	part func() (held, all int)

	mu        sync.Mutex
	byCluster map[string]*limiter
}

type limiter struct {
	mu                 sync.Mutex
	rates              Rates
	resizes, evictions *rate.Limiter
	latest             time.Time // that one was taken
}

// mostIdle is how many clusters are remembered; one whose limit is whole again is the same as one that is new.
const mostIdle = 2000

func (l *limiters) of(cluster string, now time.Time) *limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	rates := l.rates()
	if found := l.byCluster[cluster]; found != nil {
		found.adopt(rates, now)
		return found
	}
	if l.byCluster == nil {
		l.byCluster = map[string]*limiter{}
	}
	if len(l.byCluster) >= mostIdle {
		for name, other := range l.byCluster {
			if other.whole(now) {
				delete(l.byCluster, name)
			}
		}
	}
	perMinute := func(n int) *rate.Limiter { return rate.NewLimiter(rate.Limit(n)/60, n) }
	found := &limiter{rates: rates, resizes: perMinute(rates.Resizes), evictions: perMinute(rates.Evictions)}
	l.byCluster[cluster] = found
	return found
}

// rates are those of this replica: its part of all, rounded down, but where there are any, one.
func (l *limiters) rates() Rates {
	if l.part == nil {
		return l.Rates
	}
	held, all := l.part()
	of := func(n int) int { return max(n*held/all, min(n, 1)) }
	return Rates{of(l.Resizes), of(l.Evictions)}
}

// adopt has the limit be another, without giving back what was taken.
func (l *limiter) adopt(rates Rates, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rates == rates {
		return
	}
	l.rates = rates
	set := func(l *rate.Limiter, n int) {
		l.SetLimitAt(now, rate.Limit(n)/60)
		l.SetBurstAt(now, n)
	}
	set(l.resizes, rates.Resizes)
	set(l.evictions, rates.Evictions)
}

// whole reports whether nothing is missing.
func (l *limiter) whole(now time.Time) bool {
	left := l.left(now)
	l.mu.Lock()
	defer l.mu.Unlock()
	return left == l.rates
}

// left is how many may be changed now.
func (l *limiter) left(now time.Time) Rates {
	return Rates{int(l.resizes.TokensAt(now)), int(l.evictions.TokensAt(now))}
}

// take counts one, and reports whether that is within the limit. Reconciles began at different times, and a [rate.Limiter] whose time
// goes back counts what has passed since twice.
func (l *limiter) take(way sizes.Way, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Before(l.latest) {
		now = l.latest
	}
	l.latest = now
	if way == sizes.WayEvict {
		return l.evictions.AllowN(now, 1)
	}
	return l.resizes.AllowN(now, 1)
}
