// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"maps"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
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
	v := &division{Distribution: assignment.Distribute(q), total: total}
	if in.object.Spec.ReplicaDistribution.Rebalance {
		in.rebalance(v)
	}
	v.changes = in.changes(v)
	return v
}

// rebalance moves running replicas nearer to where they belong, a few at a time.
func (in *situation) rebalance(v *division) {
	memory := in.object.Status.Assignment
	if memory == nil {
		memory = &v1alpha1.AssignmentStatus{}
	}
	q := assignment.RebalanceQuestion{
		UID:           string(in.object.UID),
		Total:         v.total,
		DriftingSince: timeOf(memory.DriftingSince),
		LastMove:      timeOf(memory.LastRebalanceTime),
		Now:           in.now,
	}
	v.moved = map[string]int32{}
	for i := range in.parts {
		p := &in.parts[i]
		name := p.facts.Name
		if p.writable() {
			q.Clusters = append(q.Clusters, assignment.Placement{
				Name: name, Moved: p.moved, Current: p.told(), Ready: int32(p.listing.Ready()), Wanted: v.Replicas[name], Target: v.Targets[name],
			})
		} else if p.moved > 0 {
			v.moved[name] = p.moved
		}
	}
	r := assignment.Rebalance(q)
	maps.Copy(v.Replicas, r.Replicas)
	maps.Copy(v.moved, r.Moved)
	v.memory = memory.DeepCopy()
	v.memory.DriftingSince, v.memory.LastRebalanceTime = metaTime(r.DriftingSince), metaTime(r.LastMove)
}

func timeOf(t *metav1.Time) *time.Time {
	if t == nil {
		return nil
	}
	return &t.Time
}

func metaTime(t *time.Time) *metav1.Time {
	if t == nil {
		return nil
	}
	return &metav1.Time{Time: *t}
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

// told is how many replicas the cluster was told to run, without those that run twice while they move; 0 if that is not
// known.
func (p *part) told() int32 {
	if p.assigned == nil {
		return 0
	}
	return max(0, *p.assigned-p.moved)
}

// reported is how many replicas the workload there says that it has, likewise.
func (p *part) reported() int32 { return max(0, p.scale.Status.Replicas-p.moved) }

// load is what a cluster carries by the first metric of Pods that was answered, in milli. Only the division by it asks.
func (in *situation) load(cluster string) int64 {
	if in.object.Spec.ReplicaDistribution.Type != v1alpha1.DistributionLoadWeighted {
		return 0
	}
	for i := range in.metrics {
		if m := &in.metrics[i]; m.Err == nil && m.Pods != nil {
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
	// total is what was to be divided.
	total int32
	// moved are replicas that run twice while they move, by the cluster that they move to.
	moved map[string]int32
	// memory is for the next rebalancing; nil: there is none.
	memory *v1alpha1.AssignmentStatus
	// changes are those that it takes, in name order.
	changes []*change
}

// change is a new number of replicas for one cluster. err is why it could not be told.
type change struct {
	part     *part
	from, to int32
	// gain is by how much the cluster's part of the fleet's replicas changes.
	gain int32
	err  error
}

// changes are what the division changes.
func (in *situation) changes(v *division) []*change {
	var all []*change
	for i := range in.parts {
		p := &in.parts[i]
		to, divided := v.Replicas[p.facts.Name]
		if divided && p.writable() && to != *p.assigned {
			all = append(all, &change{part: p, from: *p.assigned, to: to, gain: to - v.moved[p.facts.Name] - p.told()})
		}
	}
	return all
}

// moving are the replicas that run twice, once the changes were told as far as they could be. Who could not be told runs
// what ran before.
func (v *division) moving() map[string]int32 {
	moved := maps.Clone(v.moved)
	for _, c := range v.changes {
		if c.err != nil && moved != nil {
			moved[c.part.facts.Name] = c.part.moved
		}
	}
	return moved
}
