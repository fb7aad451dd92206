// SPDX-License-Identifier: Apache-2.0

package assignment

import "time"

const (
	// shortestDoubt is how long a cluster whose room is not known stays saturated, at least, after its last Pod has found
	// a node.
	shortestDoubt = 5 * time.Minute
	// proof is how many times as long as it was doubted a cluster must not have been saturated for that to be forgotten.
	proof = 4
)

// Saturation is what is known of a saturated cluster, in either mode.
type Saturation struct {
	Waiting int32  // replicas that no node takes
	Room    *int32 // how many more it can host; nil: not known
	// Promised are those of them for which it would have to add nodes: whether it does is not known before.
	Promised int32
	Since    *time.Time // since when it has had room, as noted last; nil: it had none
	// First is when it became saturated for the first time of late, and Entered for the last time.
	First, Entered time.Time
	Delay          time.Duration // how long it must have had room
	Now            time.Time
}

// Ends says since when the cluster has had room, nil if it has none, and whether that is long enough for it to be
// saturated no more. Where the room is not known, or only promised, that no Pod waits is taken for room, but for longer: each
// time that this turns out to be wrong for as long again as the trouble has lasted. So Pods are not moved back and forth forever among
// clusters that are full.
func (s Saturation) Ends() (since *time.Time, ended bool) {
	if s.Waiting > 0 || s.Room != nil && *s.Room <= 0 {
		return nil, false
	}
	if since = s.Since; since == nil {
		since = &s.Now
	}
	delay := s.Delay
	if s.Room == nil || *s.Room <= s.Promised {
		delay = max(delay, doubt(s.First, s.Entered))
	}
	return since, s.Now.Sub(*since) >= delay
}

// SaturatedFirst returns when a cluster, saturated or not since then, became saturated for the first time of late; before is what
// was known of that. Nil: it was not, or has been well for so long that it would be news again.
func SaturatedFirst(before *time.Time, saturated bool, since, now time.Time) *time.Time {
	switch {
	case saturated && before == nil:
		return &since
	case !saturated && before != nil && now.Sub(since) >= proof*doubt(*before, since):
		return nil
	default:
		return before
	}
}

// doubt returns for how long it is doubted that a cluster has room, which was in trouble from first to last.
func doubt(first, last time.Time) time.Duration {
	return max(shortestDoubt, last.Sub(first))
}
