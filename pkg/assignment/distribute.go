// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"k8s.io/utils/ptr"
)

// DistributeQuestion is how the replicas of a fleet are to be divided, and among whom.
type DistributeQuestion struct {
	Policy Policy // not Duplicated
	UID    string // of the FederatedHPA; decides among equals
	Total  int32  // replicas of the whole fleet
	// Clusters are those that take part, in any order. What a cluster runs that takes no part any more goes to the others.
	Clusters []Cluster
}

// Distribution is how replicas are divided.
type Distribution struct {
	// Replicas are those that each cluster is to run. Their sum is the total, but for Unplaced, and for what held clusters
	// run beyond it.
	Replicas map[string]int32
	// Targets are each cluster's share: what it would run if nothing ran yet.
	Targets map[string]int32
	// Unplaced is the part of the total that no cluster may run: all are at their ceilings.
	Unplaced int32
	// Saturated: no cluster is known to be able to take some of the replicas; they were given out all the same.
	Saturated bool
	// Unweighted: no cluster has a weight (or capacity, or load, by the policy), so all weigh the same.
	Unweighted bool
}

// Divide divides the total among the clusters as a distribution of the API says; nil: in proportion to what they run. The uid is of the
// autoscaler, and decides among equals.
func Divide(by *v1alpha1.ReplicaDistribution, uid string, total int32, clusters []Cluster) Distribution {
	if by == nil {
		return InProportion(total, clusters)
	}
	return Distribute(DistributeQuestion{Policy: Policy(by.Type), UID: uid, Total: total, Clusters: clusters})
}

// Distribute divides the total among the clusters. Running replicas are not moved: only what the total adds or takes
// away is divided, one by one, each where the cluster is then farthest from its share. So scaling up shrinks no cluster
// and scaling down grows none, unless a cluster is beyond its limit or ceiling.
//
// On the way down, Prioritized empties the lowest priority first, and Aggregated the cluster that runs the fewest. A
// cluster falls below its floor only if the total leaves no choice.
func Distribute(q DistributeQuestion) Distribution {
	d := newDistributor(q)
	targets, saturated := d.targets()
	x := d.kept()
	if missing := d.total - sum(x); missing > 0 {
		d.raise(missing, x, targets)
	} else {
		d.lower(-missing, x, targets)
	}
	result := Distribution{
		Replicas:   d.named(x),
		Targets:    d.named(targets),
		Unplaced:   int32(d.total - sum(x)),
		Saturated:  saturated,
		Unweighted: d.unweighted && !d.policy.fills(),
	}
	for name, replicas := range d.held {
		result.Replicas[name], result.Targets[name] = replicas, replicas
	}
	return result
}

// distributor is a question made ready. Its slices are in the order of the roster.
type distributor struct {
	roster
	total    int64   // for the clusters of the roster
	limits   []int64 // what each can take for all we know
	ceilings []int64 // what each may run
	held     map[string]int32
}

func newDistributor(q DistributeQuestion) distributor {
	d := distributor{total: int64(q.Total), held: map[string]int32{}}
	var clusters []Cluster
	for _, c := range q.Clusters {
		c.Current = max(0, c.Current)
		if c.Held {
			d.held[c.Name] = c.Current
			d.total -= int64(c.Current)
			continue
		}
		clusters = append(clusters, c)
	}
	d.total = max(0, d.total)
	d.roster = newRoster(q.Policy, q.UID, clusters)
	d.ceilings = d.each(func(m Cluster) int64 { return int64(m.Ceiling) })
	d.limits = d.each(func(m Cluster) int64 { return int64(min(m.Ceiling, max(0, ptr.Deref(m.Limit, m.Ceiling)))) })
	return d
}

// targets returns each cluster's share, within the limits if possible.
func (d *distributor) targets() (x []int64, saturated bool) {
	x, left := d.divide(d.total, d.limits)
	return x, left > d.pour(left, x, d.ceilings)
}

// kept returns what each cluster runs and can go on running.
func (d *distributor) kept() []int64 {
	x := d.each(func(m Cluster) int64 { return int64(m.Current) })
	for i := range x {
		x[i] = min(x[i], d.limits[i])
	}
	return x
}

// raise adds n replicas: where there is known to be room; then back to where they came from; then up to the ceilings.
func (d *distributor) raise(n int64, x, targets []int64) {
	before := d.each(func(m Cluster) int64 { return int64(min(m.Current, m.Ceiling)) })
	for _, bounds := range [][]int64{d.limits, before, d.ceilings} {
		n = climb(n, x, targets, bounds)
	}
}

// climb adds up to n to x, each step where x is farthest below its target and below its bound; the first among equals.
func climb(n int64, x, targets, bounds []int64) (left int64) {
	gives, left := level(n, minus(targets, x), minus(bounds, x))
	for i := range x {
		x[i] += gives[i]
	}
	return left
}

func minus(a, b []int64) []int64 {
	difference := make([]int64, len(a))
	for i := range a {
		difference[i] = a[i] - b[i]
	}
	return difference
}
