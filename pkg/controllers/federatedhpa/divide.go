// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"maps"
	"math"
	"slices"

	"github.com/fleetscale/fleetscale/pkg/assignment"
)

// divide divides so many replicas among the clusters that take part. One that can not be told keeps what it has.
func (in *situation) divide(total int32) *division {
	q := assignment.DistributeQuestion{
		Policy: assignment.Policy(in.object.Spec.ReplicaDistribution.Type),
		UID:    string(in.object.UID),
		Total:  total,
	}
	for i := range in.parts {
		if p := &in.parts[i]; p.takesPart() {
			q.Clusters = append(q.Clusters, p.destination(in))
		}
	}
	d := assignment.Distribute(q)
	return &division{Distribution: d, changes: in.changes(d)}
}

// destination is the cluster as the division sees it.
func (p *part) destination(in *situation) assignment.Destination {
	return assignment.Destination{
		Cluster: assignment.Cluster{Name: p.facts.Name, Preference: p.preference, Current: p.told(), Capacity: p.capacity},
		Limit:   p.limit,
		Load:    in.load(p.facts.Name),
		Held:    !p.writable(),
	}
}

// told is how many replicas the cluster was told to run; 0 if that is not known.
func (p *part) told() int32 {
	if p.assigned == nil {
		return 0
	}
	return *p.assigned
}

// load is what a cluster carries by the first metric of Pods that was answered, in milli.
func (in *situation) load(cluster string) int64 {
	for i := range in.metrics {
		if m := &in.metrics[i]; m.Err == nil && m.Pods != nil {
			sum := float64(0)
			for _, pod := range slices.Sorted(maps.Keys(m.Pods[cluster])) {
				sum += float64(m.Pods[cluster][pod].Value)
			}
			return int64(min(sum, math.MaxInt64/2))
		}
	}
	return 0
}

// division is how the replicas are divided among the clusters.
type division struct {
	assignment.Distribution
	// changes are those that it takes, in name order.
	changes []*change
}

// change is a new number of replicas for one cluster. err is why it could not be told.
type change struct {
	part     *part
	from, to int32
	err      error
}

// changes are what the distribution changes.
func (in *situation) changes(d assignment.Distribution) []*change {
	var all []*change
	for i := range in.parts {
		p := &in.parts[i]
		if to, divided := d.Replicas[p.facts.Name]; divided && p.writable() && to != p.told() {
			all = append(all, &change{part: p, from: p.told(), to: to})
		}
	}
	return all
}
