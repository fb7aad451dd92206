// SPDX-License-Identifier: Apache-2.0

package shardlease

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// A Lease of somebody else that has a name like those of shards is none of them: else a leader would wait for it forever.
func TestWorks(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name, holder string
		want         int
	}{
		{"controller-manager-shard-3-of-8.fleetscale.io", "host_1-of-8", 8},
		{"controller-manager-shard-3-of-8.fleetscale.io", "", 0},
		{"controller-manager-replica-1-of-8.fleetscale.io", "host_1-of-8", 0},
		{"cache-shard-0-of-2.example.com", "host_1", 0},
	} {
		seen := sightings{c.name: {spec: coordinationv1.LeaseSpec{HolderIdentity: &c.holder, LeaseDurationSeconds: new(int32(15))}, since: now}}
		if got := seen.works(c.name, now); got != c.want {
			t.Errorf("%s of %q: %d, want %d", c.name, c.holder, got, c.want)
		}
	}
}
