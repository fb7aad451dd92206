// SPDX-License-Identifier: Apache-2.0

package sight

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

// SpecError is a fault of the object's spec.
type SpecError struct{ message string }

func (e *SpecError) Error() string { return e.message }

// Select returns the clusters that the object selects, and those that its status names, of which nothing was read yet. An
// error is a [SpecError], or one of reading where the workload is placed; Clusters are nil if they are not known.
func (r *Reader) Select(ctx context.Context, object *v1alpha1.FederatedHPA) (Sight, error) {
	s := Sight{Object: object, Now: r.Clock.Now()}
	placed, err := r.placements(ctx, object)
	if err != nil {
		return s, err
	}
	s.PlacedByOthers, s.Clusters = placed.byOthers, []Cluster{}
	members := map[string]workload.Cluster{}
	for name := range placed.replicas {
		members[name] = workload.Unregistered(name)
	}
	for _, member := range r.Fleet.Clusters() {
		members[member.Facts().Name] = member
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		c := newCluster(object, members[name])
		selected, err := assignment.Matches(object.Spec.ClusterAffinity, c.Facts)
		if err != nil {
			return Sight{Object: object, Now: s.Now}, &SpecError{fmt.Sprintf("spec.clusterAffinity: %v", err)}
		}
		n, here := placed.replicas[name]
		c.Placed, c.Selected = n, selected && (here || !placed.known)
		if c.Selected || c.Before.Name != "" {
			s.Clusters = append(s.Clusters, c)
		}
	}
	for _, before := range object.Status.Clusters {
		if members[before.Name] == nil {
			s.Deregistered = append(s.Deregistered, before)
		}
	}
	return s, s.prefer()
}

// All returns all registered clusters as if the object selected them. Nothing was read of them yet.
func (r *Reader) All(object *v1alpha1.FederatedHPA) Sight {
	s := Sight{Object: object, Now: r.Clock.Now()}
	for _, member := range r.Fleet.Clusters() {
		c := newCluster(object, member)
		c.Selected = true
		s.Clusters = append(s.Clusters, c)
	}
	return s
}

func newCluster(object *v1alpha1.FederatedHPA, member workload.Cluster) Cluster {
	facts := member.Facts()
	return Cluster{
		Member: member, Facts: facts, Before: Before(object, facts.Name), Preferred: true, ClockOffset: member.ClockOffset(),
		Silence: member.Silence(),
	}
}

// places are where others place a workload.
type places struct {
	// byOthers: others place it; known: they say where.
	byOthers, known bool
	// replicas are those of each such cluster, nil where they are not known.
	replicas map[string]*int32
}

// placements reads where others place the workload. That they cannot place its replicas is a fault only where the hub's
// number is what they follow.
func (r *Reader) placements(ctx context.Context, object *v1alpha1.FederatedHPA) (places, error) {
	if r.Placements == nil {
		return places{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.Timeout) // what may not be listed is waited for
	defer cancel()
	replicas, found, err := r.Placements.Of(ctx, object.Namespace, object.Spec.ScaleTargetRef)
	var template *placement.TemplateFault
	ignored := errors.As(err, &template) && (object.Distributed() || object.Spec.ReplicaDistribution != nil)
	switch {
	case err != nil && !ignored:
		return places{}, fmt.Errorf("reading where %s is placed: %w", workload.Describe(object.Spec.ScaleTargetRef), err)
	case !found:
		return places{byOthers: ignored}, nil
	}
	return places{true, true, replicas}, nil
}

// prefer notes each selected cluster's preference.
func (s *Sight) prefer() error {
	field, policy, preferences := "", assignment.Policy(""), []v1alpha1.TargetClusterAutoscalingPreference(nil)
	switch spec := &s.Object.Spec; {
	case spec.FederatedHPAAssignment != nil:
		a := spec.FederatedHPAAssignment
		field, policy, preferences = "federatedHPAAssignment", assignment.Policy(a.FederatedHPAAssignmentType), a.ClusterAutoscalingPreference
	case spec.ReplicaDistribution != nil:
		d := spec.ReplicaDistribution
		field, policy, preferences = "replicaDistribution", assignment.Policy(d.Type), d.ClusterAutoscalingPreference
	default:
		return nil
	}
	found, err := assignment.Preferences(policy, preferences, s.Facts())
	if err != nil {
		return &SpecError{fmt.Sprintf("spec.%s: %v", field, err)}
	}
	for i := range s.Clusters {
		if c := &s.Clusters[i]; c.Selected {
			c.Preference, c.Preferred = found[c.Facts.Name]
		}
	}
	return nil
}
