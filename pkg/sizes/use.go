// SPDX-License-Identifier: Apache-2.0

package sizes

import "time"

// Use is what the containers of one name used, of one workload in one cluster. The zero value has seen nothing.
type Use struct {
	cpu    histogram // of samples
	memory histogram // of the highest sample of each container and day

	// First and Last are when samples of CPU were taken, and Samples how many.
	First, Last time.Time
	Samples     int
}

// sampleWeight is that of a sample of CPU. A peak of memory weighs 1.
const sampleWeight = 0.1

// Merge adds what was seen elsewhere, and leaves that as it is.
func (u *Use) Merge(o *Use) {
	u.cpu.merge(&o.cpu)
	u.memory.merge(&o.memory)
	if u.First.IsZero() || !o.First.IsZero() && o.First.Before(u.First) {
		u.First = o.First
	}
	if o.Last.After(u.Last) {
		u.Last = o.Last
	}
	u.Samples += o.Samples
}

func (u *Use) addCPU(milli int64, at time.Time) {
	u.cpu.add(cpuScheme.bucket(float64(milli)/1000), sampleWeight, at)
	if at.After(u.Last) {
		u.Last = at
	}
	if u.First.IsZero() || at.Before(u.First) {
		u.First = at
	}
	u.Samples++
}

func (u *Use) addPeak(amount int64, at time.Time) {
	u.memory.add(memoryScheme.bucket(float64(amount)), 1, at)
}

func (u *Use) subtractPeak(amount int64, at time.Time) {
	u.memory.subtract(memoryScheme.bucket(float64(amount)), 1, at)
}
