// SPDX-License-Identifier: Apache-2.0

package sizes

import "time"

// Instance is what is remembered of one container of one Pod between its samples. The zero value remembers nothing.
type Instance struct {
	measured  time.Time // of the last sample, by the member's clock
	at        time.Time // of the last sample, by ours
	windowEnd time.Time // until when the peaks below are the highest
	peak, oom int64     // of samples, and of what was needed when it was killed
}

// Sample is what a container was measured to use. An amount may be None; memory of 0 is none, since nothing runs in it.
type Sample struct {
	Amounts

	// At is when it was asked for, by our clock: its age follows from that.
	At time.Time
	// Measured is when it was measured, by the member's clock, which may be wrong: it tells only that a sample is the
	// one seen before. Zero if the member does not say.
	Measured time.Time
}

const (
	window   = 24 * time.Hour // one peak of memory is kept of each
	oomRatio = 1.2            // how much more than it had a container needs that was killed for want of memory,
	oomBump  = 100 << 20      // and how many bytes more at least
)

// Add adds a sample of the container to what is used. It returns false if the sample was seen before, and so is ignored.
func (i *Instance) Add(u *Use, s Sample) bool {
	if !s.At.After(i.at) || !s.Measured.IsZero() && s.Measured.Equal(i.measured) {
		return false
	}
	i.at, i.measured = s.At, s.Measured
	if s.Amounts[CPU] >= 0 {
		u.addCPU(min(s.Amounts[CPU], most), s.At)
	}
	if s.Amounts[Memory] > 0 {
		i.addPeak(u, min(s.Amounts[Memory], most), s.At, &i.peak)
	}
	return true
}

// OOM notes that the container was killed because it needed more memory than it had. Requested is what its request was,
// and at is when that was seen, by our clock.
func (i *Instance) OOM(u *Use, requested int64, at time.Time) {
	had := min(max(requested, i.peak), most)
	i.addPeak(u, min(max(had+oomBump, amount(float64(had)*oomRatio)), most), at, &i.oom)
}

// Killed reports whether what it needed when it was killed is the highest of its window.
func (i *Instance) Killed() bool { return i.oom > i.peak }

// addPeak has the highest amount of the window count, and only that.
func (i *Instance) addPeak(u *Use, amount int64, at time.Time, peak *int64) {
	if at.Before(i.windowEnd) {
		highest := max(i.peak, i.oom)
		if amount <= highest {
			return
		}
		u.subtractPeak(highest, i.windowEnd)
	} else {
		i.nextWindow(at)
	}
	u.addPeak(amount, i.windowEnd)
	*peak = amount
}

func (i *Instance) nextWindow(at time.Time) {
	if i.windowEnd.IsZero() {
		i.windowEnd = at
	}
	i.windowEnd = i.windowEnd.Add(at.Sub(i.windowEnd).Truncate(window) + window)
	i.peak, i.oom = 0, 0
}
