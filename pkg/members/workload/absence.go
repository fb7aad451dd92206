// SPDX-License-Identifier: Apache-2.0

package workload

import "time"

// mostAbsent is for how long at most a cluster without a workload is not asked for it. So what is found nowhere takes next to nothing
// of the requests that members answer.
const mostAbsent = 5 * time.Minute

// Absence is of a workload that clusters lacked when they were first, and last, asked for it.
type Absence struct {
	Why         error
	First, Last time.Time
}

// Due reports whether to ask again: after twice the time, each time.
func (a Absence) Due(now time.Time) bool {
	return now.Sub(a.Last) >= min(a.Last.Sub(a.First), mostAbsent)
}
