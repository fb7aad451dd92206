// SPDX-License-Identifier: Apache-2.0

package sight

import (
	"context"

	"k8s.io/utils/clock"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
)

// Reader reads the fleet.
type Reader struct {
	selection.Reader

	Clock clock.PassiveClock
}

// Select returns the clusters that the object selects, and those that its status names, of which nothing was read yet; inMembers: what
// they run is written there. An error is a [selection.SpecError], or one of reading where the workload is placed; Clusters are nil if
// they are not known.
func (r *Reader) Select(ctx context.Context, object *v1alpha1.FederatedHPA, inMembers bool) (Sight, error) {
	s := Sight{Object: object, Now: r.Clock.Now()}
	known := known(object)
	clusters, rule, err := r.Reader.Select(ctx, selection.Workload{
		Namespace: object.Namespace, Target: object.Spec.ScaleTargetRef, Affinity: object.Spec.ClusterAffinity,
		Tolerations: object.Spec.ClusterTolerations, InMembers: inMembers, Known: known,
		Decision: selection.DecisionOf(object),
	})
	if err != nil {
		return s, err
	}
	n := 0 // they are large, and may be few of many
	for i := range clusters {
		if clusters[i].Selected || known[clusters[i].Facts.Name] {
			n++
		}
	}
	s.Rule, s.Clusters = rule, make([]selection.Cluster, 0, n)
	for i := range clusters {
		if clusters[i].Selected || known[clusters[i].Facts.Name] {
			s.Clusters = append(s.Clusters, clusterOf(object, clusters[i]))
		}
	}
	for i := range object.Status.Clusters {
		if _, registered := selection.Find(clusters, object.Status.Clusters[i].Name); !registered {
			s.Deregistered = append(s.Deregistered, object.Status.Clusters[i])
		}
	}
	return s, s.prefer()
}

// known are the clusters that the object's status names.
func known(object *v1alpha1.FederatedHPA) map[string]bool {
	names := make(map[string]bool, len(object.Status.Clusters))
	for i := range object.Status.Clusters {
		names[object.Status.Clusters[i].Name] = true
	}
	return names
}

// All returns all registered clusters as if the object selected them. Nothing was read of them yet.
func (r *Reader) All(object *v1alpha1.FederatedHPA) Sight {
	s := Sight{Object: object, Now: r.Clock.Now()}
	for _, member := range r.Fleet.Clusters() {
		s.Clusters = append(s.Clusters, clusterOf(object, selection.Candidate{Member: member, Facts: member.Facts(), Selected: true}))
	}
	return s
}

func clusterOf(object *v1alpha1.FederatedHPA, found selection.Candidate) selection.Cluster {
	c := selection.Of(found)
	c.Before, c.ClockOffset = Before(object, found.Facts.Name), found.Member.ClockOffset()
	return c
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
	return selection.Prefer(s.Clusters, field, policy, preferences)
}
