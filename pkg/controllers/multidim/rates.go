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

	mu        sync.Mutex
	byCluster map[string]*limiter
}

type limiter struct {
	resizes, evictions *rate.Limiter

	mu     sync.Mutex
	latest time.Time // that one was taken
}

// mostIdle is how many clusters are remembered; one whose limit is whole again is the same as one that is new.
const mostIdle = 2000

func (l *limiters) of(cluster string, now time.Time) *limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if found := l.byCluster[cluster]; found != nil {
		return found
	}
	if l.byCluster == nil {
		l.byCluster = map[string]*limiter{}
	}
	if len(l.byCluster) >= mostIdle {
		for name, other := range l.byCluster {
			if other.left(now) == l.Rates {
				delete(l.byCluster, name)
			}
		}
	}
	perMinute := func(n int) *rate.Limiter { return rate.NewLimiter(rate.Limit(n)/60, n) }
	found := &limiter{resizes: perMinute(l.Resizes), evictions: perMinute(l.Evictions)}
	l.byCluster[cluster] = found
	return found
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
