// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/pods"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/workload"
)

// situation is what a decision rests on.
type situation struct {
	// object has its defaults. Its status is the one stored last.
	object *v1alpha1.FederatedHPA
	now    time.Time
	// scale is the workload as a whole.
	scale replicas.Scale
	// parsed is the scale's selector, and nil where it is none; see selectorOf.
	parsed labels.Selector
	// parts are the clusters that the object selects, in name order; nil if that could not be read.
	parts []part
	// metrics are the answers to spec.metrics; none if the decision does not need them.
	metrics []replicas.Metric
	// took is how long each took.
	took []time.Duration
	// template is what a Pod of the workload requests; nil if it is not known.
	template *replicas.Requests
	state    replicas.State
	options  replicas.Options
	// propagation is how members follow the hub, where the hub is told; grace is for how long they need not.
	propagation propagation
	grace       time.Duration
}

// part is one cluster that the object selects.
type part struct {
	cluster workload.Cluster
	facts   assignment.ClusterFacts
	// before is what the status says of it.
	before v1alpha1.ClusterStatus
	// state is Excluded for one that takes no part, Conflict for one whose workload others scale, Unreachable for one that
	// can not be asked. reason and message say why.
	state   v1alpha1.ClusterState
	reason  string
	message string
	// assigned is how many replicas the cluster was told to run, as last known; nil: not known.
	assigned *int32
	// moved are those of assigned that run elsewhere too, until they are Ready here.
	moved int32
	// scale is the workload's there; nil if it was not read, as where the hub is told.
	scale *autoscalingv1.Scale
	// listing are the workload's Pods.
	listing pods.Listing
	// others are autoscalers of the same workload or the same Pods there.
	others []string
	offset time.Duration
	// preference is the cluster's place in a distribution; capacity what it can host in all, nil: not known.
	preference assignment.Preference
	capacity   *int32
	// limit is what a full cluster can go on running; nil: it is not full.
	limit *int32
	// unschedulableSince is since when Pods find no node; schedulableSince since when a full cluster had room again.
	unschedulableSince, schedulableSince *metav1.Time
}

// takesPart says whether the cluster's Pods count.
func (p *part) takesPart() bool { return p.state != v1alpha1.ClusterExcluded }

// writable says whether the cluster can be told another number of replicas.
func (p *part) writable() bool {
	return p.scale != nil && (p.state == v1alpha1.ClusterActive || p.state == v1alpha1.ClusterSaturated)
}

func (p *part) exclude(reason, message string) {
	p.state, p.reason, p.message = v1alpha1.ClusterExcluded, reason, message
}

func (p *part) silent(s *fleet.Silence) {
	p.state, p.reason, p.message = v1alpha1.ClusterUnreachable, string(s.Reason), s.Detail
}

// conflict is of a cluster where somebody else scales the workload.
func (p *part) conflict(found []claims.Claim) {
	p.state, p.reason, p.message = v1alpha1.ClusterConflict, reasonScaledByOthers, claims.InTheWay(found)
}

// selectorOf is what a text selects: nearly always the same in all clusters, and parsed once.
func (in *situation) selectorOf(text string) (labels.Selector, error) {
	if text == in.scale.Selector && in.parsed != nil {
		return in.parsed, nil
	}
	return labels.Parse(text)
}

// question is what the decision on the fleet's replicas is asked.
func (in *situation) question() replicas.Question {
	q := replicas.Question{
		Namespace:  in.object.Namespace,
		Generation: in.object.Generation,
		Spec:       in.object.Spec.HorizontalPodAutoscalerSpec,
		Status:     upstreamStatus(&in.object.Status),
		Scale:      in.scale,
		Template:   in.template,
		Metrics:    in.metrics,
		State:      in.state,
		Options:    in.options,
		Now:        in.now,
	}
	q.Clusters = make([]replicas.Cluster, 0, len(in.parts))
	for i := range in.parts {
		if p := &in.parts[i]; p.takesPart() {
			q.Clusters = append(q.Clusters, p.seen(&in.scale))
		}
	}
	return q
}

// seen is the cluster as the decision on the fleet's replicas sees it. A workload on the hub may be a mere template that
// knows nothing of its Pods; then they are counted.
func (p *part) seen(whole *replicas.Scale) replicas.Cluster {
	c := replicas.Cluster{
		Name:        p.facts.Name,
		Silent:      p.listing.Silent,
		Pods:        p.listing.Pods,
		Assigned:    p.assigned,
		Autoscalers: p.others,
		ClockOffset: p.offset,
	}
	if p.state == v1alpha1.ClusterUnreachable && c.Silent == nil {
		c.Silent = &fleet.Silence{Reason: fleet.Reason(p.reason), Detail: p.message}
	}
	if p.before.ReadyReplicas != nil {
		c.LastReady = *p.before.ReadyReplicas
	}
	switch {
	case p.scale != nil:
		c.Replicas = new(p.reported())
		if p.scale.Status.Selector != whole.Selector {
			c.Selector = p.scale.Status.Selector
		}
		c.Lagging = p.scale.Status.Replicas != p.scale.Spec.Replicas
	case p.moved > 0:
		c.Replicas = new(p.told())
	case whole.StatusReplicas == 0 && p.listing.Known:
		c.Replicas = new(int32(p.present()))
	}
	return c
}

// present is the number of Pods that stand for a replica: those that have ended, or are to, do not.
func (p *part) present() int {
	n := 0
	for i := range p.listing.Pods {
		if pod := &p.listing.Pods[i]; !pod.Terminating && pod.Phase != corev1.PodFailed && pod.Phase != corev1.PodSucceeded {
			n++
		}
	}
	return n
}

// upstreamStatus is the part of a status that a HorizontalPodAutoscaler has too.
func upstreamStatus(s *v1alpha1.FederatedHPAStatus) autoscalingv2.HorizontalPodAutoscalerStatus {
	return autoscalingv2.HorizontalPodAutoscalerStatus{
		ObservedGeneration: s.ObservedGeneration,
		LastScaleTime:      s.LastScaleTime,
		CurrentReplicas:    s.CurrentReplicas,
		DesiredReplicas:    s.DesiredReplicas,
		CurrentMetrics:     s.CurrentMetrics,
		Conditions:         s.Conditions,
	}
}
