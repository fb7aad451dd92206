// SPDX-License-Identifier: Apache-2.0

package multidim

import "github.com/fleetscale/fleetscale/pkg/sizes"

// record is what was seen of a run.
type record struct {
	// By ticks: the replicas, what they used together in thousandths of a core, and the least that a Pod had reserved.
	replicas []int
	served   []float64
	lowest   []int64
	// censoredAt is the first tick in which a Pod could not use what it would have, because of the sizes of Pods.
	censoredAt int
	given      []given
	kept       [][]int // of each Pod that ever was: when it was resized
	moves      int
	hasty      int // of them, those that shrink or evict a Pod where replicas have just changed
	evictions  int
	evictedAt  int // the first tick in which a Pod was evicted
	greedy     int // evictions after which more Pods of a cluster were not available than may be
	reversals  int
	direction  int
	errs       []string
	// In hours of a core: reserved, used, used beyond what the Pod had reserved, and not served.
	reserved, used, over, unserved float64
}

// given is what a container was given, other than by its template.
type given struct {
	tick, container int
	sizes.Resources
}

func (f *fleet) sized(container int, has sizes.Resources) {
	f.given = append(f.given, given{f.tick, container, has})
}

// censored notes that from now on sizes have a say in what is used.
func (f *fleet) censored() { f.censoredAt = min(f.censoredAt, f.tick) }

// account notes a tick.
func (f *fleet) account(demand, total, reserved float64) {
	least := f.pods[0].requested()
	for _, p := range f.pods {
		least = min(least, p.requested())
	}
	f.replicas, f.served, f.lowest = append(f.replicas, len(f.pods)), append(f.served, total), append(f.lowest, least)
	hours := tick.Hours() / 1000
	f.record.reserved += reserved * hours
	f.used += total * hours
	f.unserved += max(0, demand-total) * hours
}

// note notes by how many replicas the fleet changes.
func (f *fleet) note(by int) {
	if by*f.direction < 0 {
		f.reversals++
	}
	f.direction = by
}
