// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/placement"
	"github.com/fleetscale/fleetscale/pkg/workload"
)

// selected are the clusters that the object selects, in name order. An error is that of the spec, or of reading where
// the workload is placed.
func (r *Reconciler) selected(ctx context.Context, object *v1alpha1.FederatedHPA) ([]part, error) {
	placed, places, err := r.placed(ctx, object)
	if err != nil {
		return nil, err
	}
	clusters := r.Fleet.Clusters()
	parts := make([]part, 0, len(clusters)+len(placed))
	for _, cluster := range clusters {
		facts := cluster.Facts()
		assigned, here := placed[facts.Name]
		delete(placed, facts.Name)
		if matches, err := assignment.Matches(object.Spec.ClusterAffinity, facts); err != nil {
			return nil, fmt.Errorf("spec.clusterAffinity: %w", err)
		} else if matches && (here || !places) {
			parts = append(parts, newPart(object, cluster, assigned))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(placed)) {
		if matches, _ := assignment.Matches(object.Spec.ClusterAffinity, assignment.ClusterFacts{Name: name}); matches {
			parts = append(parts, newPart(object, workload.Unregistered(name), placed[name]))
		}
	}
	slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.facts.Name, b.facts.Name) })
	return parts, nil
}

func (r *Reconciler) placed(ctx context.Context, object *v1alpha1.FederatedHPA) (map[string]*int32, bool, error) {
	if r.Placements == nil {
		return nil, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.MemberTimeout) // what may not be listed is waited for
	defer cancel()
	placed, places, err := r.Placements.Of(ctx, object.Namespace, object.Spec.ScaleTargetRef)
	var fault *placement.TemplateFault
	if errors.As(err, &fault) && object.Spec.ReplicaDistribution != nil {
		err = nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading where %s is placed: %w", workload.Describe(object.Spec.ScaleTargetRef), err)
	}
	return maps.Clone(placed), places, nil
}

func newPart(object *v1alpha1.FederatedHPA, cluster workload.Cluster, assigned *int32) part {
	p := part{cluster: cluster, facts: cluster.Facts(), state: v1alpha1.ClusterActive, assigned: assigned, offset: cluster.ClockOffset()}
	statuses := object.Status.Clusters
	if i := slices.IndexFunc(statuses, func(c v1alpha1.ClusterStatus) bool { return c.Name == p.facts.Name }); i >= 0 {
		p.before = statuses[i]
	}
	if silence := cluster.Silence(); silence != nil {
		p.silent(silence)
	}
	return p
}
