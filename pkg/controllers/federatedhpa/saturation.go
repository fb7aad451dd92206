// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
)

// saturate says whether a cluster is full: Pods of the workload have found no node there for the delay. It then keeps
// what runs, and others get the rest. It is full until its nodes have had room for the delay.
//
// A StatefulSet is left alone: it would delete its last Pods, which need not be those that wait.
func (p *part) saturate(in *situation) {
	if !p.writable() || p.listing.Silent != nil || in.object.Spec.ScaleTargetRef.Kind == "StatefulSet" {
		return
	}
	delay := time.Duration(*in.object.Spec.AutoscaleMultiClusterDelay) * time.Second
	switch waiting := int32(p.listing.Unschedulable); {
	case waiting > 0:
		p.unschedulableSince = since(p.before.UnschedulableSince, p.listing.UnschedulableSince.Add(-p.offset), in.now)
		if in.now.Sub(p.unschedulableSince.Time) >= delay {
			p.full(p.hosted(), reasonUnschedulable, "no node takes more Pods of the workload")
		} else if p.before.State == v1alpha1.ClusterSaturated {
			p.full(p.told(), p.before.Reason, p.before.Message)
		}
	case p.before.State == v1alpha1.ClusterSaturated:
		since, ended := assignment.Saturation{
			Room: p.room(), Since: timeOf(p.before.SchedulableSince), First: timeOr(p.before.SaturatedFirst, in.now),
			Entered: timeOr(p.before.Since, in.now), Delay: delay, Now: in.now,
		}.Ends()
		if !ended {
			p.schedulableSince = metaTime(since)
			p.full(p.told(), p.before.Reason, p.before.Message)
		}
	}
}

func timeOr(t *metav1.Time, otherwise time.Time) time.Time {
	if t == nil {
		return otherwise
	}
	return t.Time
}

// room is how many more replicas the cluster can host; nil: not known.
func (p *part) room() *int32 {
	if p.capacity == nil {
		return nil
	}
	return new(*p.capacity - p.told())
}

// hosted is how many replicas have found a node, or may find one. Pods beyond the replicas, as those of a rollout, wait
// for others to leave.
func (p *part) hosted() int32 {
	waiting := p.listing.Unschedulable - max(0, p.present()-int(p.told()))
	return max(0, p.told()-int32(max(0, waiting)))
}

// full marks a cluster as one that takes no more than the limit.
func (p *part) full(limit int32, reason, message string) {
	p.limit = &limit
	p.state, p.reason, p.message = v1alpha1.ClusterSaturated, reason, message
}

// since is the earlier time, if it is stored already, and never a time to come.
func since(stored *metav1.Time, found, now time.Time) *metav1.Time {
	if stored != nil {
		return stored
	}
	if found.IsZero() || found.After(now) {
		found = now
	}
	return &metav1.Time{Time: found}
}
