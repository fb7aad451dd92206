// SPDX-License-Identifier: Apache-2.0

package central

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// plan is what the fleet should run, and, where each cluster is told, how much of it where.
type plan struct {
	// situation is the one decided on; clusters that are full are marked so.
	situation
	replicas.Decision
	// asked is what the decision answers.
	asked *replicas.Question
	// division is nil where the hub is told.
	division *division
	// recorded is the record of the decision; nil: none is made.
	recorded *recording.Record
}

// decide answers a situation.
func decide(in situation) plan {
	in.parts = slices.Clone(in.parts)
	if in.Object.Spec.ReplicaDistribution != nil {
		for i := range in.parts {
			in.parts[i].saturate(&in)
		}
	}
	asked := in.question()
	p := plan{situation: in, Decision: replicas.Decide(asked), asked: &asked}
	if in.inMembers && in.scale.Err == nil {
		p.division = in.divide(p.Replicas)
	}
	return p
}

// saturate marks a cluster as full once Pods of the workload have found no node there for the delay. It then keeps what
// runs, and others get the rest. It is full until its nodes have had room for the delay. One whose waiting Pods would not be
// those that go keeps them, and is not marked.
func (p *part) saturate(in *situation) {
	if !p.writable() || p.Pods.Silent != nil {
		return
	}
	delay := in.Delay()
	switch waiting := int32(p.Pods.Unschedulable); {
	case waiting > 0:
		p.unschedulableSince = p.UnschedulableSince(in.Now)
		if p.Stuck == "" && in.Now.Sub(p.unschedulableSince.Time) >= delay {
			p.full(p.hosted(), record.ReasonUnschedulable, "Pods of the workload find no node")
		} else if p.Before.State == v1alpha1.ClusterSaturated {
			p.full(p.told(), p.Before.Reason, p.Before.Message)
		}
	case p.Before.State == v1alpha1.ClusterSaturated:
		since, ended := assignment.Saturation{
			Room: p.free(), Promised: p.Promised, Since: sight.Time(p.Before.SchedulableSince), First: timeOr(p.Before.SaturatedFirst, in.Now),
			Entered: timeOr(p.Before.Since, in.Now), Delay: delay, Now: in.Now,
		}.Ends()
		if !ended {
			p.schedulableSince = sight.Stored(since)
			p.full(p.told(), p.Before.Reason, p.Before.Message)
		}
	}
}

// stuck: Pods have waited for the delay, and their replicas cannot go to other clusters.
func (in *situation) stuck() record.Condition {
	var each []string
	for p := range sight.Pointers(in.parts) {
		if word := in.Stuck(p.Cluster, p.unschedulableSince); word != "" {
			each = append(each, word)
		}
	}
	return record.Stuck(each)
}

func timeOr(t *metav1.Time, otherwise time.Time) time.Time {
	if t == nil {
		return otherwise
	}
	return t.Time
}

// free returns how many more replicas the cluster can host; nil: that is not known.
func (p *part) free() *int32 {
	capacity := p.capacity()
	if capacity == nil {
		return nil
	}
	return new(*capacity - p.told())
}

// hosted returns how many replicas have found a node, or may find one. Pods beyond the replicas, as those of a rollout, wait
// for others to leave.
func (p *part) hosted() int32 {
	waiting := p.Pods.Unschedulable - max(0, p.present()-int(p.told()))
	return max(0, p.told()-int32(max(0, waiting)))
}

// full marks a cluster as one that takes no more than the limit.
func (p *part) full(limit int32, reason, message string) {
	p.limit = &limit
	p.state, p.reason, p.message = v1alpha1.ClusterSaturated, reason, message
}
