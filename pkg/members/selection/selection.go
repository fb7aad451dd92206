// SPDX-License-Identifier: Apache-2.0

// Package selection says which member clusters an autoscaler selects for its workload: of those that are registered, those
// where others placed the workload, if somebody does or the autoscaler names a decision, and that its affinity names. FederatedHPAs
// (package sight), MultidimPodAutoscalers (package multidim) and CronFederatedHPAs select in the same way.
package selection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// Reader reads which clusters there are.
type Reader struct {
	Fleet workload.Fleet
	// Placements says where workloads are placed by others. Nil: nobody places them.
	Placements placement.Source
	// Decisions are those of schedulers, which autoscalers name. Nil: they are not read.
	Decisions *placement.Decisions
	// Timeout bounds what is asked of, and what is written to, all members, side by side, for one object.
	Timeout time.Duration
}

// Workload is what an autoscaler scales, and where.
type Workload struct {
	Namespace string
	Target    autoscalingv2.CrossVersionObjectReference
	Affinity  *v1alpha1.ClusterAffinity // nil: every cluster
	// Tolerations are for taints of clusters that the autoscaler does not mind.
	Tolerations []corev1.Toleration
	// InMembers: the autoscaler writes the replicas of each cluster there. So it is no fault if whoever places workloads does not place
	// this one.
	InMembers bool
	// Decision is the value of the autoscaler's [placement.DecisionAnnotation]; nil: it has none.
	Decision *string
	// Known are the clusters that the autoscaler's status names.
	Known map[string]bool
}

// Candidate is a cluster that is registered, or where the workload is placed.
type Candidate struct {
	Member workload.Cluster
	Facts  assignment.ClusterFacts
	// Selected: affinity and placement name the cluster, and it counts. One that is joining does where the workload is placed there, or
	// the status names it: nobody who merely registers a cluster may hold up an autoscaler.
	Selected bool
	// Standing is how the cluster takes part, by its taints.
	Standing taints.Verdict
	// Placed is how many replicas others placed there; nil: that is not known.
	Placed *int32
}

// SpecError is a fault of the autoscaler's spec.
type SpecError struct{ Message string }

func (e *SpecError) Error() string { return e.Message }

// Select returns all clusters, in name order, and by what rule others bring the workload there. An error is a [SpecError], or one of
// reading where the workload is placed: then that is not known.
func (r *Reader) Select(ctx context.Context, w Workload) (clusters []Candidate, rule placement.Rule, err error) {
	placed, err := r.placements(ctx, w)
	if err != nil {
		return nil, placement.Nobody, err
	}
	members := map[string]workload.Cluster{}
	for name := range placed.replicas {
		members[name] = workload.Unregistered(name)
	}
	for _, member := range r.Fleet.Clusters() {
		members[member.Facts().Name] = member
	}
	clusters = make([]Candidate, 0, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		c := Candidate{Member: members[name], Facts: members[name].Facts()}
		selected, err := assignment.Matches(w.Affinity, c.Facts)
		if err != nil {
			return nil, placed.rule, &SpecError{fmt.Sprintf("spec.clusterAffinity: %v", err)}
		}
		n, here := placed.replicas[name]
		counts := !c.Member.Joining() || here || w.Known[name]
		c.Standing = taints.Judge(c.Facts.Taints, w.Tolerations)
		c.Placed, c.Selected = n, selected && (here || !placed.rule.Names()) && counts
		clusters = append(clusters, c)
	}
	return clusters, placed.rule, nil
}

// places are where others place a workload.
type places struct {
	rule placement.Rule
	// replicas are those of each such cluster, nil where they are not known.
	replicas map[string]*int32
}

// placements reads where others place the workload. That they do not place it is a fault only where the hub's number is what
// clusters are to follow.
func (r *Reader) placements(ctx context.Context, w Workload) (places, error) {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout) // what may not be listed is waited for
	defer cancel()
	placed, err := r.placed(ctx, w)
	if err != nil || w.Decision == nil {
		return placed, err
	}
	return r.decided(ctx, w, placed.rule)
}

// placed is where whoever brings workloads to the clusters places this one.
func (r *Reader) placed(ctx context.Context, w Workload) (places, error) {
	if r.Placements == nil {
		return places{}, nil
	}
	replicas, rule, err := r.Placements.Of(ctx, w.Namespace, w.Target)
	var template *placement.TemplateFault
	if ignored := errors.As(err, &template) && w.InMembers; err != nil && !ignored {
		return places{}, fmt.Errorf("reading where %s is placed: %w", workload.Describe(w.Target), err)
	}
	return places{rule, replicas}, nil
}

// decided is where the scheduler that the autoscaler names decided that the workload is to be, unless somebody else places it.
func (r *Reader) decided(ctx context.Context, w Workload, others placement.Rule) (places, error) {
	fault := placement.CheckDecision(*w.Decision)
	switch {
	case fault != "":
	case others.ByOthers():
		fault = "must not be set where Karmada places workloads"
	case r.Decisions == nil:
		fault = "has no effect, as no PlacementDecisions are read: start the controller-manager with --placement-decisions"
	}
	if fault != "" {
		return places{}, &SpecError{fmt.Sprintf("metadata.annotations[%s]: %s", placement.DecisionAnnotation, fault)}
	}
	clusters, err := r.Decisions.Clusters(ctx, w.Namespace, *w.Decision)
	if err != nil {
		return places{}, fmt.Errorf("reading where %s is placed, by the annotation %s: %w", workload.Describe(w.Target),
			placement.DecisionAnnotation, err)
	}
	return places{placement.Decided, clusters}, nil
}

// DecisionOf returns the value of an autoscaler's annotation; nil: it has none.
func DecisionOf(autoscaler metav1.Object) *string {
	if name, found := autoscaler.GetAnnotations()[placement.DecisionAnnotation]; found {
		return &name
	}
	return nil
}
