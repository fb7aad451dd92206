// SPDX-License-Identifier: Apache-2.0

package central

import (
	"maps"
	"math"

	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
)

// divide divides so many replicas among the clusters that take part. One that cannot be told keeps what it has.
func (in *situation) divide(total int32) *division {
	var clusters []assignment.Cluster
	for p := range sight.Pointers(in.parts) {
		if p.takesPart() && !p.abandoned() {
			clusters = append(clusters, p.cluster(in))
		}
	}
	d := in.Object.Spec.ReplicaDistribution
	v := &division{Distribution: assignment.Divide(d, string(in.Object.UID), total, clusters)}
	if d != nil && ptr.Deref(d.Rebalance, false) {
		in.rebalance(v, total, clusters)
	}
	v.changed = in.changed(v)
	return v
}

// rebalance moves running replicas nearer to where they belong, a few at a time.
func (in *situation) rebalance(v *division, total int32, clusters []assignment.Cluster) {
	memory := in.Object.Status.Assignment
	if memory == nil {
		memory = &v1alpha1.AssignmentStatus{}
	}
	q := assignment.RebalanceQuestion{
		UID:           string(in.Object.UID),
		Total:         total,
		Clusters:      clusters,
		Distribution:  v.Distribution,
		DriftingSince: sight.Time(memory.DriftingSince),
		LastMove:      sight.Time(memory.LastRebalanceTime),
		Now:           in.Now,
	}
	v.moved = map[string]int32{}
	for p := range sight.Pointers(in.parts) {
		if p.moved > 0 && !p.writable() {
			v.moved[p.Facts.Name] = p.moved
		}
	}
	r := assignment.Rebalance(q)
	maps.Copy(v.Replicas, r.Replicas)
	maps.Copy(v.moved, r.Moved)
	v.memory = memory.DeepCopy()
	v.memory.DriftingSince, v.memory.LastRebalanceTime = sight.Stored(r.DriftingSince), sight.Stored(r.LastMove)
}

// cluster is the cluster as the division sees it.
func (p *part) cluster(in *situation) assignment.Cluster {
	c := assignment.Cluster{
		Name: p.Facts.Name, Preference: p.Preference, Current: p.told(), Capacity: p.capacity(),
		Limit: p.limit, Load: in.load(p.Facts.Name), Held: !p.writable(), Moved: p.moved, Ready: int32(p.Pods.Ready()),
	}
	return c.Under(p.Standing.Standing)
}

// capacity returns how many replicas the cluster can host in all; nil: that is not known.
func (p *part) capacity() *int32 {
	if p.assigned == nil || p.Additional == nil {
		return nil
	}
	return new(int32(min(int64(p.hosted())+int64(*p.Room(*p.assigned)), math.MaxInt32)))
}

// told returns how many replicas the cluster was told to run, without those that run twice while they move; 0 if that is not
// known.
func (p *part) told() int32 {
	if p.assigned == nil {
		return 0
	}
	return max(0, *p.assigned-p.moved)
}

// reported returns how many replicas the workload there says that it has, again without those that run twice.
func (p *part) reported() int32 { return max(0, p.Scale.Status.Replicas-p.moved) }

// load returns what a cluster carries by the first metric of Pods that was answered, in milli. Only the division by it asks.
func (in *situation) load(cluster string) int64 {
	if d := in.Object.Spec.ReplicaDistribution; d == nil || d.Type != v1alpha1.DistributionLoadWeighted {
		return 0
	}
	for m := range sight.Pointers(in.metrics) {
		if m.Err == nil && m.Pods != nil {
			sum := int64(0)
			for _, sample := range m.Pods[cluster] {
				sum += min(max(0, sample.Value), math.MaxInt64-sum)
			}
			return sum
		}
	}
	return 0
}

// division is how the replicas are divided among the clusters.
type division struct {
	assignment.Distribution
	// moved are replicas that run twice while they move, by the cluster that they move to.
	moved map[string]int32
	// memory is for the next rebalancing; nil: there is none.
	memory *v1alpha1.AssignmentStatus
	// changed are the clusters that are to be told other replicas, in name order.
	changed []*part
}

// changed returns the clusters that are to be told other replicas.
func (in *situation) changed(v *division) []*part {
	var all []*part
	for p := range sight.Pointers(in.parts) {
		to, divided := v.Replicas[p.Facts.Name]
		if divided && p.writable() && to != *p.assigned {
			all = append(all, p)
		}
	}
	return all
}

// gain is by how much the part of the fleet's replicas changes that a cluster has which was told others.
func (v *division) gain(p *part) int32 { return *p.to - v.moved[p.Facts.Name] - p.told() }

// moving are the replicas that run twice, once the changes were told as far as they could be. Who could not be told runs
// what ran before.
func (o *outcome) moving() map[string]int32 {
	moved := maps.Clone(o.division.moved)
	for _, p := range o.written {
		if p.err != nil && moved != nil {
			moved[p.Facts.Name] = p.moved
		}
	}
	return moved
}
