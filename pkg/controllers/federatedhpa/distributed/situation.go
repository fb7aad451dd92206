// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"fmt"
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// situation is the input of a step.
type situation struct {
	sight.Sight
	// sites are the clusters that take part, and those that did.
	sites []site
	// fault is why nothing may be done for the whole object; nil: something may.
	fault error
	// split is how the bounds were split last, if that is not done yet.
	split split
	// wanted: nothing runs, and a metric says that something should.
	wanted  bool
	options *Options
	// hub is the one that removes autoscalers whose object is gone; empty: none.
	hub string
}

// site is one cluster, with what is remembered of it, and what follows.
type site struct {
	*selection.Cluster
	clusterMemory
	// owner is the object's uid.
	owner    types.UID
	presence assignment.Presence
	// state is Conflict or Excluded where the cluster takes no part for that reason; otherwise the step says it. reason and
	// message say why the cluster is not present.
	state           v1alpha1.ClusterState
	reason, message string
	// last is what the last step gave: its bounds, and with how many replicas it was to begin, or 0, if that was to be written. It stands as
	// far as its premise holds.
	last assignment.SiteStep

	// own is our autoscaler there, or that which is to become ours; nil: there is none. name is the one that it has, or is to
	// have. surplus are further ones of ours.
	own     *autoscalingv2.HorizontalPodAutoscaler
	name    string
	surplus []*autoscalingv2.HorizontalPodAutoscaler
	// beside are those of others that will be in the way once the object acts.
	beside []string
	// balks: it does not take replicas.
	balks bool
	// template is what it gets, as it lacks the workload; nil: it has that, or does not get it.
	template *unstructured.Unstructured

	// next is what it is assigned.
	next assignment.SiteStep

	// What follows came of writing that.

	// took and failed are the kinds of writes that the cluster took, and did not; failure says why.
	took, failed kinds
	failure      string
	// accepted: by its own account it takes again what it refused.
	accepted bool
	// made: it got the workload from us.
	made bool
	// blocked: there is something to write, which waits for other clusters.
	blocked bool
	// fault is why something could not be written, or taken away.
	fault error
}

// sitesOf are the clusters before anything was read of them.
func sitesOf(seen *sight.Sight, memory *Memory, grace time.Duration) []site {
	sites := make([]site, len(seen.Clusters))
	for i := range seen.Clusters {
		c := &seen.Clusters[i]
		s := &sites[i]
		s.Cluster, s.name, s.owner = c, seen.Object.Name, seen.Object.UID
		s.clusterMemory = memory.of(c.Facts.Name, seen.Now)
		s.last = assignment.SiteStep{
			Min: ptr.Deref(c.Before.AssignedMin, 0), Max: ptr.Deref(c.Before.AssignedMax, 0), Scale: c.Before.AssignedReplicas,
		}
		if c.Silence != nil {
			s.silent(c.Silence)
		}
		if !c.Selected {
			s.leaves(v1alpha1.ClusterExcluded, reasonNotSelected, "the cluster is no longer selected")
		}
		s.recovered = s.recovered || s.released()
		s.refuses(s.refused, s.balked, seen.Now, grace)
	}
	return sites
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

// released: it was cordoned or drained, and is that no more.
func (s *site) released() bool {
	was := s.Before.Reason == taints.Cordoned.String() || s.Before.Reason == taints.Drained.String()
	return was && s.Standing.Standing == taints.Free
}

// notAwaited says of a drained cluster that is silent that nobody waits for it.
func (s *site) notAwaited() {
	if s.presence == assignment.Silent && s.Drained() {
		s.message = fmt.Sprintf("%s; it cannot be read: %s: %s", s.Standing.Message(), s.reason, s.message)
		s.reason = s.Standing.String()
	}
}

// leaves is of a cluster that takes no part. That what was written there was set back keeps nothing of ours there.
func (s *site) leaves(state v1alpha1.ClusterState, reason, message string) {
	s.setbacks = setbacks{}
	s.presence, s.state, s.reason, s.message = assignment.Leaving, state, reason, message
}

// current returns how many replicas the workload is told to run, as last known.
func (s *site) current() int32 {
	if s.Scale != nil {
		return s.Scale.Spec.Replicas
	}
	if s.lacks() {
		return 0
	}
	return ptr.Deref(s.Before.CurrentReplicas, 0)
}

// order returns how many replicas the workload was to be told to run, if that has not come true; otherwise nil. It is about
// beginning or ceasing to run; how many run from then on is for the cluster's autoscaler to say.
func (s *site) order() *int32 {
	told := s.last.Scale
	if told == nil || *told > 0 && s.last.Max == 0 || s.Scale != nil && (s.Scale.Spec.Replicas == 0) == (*told == 0) {
		return nil
	}
	return told
}

// asleep: the hub took the cluster to zero before it went out of sight, and there it still is.
func (s *site) asleep() bool {
	told := s.last.Scale
	return s.presence == assignment.Present && s.Before.State == v1alpha1.ClusterUnreachable && told != nil && *told == 0 && s.current() == 0
}

// owns: there is an autoscaler of ours; one that is to become ours is none yet.
func (s *site) owns() bool { return s.own != nil && claims.Ours(s.own, s.owner) }

// stands is the maximum that our autoscaler there has; 0: there is none.
func (s *site) stands() int32 {
	if !s.owns() {
		return 0
	}
	return s.own.Spec.MaxReplicas
}

// lacks: the cluster does not have the workload.
func (s *site) lacks() bool { return s.Absent != nil }

// here: the cluster can be written, as what it has was read.
func (s *site) here() bool { return s.Autoscalers.Known && s.Autoscalers.Silence == nil }

// changed: the bounds are to be split, for a spec that they were not split for, or again, as then clusters kept their part
// that do not now, or the other way round.
func (in *situation) changed() bool {
	if in.Object.Spec.Mode == v1alpha1.ModeObserve && !slices.ContainsFunc(in.sites, func(s site) bool { return s.owns() }) {
		return true // nothing stands yet that could be moved step by step
	}
	return in.edited() && (in.split.generation != in.Object.Generation || !slices.Equal(in.split.without, in.keeping()))
}

// edited: the spec is not the one that the bounds of all clusters were split for, or they never were.
func (in *situation) edited() bool {
	seen := in.Object.Status.ObservedGeneration
	return seen == nil || *seen != in.Object.Generation || !wasSplit(in.Object)
}

// keeping are the clusters that are not told a new part now, and that the others leave theirs.
func (in *situation) keeping() []string {
	var names []string
	for s := range sight.Pointers(in.sites) {
		since := in.Now
		if s.Before.State == v1alpha1.ClusterUnreachable && s.Before.Since != nil {
			since = s.Before.Since.Time
		}
		if s.Drained() {
			continue
		}
		silent := s.presence == assignment.Silent && in.Now.Sub(since) < in.options.Grace
		if silent || s.presence == assignment.Refusing && in.gaveUp(s) {
			names = append(names, s.Facts.Name)
		}
	}
	return names
}

// wasSplit: the status speaks of bounds of clusters.
func wasSplit(object *v1alpha1.FederatedHPA) bool {
	return slices.ContainsFunc(object.Status.Clusters, func(c v1alpha1.ClusterStatus) bool { return c.AssignedMax != nil })
}
