// SPDX-License-Identifier: Apache-2.0

package central

import (
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// situation is the input of a decision.
type situation struct {
	sight.Sight
	// inMembers: each cluster is told its replicas, as spec.replicaDistribution has it, or because the hub lacks the workload.
	inMembers bool
	// hub is the scale on the hub, unless spec.replicaDistribution is there, and missing why there is none; scale is that of the
	// workload as a whole.
	hub     hubScale
	missing error
	scale   replicas.Scale
	// parsed is the scale's selector, and nil where it is none; see selectorOf.
	parsed labels.Selector
	// parts are the clusters that the object selects; nil if that could not be read.
	parts []part
	// undone says who would undo what is written, so that nothing is.
	undone sight.Undone
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
	// beside are autoscalers of the hub that will be in the way once the object acts.
	beside []string
	// absences are of the clusters that lack a workload which the hub lacks, too.
	absences absences
}

// proportional reports whether the replicas are divided as they are now: the hub lacks the workload, and the spec says nothing.
func (in *situation) proportional() bool {
	return in.inMembers && in.Object.Spec.ReplicaDistribution == nil
}

// part is one cluster that the object selects, with what is remembered of it, and what follows.
type part struct {
	*selection.Cluster
	// state is Excluded for one that takes no part, Conflict for one whose workload others scale, Unreachable for one that
	// cannot be asked. reason and message say why.
	state   v1alpha1.ClusterState
	reason  string
	message string
	// assigned is how many replicas the cluster was told to run, as last known; nil: not known.
	assigned *int32
	// moved are those of assigned that run elsewhere too, until they are Ready here.
	moved int32
	// takenOver: it is drained, and the others have been given its replicas.
	takenOver bool
	// others are autoscalers of the same workload or the same Pods there; beside are those that will be, once the object acts.
	others, beside []string
	// limit is what a full cluster can go on running; nil: it is not full.
	limit *int32
	// unschedulableSince is since when Pods find no node; schedulableSince since when a full cluster had room again.
	unschedulableSince, schedulableSince *metav1.Time

	// What follows came of writing what was decided.

	// to is how many replicas the cluster was told to run, or was to be; nil: it was told nothing new. err is why it could not be.
	to  *int32
	err error
}

// partsOf are the clusters that are selected, before anything was read of them.
func (in *situation) partsOf(memory *Memory) []part {
	if in.Clusters == nil {
		return nil
	}
	parts := make([]part, 0, len(in.Clusters))
	for c := range sight.Pointers(in.Clusters) {
		if !c.Selected {
			continue
		}
		p := part{Cluster: c, state: v1alpha1.ClusterActive, assigned: c.Placed, moved: memory.Moved[c.Facts.Name]}
		if in.inMembers {
			p.assigned = memory.told(c)
			p.takenOver = p.Drained() && p.assigned != nil && *p.assigned == 0
		}
		if c.Silence != nil {
			p.silent(c.Silence)
		}
		parts = append(parts, p)
	}
	return parts
}

// takesPart reports whether the cluster's Pods count.
func (p *part) takesPart() bool { return p.state != v1alpha1.ClusterExcluded }

// abandoned: it is drained and cannot be told. So others run its replicas instead.
func (p *part) abandoned() bool { return p.Drained() && p.state == v1alpha1.ClusterUnreachable }

// writable reports whether the cluster can be told another number of replicas.
func (p *part) writable() bool {
	return p.Scale != nil && (p.state == v1alpha1.ClusterActive || p.state == v1alpha1.ClusterSaturated)
}

func (p *part) exclude(reason, message string) {
	p.state, p.reason, p.message = v1alpha1.ClusterExcluded, reason, message
}

func (p *part) silent(s *fleet.Silence) {
	p.state, p.reason, p.message = v1alpha1.ClusterUnreachable, string(s.Reason), s.Detail
}

// conflict is of a cluster where somebody else scales the workload.
func (p *part) conflict(found []claims.Claim) {
	p.state, p.reason, p.message = v1alpha1.ClusterConflict, record.ReasonScaledByOthers, claims.InTheWay(found)
}

// selector returns that of the workload there.
func (p *part) selector(whole string) string {
	if p.Scale != nil && p.Scale.Status.Selector != "" {
		return p.Scale.Status.Selector
	}
	return whole
}

// anySelector returns that of the workload, or of the first cluster that has one.
func (in *situation) anySelector() string {
	if in.scale.Selector != "" {
		return in.scale.Selector
	}
	for i := range in.parts {
		if s := in.parts[i].selector(""); s != "" {
			return s
		}
	}
	return ""
}

// selectorOf returns what a text selects: nearly always the same in all clusters, and parsed once.
func (in *situation) selectorOf(text string) (labels.Selector, error) {
	if text == in.scale.Selector && in.parsed != nil {
		return in.parsed, nil
	}
	return labels.Parse(text)
}

// question returns what the decision on the fleet's replicas is asked.
func (in *situation) question() replicas.Question {
	q := in.terms()
	q.Clusters = make([]replicas.Cluster, 0, len(in.parts))
	for p := range sight.Pointers(in.parts) {
		if p.takesPart() {
			q.Clusters = append(q.Clusters, p.seen(&in.scale))
		}
	}
	return q
}

// terms are the question but for the clusters.
func (in *situation) terms() replicas.Question {
	return replicas.Question{
		Namespace:  in.Object.Namespace,
		Generation: in.Object.Generation,
		Spec:       in.Object.Spec.HorizontalPodAutoscalerSpec,
		Status:     upstreamStatus(&in.Object.Status),
		Scale:      in.scale,
		Copies:     in.copies(),
		Template:   in.template,
		Metrics:    in.metrics,
		State:      in.state,
		Options:    in.options,
		Now:        in.Now,
	}
}

// seen is the cluster as the decision on the fleet's replicas sees it. A workload on the hub may be a mere template that
// knows nothing of its Pods; then they are counted.
func (p *part) seen(whole *replicas.Scale) replicas.Cluster {
	c := replicas.Cluster{
		Name:        p.Facts.Name,
		Silent:      p.Pods.Silent,
		Drained:     p.Drained(),
		Pods:        p.Pods.Pods,
		Assigned:    p.assigned,
		Autoscalers: p.others,
		ClockOffset: p.ClockOffset,
	}
	if p.state == v1alpha1.ClusterUnreachable && c.Silent == nil {
		c.Silent = &fleet.Silence{Reason: fleet.Reason(p.reason), Detail: p.message}
	}
	if p.takenOver {
		c.Assigned = new(int32)
	}
	if p.Before.ReadyReplicas != nil {
		c.LastReady = *p.Before.ReadyReplicas
	}
	switch {
	case p.Scale != nil:
		c.Replicas = new(p.reported())
		if p.Scale.Status.Selector != whole.Selector {
			c.Selector = p.Scale.Status.Selector
		}
		c.Lagging = p.Scale.Status.Replicas != p.Scale.Spec.Replicas
	case p.moved > 0:
		c.Replicas = new(p.told())
	case whole.StatusReplicas == 0 && p.Pods.Known:
		c.Replicas = new(int32(p.present()))
	}
	return c
}

// present is the number of Pods that stand for a replica: those that have ended, or are to, do not.
func (p *part) present() int {
	n := 0
	for pod := range sight.Pointers(p.Pods.Pods) {
		if !pod.Terminating && pod.Phase != corev1.PodFailed && pod.Phase != corev1.PodSucceeded {
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
