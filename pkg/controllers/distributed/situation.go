// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"slices"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/pods"
	"github.com/fleetscale/fleetscale/pkg/workload"
)

// situation is what a step rests on.
type situation struct {
	// object has its defaults. Its status is the one stored last.
	object *v1alpha1.FederatedHPA
	now    time.Time
	// sites are the clusters that take part, and those that did, in name order.
	sites []site
	// gone are the clusters that have an autoscaler of ours, and are not registered any more.
	gone []string
	// template is what a cluster that lacks the workload gets; nil: there is none, nobody needs it, or others place it.
	template *unstructured.Unstructured
	// fault is why nothing may be done for the whole object; nil: something may.
	fault error
	// wanted: nothing runs, and a metric says that something should.
	wanted  bool
	options *Options
}

// site is one cluster.
type site struct {
	cluster workload.Cluster
	facts   assignment.ClusterFacts
	// before is what the status says of it.
	before     v1alpha1.ClusterStatus
	preference assignment.Preference
	presence   assignment.Presence
	// state is Conflict or Excluded where the cluster takes no part for that reason; otherwise the step says it. reason and
	// message say why the cluster is not present.
	state           v1alpha1.ClusterState
	reason, message string

	// autoscalers are those of the namespace, and own is ours among them, or that which is to become ours; nil: there is
	// none. name is the one that it has, or is to have. surplus are further ones of ours.
	autoscalers workload.Autoscalers
	own         *autoscalingv2.HorizontalPodAutoscaler
	name        string
	surplus     []*autoscalingv2.HorizontalPodAutoscaler
	// scale is the workload's; nil: it was not read, or the cluster lacks the workload, if absent.
	scale   *autoscalingv1.Scale
	absent  bool
	listing pods.Listing
	// additional is how many more replicas the cluster has room for; nil: not known.
	additional *int32
	// steady is for how many looks the autoscaler has desired what runs.
	steady int
	// refused and balked are how bounds, and replicas, were refused lately.
	refused, balked refusal
	balks           bool
	// recovered: it takes what it had refused for long; accepted: it is known since this look.
	recovered, accepted bool
	trial               trial

	// What came of writes: what is stored since, what is not any more, which kinds were taken, and what was not.
	written, removed *autoscalingv2.HorizontalPodAutoscaler
	took, failed     outcome
	failure          string
	// made: the cluster got the workload from us.
	made bool
	// blocked: there is something to write, which waits for other clusters.
	blocked bool
	// cleared: there is no workload of ours in a cluster without a part. fault is why that is not known, or not so.
	cleared bool
	fault   error
}

// outcome is which kinds of writes it is about: replicas, or all the others.
type outcome struct{ bounds, scale bool }

func (o *outcome) of(c change) *bool {
	if c.scale != nil {
		return &o.scale
	}
	return &o.bounds
}

// inSight: the cluster takes part, and what it has was read.
func (s *site) inSight() bool {
	return s.presence == assignment.Present || s.presence == assignment.Refusing
}

// silent is of a cluster that cannot be read.
func (s *site) silent(why *fleet.Silence) {
	if s.inSight() {
		s.presence, s.reason, s.message = assignment.Silent, string(why.Reason), why.Detail
	}
}

// refuses is of a cluster that did not take what was written to it. It keeps what it has, as long as it refuses bounds.
func (s *site) refuses(bounds, scale refusal, now time.Time, grace time.Duration) {
	s.refused, s.balked, s.balks = bounds, scale, scale.holds(now, grace)
	switch {
	case s.presence != assignment.Present:
	case bounds.holds(now, grace):
		s.presence, s.reason, s.message = assignment.Refusing, reasonFailedWrite, bounds.message
	case s.balks:
		s.reason, s.message = reasonFailedWrite, scale.message
	}
}

// leaves is of a cluster that takes no part.
func (s *site) leaves(state v1alpha1.ClusterState, reason, message string) {
	s.presence, s.state, s.reason, s.message = assignment.Leaving, state, reason, message
}

// bounds are those that the last step gave.
func (s *site) bounds() (lower, upper int32) {
	return value(s.before.AssignedMin), value(s.before.AssignedMax)
}

// current is how many replicas the workload is told to run, as last known.
func (s *site) current() int32 {
	if s.scale != nil {
		return s.scale.Spec.Replicas
	}
	if s.absent {
		return 0
	}
	return value(s.before.CurrentReplicas)
}

// order is how many replicas the workload was to be told to run, if that has not come true; otherwise nil. It is about
// beginning or ceasing to run; how many run from then on is for the cluster's autoscaler to say.
func (s *site) order() *int32 {
	told := s.before.AssignedReplicas
	if told == nil || *told > 0 && value(s.before.AssignedMax) == 0 || s.scale != nil && (s.scale.Spec.Replicas == 0) == (*told == 0) {
		return nil
	}
	return told
}

// stands is the maximum that our autoscaler there has; 0: there is none.
func (s *site) stands(object *v1alpha1.FederatedHPA) int32 {
	if s.own == nil || !claims.Ours(s.own, object.UID) {
		return 0
	}
	return s.own.Spec.MaxReplicas
}

// here says whether the cluster can be written: what it has was read.
func (s *site) here() bool { return s.autoscalers.Known && s.autoscalers.Silence == nil }

func value(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}

// changed: the spec is not the one that the bounds were split for, or they never were.
func (in *situation) changed() bool {
	seen := in.object.Status.ObservedGeneration
	return seen == nil || *seen != in.object.Generation || !wasSplit(in.object)
}

// wasSplit: the status speaks of bounds of clusters.
func wasSplit(object *v1alpha1.FederatedHPA) bool {
	return slices.ContainsFunc(object.Status.Clusters, func(c v1alpha1.ClusterStatus) bool { return c.AssignedMax != nil })
}
