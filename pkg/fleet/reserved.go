// SPDX-License-Identifier: Apache-2.0

package fleet

// Keys of a metric's selector that, beside [ClusterLabel], are for the fleet. A
// member's own adapter takes them for labels of series.
const (
	// MergeKey says how the clusters' parts become one.
	MergeKey = "fleetscale.io/merge"
	// PartialKey with the value [PartialAllow] allows an answer that lacks silent members.
	PartialKey = "fleetscale.io/partial"
)

// ReservedKeys are all keys of a metric's selector that no member may get.
func ReservedKeys() []string { return []string{MergeKey, ClusterLabel, PartialKey} }
