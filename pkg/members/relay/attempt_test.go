// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// What was too large is not asked for again as soon as what failed otherwise.
func TestFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const keepFor, second = 2 * time.Second, time.Second
		for reason, until := range map[fleet.Reason]time.Duration{
			fleet.ReasonTimeout: keepFor, fleet.ReasonBadAnswer: keepFor, fleet.ReasonTooLarge: keepTooLarge,
		} {
			a := failed[string](fleet.Silencef(reason, "it failed"))
			time.Sleep(until - second)
			if !a.fresh(keepFor) {
				t.Errorf("%s: it is asked for again before %v", reason, until)
			}
			time.Sleep(second)
			if a.fresh(keepFor) {
				t.Errorf("%s: it is not asked for again after %v", reason, until)
			}
		}
	})
}
