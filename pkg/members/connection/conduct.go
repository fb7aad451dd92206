// SPDX-License-Identifier: Apache-2.0

package connection

import "time"

// A cluster misbehaves that has sent enoughOffences within a conductWindow, and no more
// answers that were as they should be. A single object that no program of ours can read, which
// perhaps a tenant of the cluster made, does not come to that: the cluster answers other questions.
const (
	conductWindow  = 5 * time.Minute
	enoughOffences = 10
	// mostRemembered are the answers after which both kinds are halved: good ones of minutes ago do not make up for many offences now.
	mostRemembered = 40
)

// conduct is what a cluster's answers were like since a window began, of which the last count the most.
type conduct struct {
	began          time.Time
	good, offences int
}

// after is the conduct after one more answer. It misbehaves is said once: then another window begins.
func (c conduct) after(now time.Time, offence bool) (next conduct, misbehaves bool) {
	if now.Sub(c.began) >= conductWindow {
		c = conduct{began: now}
	}
	if c.good+c.offences >= mostRemembered {
		c.good, c.offences = c.good/2, c.offences/2
	}
	if !offence {
		c.good++
		return c, false
	}
	c.offences++
	if c.offences < enoughOffences || c.offences <= c.good {
		return c, false
	}
	return conduct{began: now}, true
}
