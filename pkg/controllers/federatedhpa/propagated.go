// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"context"
	"fmt"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// propagation is how the members follow the workload on the hub. Its zero value is that this is not known.
type propagation struct {
	known bool
	// told is how many replicas the workload on the hub asks for, run how many the members do together.
	told, run int32
	// stuck is since when the members have run another number, and always the same.
	stuck time.Time
}

// next is how members follow that run so many now; nil: it is not known, as where one is silent. Whoever propagates, however
// slowly, changes what they run, and has all the time he needs; so does who was told something new when all was well.
func (p propagation) next(told int32, run *int32, now time.Time) propagation {
	if run == nil {
		return propagation{}
	}
	since := now
	if p.failing() && p.run == *run {
		since = p.stuck
	}
	return propagation{known: true, told: told, run: *run, stuck: since}
}

// failing says whether the members run what they should not.
func (p propagation) failing() bool { return p.known && p.run != p.told }

// after says whether nobody propagates the workload: the members did not follow for so long.
func (p propagation) after(grace time.Duration, now time.Time) bool {
	return p.failing() && now.Sub(p.stuck) >= grace
}

// follow finds out how the members follow the workload on the hub, where they are to. Mostly as many Pods as it asks for
// tell; where there are others, Pods may not have been made yet, or cannot be, and the members say what they were told.
func (r *Reconciler) follow(ctx context.Context, in *situation) {
	if in.object.Spec.ReplicaDistribution != nil {
		return
	}
	run := in.podsIn()
	if run != nil && *run != in.scale.Replicas {
		run = r.toldIn(ctx, in)
	}
	in.propagation = r.memories.propagation(in.object).next(in.scale.Replicas, run, in.now)
}

// podsIn is how many Pods of the workload the members have, whatever they do; nil if not all can be seen.
func (in *situation) podsIn() *int32 {
	n := 0
	for i := range in.parts {
		p := &in.parts[i]
		if p.state == v1alpha1.ClusterUnreachable || !p.listing.Known || p.listing.Silent != nil {
			return nil
		}
		n += p.present()
	}
	return new(int32(min(n, math.MaxInt32)))
}

// toldIn is how many replicas the workload asks for in all members; nil if one does not say.
func (r *Reconciler) toldIn(ctx context.Context, in *situation) *int32 {
	ctx, cancel := context.WithTimeout(ctx, r.MemberTimeout)
	defer cancel()
	type answer struct {
		*part
		told  int64
		known bool
	}
	answers := make([]answer, len(in.parts))
	for i := range in.parts {
		answers[i].part = &in.parts[i]
	}
	together(answers, func(a *answer) {
		scale, err := a.cluster.Scale(ctx, in.object.Namespace, in.object.Spec.ScaleTargetRef)
		if err == nil {
			a.told, a.known = int64(scale.Spec.Replicas), true
			return
		}
		_, absent := fleet.Classify(err)
		a.known = absent || meta.IsNoMatchError(err)
	})
	sum := int64(0)
	for _, a := range answers {
		if !a.known {
			return nil
		}
		sum += a.told
	}
	return new(int32(min(sum, math.MaxInt32)))
}

// sayPropagated says whether the members follow the workload on the hub. While that is not known, or may yet come, what was
// said last holds.
func (in *situation) sayPropagated(s *v1alpha1.FederatedHPAStatus) {
	if in.object.Spec.ReplicaDistribution != nil {
		unsay(s, v1alpha1.Propagated)
		return
	}
	p, now := in.propagation, condition{Type: v1alpha1.Propagated, Status: corev1.ConditionTrue, Reason: reasonPropagated}
	switch {
	case p.after(in.grace, in.now):
		now.Status, now.Reason = corev1.ConditionFalse, reasonNotPropagated
		now.Message = fmt.Sprintf("the workload on the hub asks for %d replicas, and those of the %d selected clusters for %d together: "+
			"have the workload propagated to them and its replicas divided, as Karmada does, or set spec.replicaDistribution, so that each cluster is told its part",
			p.told, len(in.parts), p.run)
		in.say(s, now, true)
	case p.known && !p.failing():
		now.Message = "the clusters together are told as many replicas as the workload on the hub"
		in.say(s, now, false)
	}
}
