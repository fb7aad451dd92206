// SPDX-License-Identifier: Apache-2.0

package assignment

// Policy is a rule by which something is divided among clusters. Its values are those of the API's
// FederatedHPAAssignmentType and ReplicaDistributionType, so both convert to it.
type Policy string

const (
	// Duplicated gives every cluster the whole; for bounds only.
	Duplicated Policy = "Duplicated"
	// StaticWeighted divides in proportion to given weights.
	StaticWeighted Policy = "StaticWeighted"
	// DynamicWeighted divides in proportion to what clusters can host.
	DynamicWeighted Policy = "DynamicWeighted"
	// LoadWeighted divides in proportion to the load that clusters carry; for replicas only.
	LoadWeighted Policy = "LoadWeighted"
	// Aggregated fills as few clusters as can host the whole.
	Aggregated Policy = "Aggregated"
	// Prioritized fills clusters in the order of their priority, the highest first.
	Prioritized Policy = "Prioritized"
)

// selective: where there are preferences, only the clusters that they name take part.
func (p Policy) selective() bool { return p == StaticWeighted || p == Prioritized }

// ByCapacity: what clusters can host decides who gets what.
func (p Policy) ByCapacity() bool { return p == DynamicWeighted || p.fills() }

// fills: one cluster after another is filled; otherwise all get their share by weight.
func (p Policy) fills() bool { return p == Aggregated || p == Prioritized }
