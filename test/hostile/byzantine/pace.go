// SPDX-License-Identifier: Apache-2.0

package byzantine

import (
	"context"
	"time"
)

// perSecond is what a flood sends at most: as much as comes over a wide line. More would only
// take the machine from those who are to be judged on it.
const perSecond = 8 << 20

// pace holds a flood to perSecond.
type pace struct {
	next time.Time
}

func (p *pace) sent(n int) {
	if now := time.Now(); p.next.Before(now) {
		p.next = now
	}
	p.next = p.next.Add(time.Duration(n) * time.Second / perSecond)
}

// wait returns when more may be sent, and whether ctx continues.
func (p *pace) wait(ctx context.Context) bool {
	timer := time.NewTimer(time.Until(p.next))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}
