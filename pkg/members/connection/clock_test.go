// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// dated is the header of an answer written at a time.
func dated(at time.Time) http.Header {
	return http.Header{"Date": {at.UTC().Format(http.TimeFormat)}}
}

func TestClock(t *testing.T) {
	const second = time.Second
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		samples []time.Duration // the member's time minus ours, for each answer
		trip    time.Duration   // of request and answer; the member writes in its middle
		want    time.Duration
		within  time.Duration
	}{
		"one answer is right to half a second": {[]time.Duration{2 * second}, 0, 2 * second, second / 2},
		"the way back is not taken for age":    {[]time.Duration{0}, 4 * second, 0, second / 2},
		"behind":                               {[]time.Duration{-7 * second}, second / 10, -7 * second, second / 2},
		"one that lies is not heard":           {[]time.Duration{second, 0, 500 * second, second, 0}, 0, second / 2, second},
		"only the last ones count": {append(make([]time.Duration, 20), repeated(30*second, 9)...), 0, 30 * second,
			second / 2},
		"half of the last ones are needed to be believed": {append(make([]time.Duration, 20), repeated(30*second, 4)...), 0, 0, second / 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for phase := range 10 { // of the second
				c := &clock{}
				for i, ahead := range tc.samples {
					sent := noon.Add(time.Duration(i)*10*second + time.Duration(phase)*second/10)
					c.observe(dated(sent.Add(tc.trip/2+ahead)), sent, sent.Add(tc.trip))
				}
				got, known := c.offset()
				if !known || (got-tc.want).Abs() > tc.within {
					t.Errorf("phase %d: offset %v, %v; want %v to within %v", phase, got, known, tc.want, tc.within)
				}
			}
		})
	}
}

func repeated(d time.Duration, n int) []time.Duration {
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = d
	}
	return all
}

// Probes are spread over the second, so that what each lacks comes out in the median.
func TestClockIsRightToAThirdOfASecond(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	good, rounds := uint64(0), fleettest.Rounds(500, 10)
	for seed := range rounds {
		random := rand.New(rand.NewPCG(seed, 0))
		ahead := time.Duration(random.Int64N(int64(100*time.Second))) - 50*time.Second
		c := &clock{}
		for at := noon; at.Before(noon.Add(3 * time.Minute)); at = at.Add(9500*time.Millisecond +
			time.Duration(random.Int64N(int64(time.Second)))) {
			trip := time.Duration(random.Int64N(int64(100 * time.Millisecond)))
			written := at.Add(time.Duration(random.Int64N(int64(trip) + 1)))
			c.observe(dated(written.Add(ahead)), at, at.Add(trip))
		}
		if got, _ := c.offset(); (got - ahead).Abs() < time.Second/3 {
			good++
		}
	}
	if want := rounds * 96 / 100; good < want {
		t.Errorf("%d of %d offsets were right to a third of a second, want %d", good, rounds, want)
	}
}

func TestClockWithoutDates(t *testing.T) {
	c := &clock{}
	c.observe(http.Header{}, time.Now(), time.Now())
	c.observe(http.Header{"Date": {"yesterday"}}, time.Now(), time.Now())
	if offset, known := c.offset(); known || offset != 0 || c.alarm() {
		t.Errorf("offset %v, known %v", offset, known)
	}
}
