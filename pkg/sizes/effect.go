// SPDX-License-Identifier: Apache-2.0

package sizes

import "time"

// Admission is how the new Pods of a workload get their sizes in a cluster.
type Admission struct {
	// Sizes are what is written there, and Written when it was written, or first seen to be. Zero: it is not.
	Sizes   []NewContainer
	Written time.Time
	// Version is another one whenever what is written, or the policy that reads it, or the template changes.
	Version string
}

// settled reports whether what is written is known to whoever creates Pods.
func (a *Admission) settled(now time.Time) bool {
	return len(a.Sizes) > 0 && !a.Written.IsZero() && now.Sub(a.Written) >= settling
}

// effect is whether new Pods get their sizes. Why one is created does not matter: for one that was evicted, or for load.
type effect struct {
	version string
	counts  bool // Pods that are new the next time were created after all this was settled
	bare    int  // in a row, that were not created with their size
}

func (e *effect) observe(fresh []*Running, a Admission, now time.Time) {
	if a.Version != e.version {
		e.version, e.counts, e.bare = a.Version, false, 0
	}
	for _, p := range fresh {
		switch {
		case !e.counts || p.Outdated:
		case p.created(a.Sizes):
			if e.bare < ineffective {
				e.bare = 0
			}
		default:
			e.bare = min(ineffective, e.bare+1)
		}
	}
	e.counts = a.settled(now)
}

func (e *effect) admits(a Admission, now time.Time) bool {
	return a.settled(now) && e.bare < ineffective
}
