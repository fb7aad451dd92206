// SPDX-License-Identifier: Apache-2.0

package member

import (
	"math/rand/v2"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// outcome is how one probe ended.
type outcome struct {
	// silence is why it failed; nil when it succeeded.
	silence *fleet.Silence
	// fresh is true for the first probe over a connection.
	fresh bool
	// answered is true when some other request to the member succeeded while
	// the probe was under way.
	answered bool
}

// health is what the probes of one member add up to.
type health struct {
	contacted bool
	ready     bool
	silence   *fleet.Silence // nil while ready or before the first contact
	strikes   int
	failures  int // probes failed in a row; they lengthen the wait
}

// A member that was ready becomes not ready at this many strikes.
const enoughStrikes = 2

// after is the health once a probe has ended.
func (h health) after(o outcome) health {
	if o.silence == nil {
		return health{contacted: true, ready: true}
	}
	next := health{contacted: true, ready: h.ready, silence: h.silence, failures: h.failures + 1}
	next.strikes = h.strikes + strikesFor(o)
	if o.answered && !definite(o.silence.Reason) {
		next.strikes = 0
	}
	if !h.ready || next.strikes >= enoughStrikes {
		next.ready, next.silence = false, o.silence
	}
	return next
}

// strikesFor weighs a failure. A lost packet or a closed connection fails a
// probe at once, so one of these may be chance; a whole deadline without an
// answer is not, nor is an answer that we are not welcome. Over a connection
// that has not worked yet there is nothing to give the benefit of doubt to.
func strikesFor(o outcome) int {
	if o.fresh || o.silence.Reason == fleet.ReasonTimeout || definite(o.silence.Reason) {
		return enoughStrikes
	}
	return 1
}

// definite reasons are said by the member itself, or by its certificate.
func definite(reason fleet.Reason) bool {
	switch reason {
	case fleet.ReasonTimeout, fleet.ReasonUnreachable, fleet.ReasonServerError, fleet.ReasonRateLimited:
		return false
	default:
		return true
	}
}

// firstRetry is the wait after a first failure; it doubles up to the period.
const firstRetry = time.Second

// wait is the time until the next probe: the period, or less after failures.
// It is spread by a tenth so that members do not come to be asked in step.
func (h health) wait(period time.Duration) time.Duration {
	d := period
	if h.failures > 0 {
		d = min(period, firstRetry<<min(h.failures-1, 16))
	}
	return d - d/20 + rand.N(d/10+1)
}
