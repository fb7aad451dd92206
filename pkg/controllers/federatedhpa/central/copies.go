// SPDX-License-Identifier: Apache-2.0

package central

import (
	"fmt"

	"github.com/fleetscale/fleetscale/pkg/hub/placement"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// copies is in how many clusters the workload runs whole, where each runs as many replicas as the hub specifies; 1: they divide them.
func (in *situation) copies() int {
	if in.inMembers || in.Rule != placement.Duplicated {
		return 1
	}
	return max(1, len(in.parts))
}

// told is how many replicas the clusters together are to run, by the number on the hub or by theirs.
func (in *situation) told() int32 { return replicas.Whole(in.scale.Replicas, in.copies()) }

// number says in words what so many replicas are of.
func (in *situation) number(n int32) string {
	if copies := in.copies(); copies > 1 {
		return fmt.Sprintf("%d replicas in each of %d clusters", n, copies)
	}
	return fmt.Sprintf("%d replicas", n)
}
