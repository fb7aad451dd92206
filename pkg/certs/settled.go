// SPDX-License-Identifier: Apache-2.0

package certs

import "time"

// settled remembers since when all targets have had the same bundle.
type settled struct {
	bundle string // empty: not all have
	since  time.Time
}

// saw is told what one look found, and returns for how long all have had this
// bundle.
func (s *settled) saw(bundle []byte, everywhere bool, now time.Time) time.Duration {
	switch {
	case !everywhere:
		*s = settled{}
		return 0
	case s.bundle != string(bundle):
		*s = settled{bundle: string(bundle), since: now}
	}
	return now.Sub(s.since)
}
