// SPDX-License-Identifier: Apache-2.0

package central

import (
	"context"
	"fmt"
	"math"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

// propagation is how the members follow the workload on the hub. Its zero value is that this is not known.
type propagation struct {
	known bool
	// told is how many replicas the workload on the hub asks the members for, run how many they run together.
	told, run int32
	// stuck is since when the members have run another number, and always the same.
	stuck time.Time
	// asked is when the members were asked last what they were told.
	asked time.Time
}

// next returns how members follow that run so many now; nil: it is not known, as where one is silent. Whoever propagates, however
// slowly, changes what they run, and has all the time he needs; so does who was told something new when all was well.
func (p propagation) next(told int32, run *int32, now time.Time) propagation {
	if run == nil {
		return propagation{asked: p.asked}
	}
	since := now
	if p.failing() && p.run == *run {
		since = p.stuck
	}
	return propagation{known: true, told: told, run: *run, stuck: since, asked: p.asked}
}

// failing reports whether the members run what they should not.
func (p propagation) failing() bool { return p.known && p.run != p.told }

// after reports whether nobody propagates the workload: when they were asked last, the members had not followed for so long.
func (p propagation) after(grace time.Duration) bool {
	return p.failing() && p.asked.Sub(p.stuck) >= grace
}

// due reports whether the members are to be asked what they were told. Each is asked, so not at every reconcile: Pods may wait
// for a node for days.
func (p propagation) due(grace time.Duration, now time.Time) bool {
	return p.asked.IsZero() || now.Sub(p.asked) >= grace/5
}

// propagation finds out how the members follow the workload on the hub, where they are to. Mostly as many Pods as it asks for
// tell; where there are others, Pods may not have been made yet, or cannot be, and the members say what they were told.
func (m *Mode) propagation(ctx context.Context, in *situation, memory *Memory) propagation {
	if in.inMembers {
		return propagation{}
	}
	p, run := memory.propagation, in.podsIn()
	if run != nil && *run != in.told() {
		if !p.due(in.grace, in.Now) {
			return p
		}
		run, p.asked = m.toldIn(ctx, in), in.Now
	}
	return p.next(in.told(), run, in.Now)
}

// podsIn returns how many Pods of the workload the members have, whatever they do; nil if not all can be seen.
func (in *situation) podsIn() *int32 {
	n := 0
	for p := range sight.Pointers(in.parts) {
		if p.state == v1alpha1.ClusterUnreachable || !p.Pods.Known || p.Pods.Silent != nil {
			return nil
		}
		n += p.present()
	}
	return new(int32(min(n, math.MaxInt32)))
}

// toldIn returns how many replicas the workload asks for in all members; nil if one does not say.
func (m *Mode) toldIn(ctx context.Context, in *situation) *int32 {
	members := make([]selection.Cluster, len(in.parts))
	for i := range in.parts {
		members[i].Candidate = in.parts[i].Candidate
	}
	workload.Each(ctx, m.Fleet.Timeout, members, func(ctx context.Context, c *selection.Cluster) {
		c.ReadScale(ctx, in.Object.Namespace, in.Object.Spec.ScaleTargetRef)
	})
	sum := int64(0)
	for c := range sight.Pointers(members) {
		switch {
		case c.Scale != nil:
			sum += int64(c.Scale.Spec.Replicas)
		case c.Absent == nil:
			return nil
		}
	}
	return new(int32(min(sum, math.MaxInt32)))
}

// propagated reports whether the members follow the workload on the hub. While that is not known, or may yet come, what was
// reported last holds.
func (in *situation) propagated(
	conditions []autoscalingv2.HorizontalPodAutoscalerCondition) []autoscalingv2.HorizontalPodAutoscalerCondition {
	switch {
	case in.Object.Spec.ReplicaDistribution != nil:
		return record.Unset(conditions, v1alpha1.Propagated)
	case in.scale.Err != nil:
		return conditions
	case in.proportional():
		return in.saysInMembers().Set(conditions, in.Now)
	case wasInMembers(in.Object):
		conditions = record.Unset(conditions, v1alpha1.Propagated)
	}
	p, now := in.propagation, record.Condition{
		Type: v1alpha1.Propagated, Is: true, Quiet: true, Reason: reasonPropagated,
		Message: "the clusters together specify as many replicas as the workload on the hub",
	}
	switch {
	case p.after(in.grace):
		now.Is, now.Quiet, now.Reason = false, false, reasonNotPropagated
		now.Message = fmt.Sprintf("the workload on the hub specifies %s, and those in the %d selected clusters %d in total: "+
			"have the workload propagated to them and its replicas divided, as Karmada does, or set spec.replicaDistribution to have "+
			"each cluster scaled",
			in.number(in.scale.Replicas), len(in.parts), p.run)
	case !p.known || p.failing():
		return conditions
	}
	return now.Set(conditions, in.Now)
}
