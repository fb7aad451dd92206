// SPDX-License-Identifier: Apache-2.0

package certs

import "time"

// settled records since when all targets have had the same bundle.
type settled struct {
	bundle string // empty: not all have
	since  time.Time
}

// saw records what one sync found, and returns for how long all targets have had
// this bundle.
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
