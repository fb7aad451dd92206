// SPDX-License-Identifier: Apache-2.0

package member

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// clockSamples are those that the offset is the median of. A sample is wrong
	// by up to half a second and half its round trip, and probes are not in step
	// with seconds, so that the median of some is better than any.
	clockSamples = 9
	// mostClockOffset is the farthest that a clock is believed to be off.
	mostClockOffset = time.Minute
)

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

// alarm is true the first time that the clock is found farther off than can be
// believed, and again after it was not.
func (c *clock) alarm() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.alarmed
	c.alarmed = c.median().Abs() > mostClockOffset
	return c.alarmed && !was
}
