// SPDX-License-Identifier: Apache-2.0

// Package selection says which member clusters an autoscaler selects for its workload: of those that are registered, those
// where others placed the workload, if somebody does, and that the autoscaler's affinity names. FederatedHPAs (package sight) and
// MultidimPodAutoscalers (package multidim) select in the same way.
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
	if r.Placements == nil {
		return places{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.Timeout) // what may not be listed is waited for
	defer cancel()
	replicas, rule, err := r.Placements.Of(ctx, w.Namespace, w.Target)
	var template *placement.TemplateFault
	if ignored := errors.As(err, &template) && w.InMembers; err != nil && !ignored {
		return places{}, fmt.Errorf("reading where %s is placed: %w", workload.Describe(w.Target), err)
	}
	return places{rule, replicas}, nil
}
