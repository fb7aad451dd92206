// SPDX-License-Identifier: Apache-2.0

package member

import (
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// The first quarantine lasts firstQuarantine, and each further one twice as long as the last, up
// to longestQuarantine. A cluster that has not misbehaved for as long as the longest begins again.
const (
	firstQuarantine   = time.Minute
	longestQuarantine = 30 * time.Minute
)

// quarantine is what a member that has misbehaved is in: it is silent, and nobody asks it
// until it is over. Then a probe that succeeds ends it.
type quarantine struct {
	silence *fleet.Silence // nil: it is in none
	until   time.Time      // when it is probed again
	length  time.Duration  // of the present one, or else of the last
	left    time.Time      // when it left the last
}

// enter begins one after that offence, or continues the present one.
func (q quarantine) enter(offence fleet.Silence, now time.Time) quarantine {
	switch {
	case q.length == 0, !q.active() && now.Sub(q.left) >= longestQuarantine:
		q.length = firstQuarantine
	default:
		q.length = min(2*q.length, longestQuarantine)
	}
	q.until = now.Add(q.length)
	q.silence = fleet.Silencef(reasonQuarantined, "it sent too much that could harm us, last %s; it is asked again at %s",
		offence.Error(), q.until.UTC().Format(time.RFC3339))
	return q
}

// active is true from the beginning until a probe succeeds.
func (q quarantine) active() bool { return q.silence != nil }

// leave ends it: a probe has succeeded.
func (q quarantine) leave(now time.Time) quarantine {
	return quarantine{length: q.length, left: now}
}

// remaining is how long the member is not even probed.
func (q quarantine) remaining(now time.Time) time.Duration {
	if !q.active() {
		return 0
	}
	return max(q.until.Sub(now), 0)
}
