// SPDX-License-Identifier: Apache-2.0

// Package selection says which member clusters an autoscaler selects for its workload: of those that are registered, those
// where others placed the workload, if somebody does or the autoscaler names a decision, and that its affinity names. FederatedHPAs
// (package sight), MultidimPodAutoscalers (package multidim) and CronFederatedHPAs select in the same way. A [Cluster] is what is known of
// the workload in one of them.
package selection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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

// Drained: others take the cluster's part over at once, and nobody waits for it.
func (c *Candidate) Drained() bool { return c.Standing.Standing == taints.Drained }

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
	clusters = r.candidates(placed)
	for i := range clusters {
		c := &clusters[i]
		selected, err := assignment.Matches(w.Affinity, c.Facts)
		if err != nil {
			return nil, placed.rule, &SpecError{fmt.Sprintf("spec.clusterAffinity: %v", err)}
		}
		n, here := placed.replicas[c.Facts.Name]
		counts := !c.Member.Joining() || here || w.Known[c.Facts.Name]
		c.Standing = taints.Judge(c.Facts.Taints, w.Tolerations)
		c.Placed, c.Selected = n, selected && (here || !placed.rule.Names()) && counts
	}
	return clusters, placed.rule, nil
}

// candidates are the clusters that are registered, and those where the workload is placed, in name order.
func (r *Reader) candidates(placed places) []Candidate {
	registered := r.Fleet.Clusters()
	all := make([]Candidate, 0, len(registered))
	for _, member := range registered {
		all = append(all, Candidate{Member: member, Facts: member.Facts()})
	}
	slices.SortFunc(all, byName)
	for _, name := range unregistered(placed, all) {
		member := workload.Unregistered(name)
		all = append(all, Candidate{Member: member, Facts: member.Facts()})
	}
	if len(all) > len(registered) {
		slices.SortFunc(all, byName)
	}
	return all
}

func byName(a, b Candidate) int { return strings.Compare(a.Facts.Name, b.Facts.Name) }

// unregistered are where the workload is placed, of what is not among the registered, which are in name order.
func unregistered(placed places, registered []Candidate) (names []string) {
	for name := range placed.replicas {
		if _, found := Find(registered, name); !found {
			names = append(names, name)
		}
	}
	return names
}

// Find returns where a cluster is among those that [Reader.Select] returned, if it is.
func Find(clusters []Candidate, name string) (i int, found bool) {
	return slices.BinarySearchFunc(clusters, name, func(c Candidate, name string) int { return strings.Compare(c.Facts.Name, name) })
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
