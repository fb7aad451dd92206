// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

// mostNamed is how many clusters a message names.
const mostNamed = 5

// readClusters reads the workload in every cluster that takes part, side by side; of is how many clusters there are. It is an error if it
// is not known which.
func (r *Reconciler) readClusters(ctx context.Context, object *v1alpha1.CronFederatedHPA) (clusters []selection.Cluster, of int,
	err error) {
	if r.Fleet == nil {
		return nil, 0, nil
	}
	if err := r.Fleet.Fleet.Settled(); err != nil {
		return nil, 0, err
	}
	all, _, err := r.Fleet.Select(ctx, selection.Workload{
		Namespace: object.Namespace, Target: object.Spec.ScaleTargetRef, Affinity: object.Spec.ClusterAffinity,
		Tolerations: object.Spec.ClusterTolerations, InMembers: true, Decision: selection.DecisionOf(object),
	})
	if err != nil {
		return nil, 0, err
	}
	if clusters, err = preferred(object.Spec.ReplicaDistribution, all); err != nil {
		return nil, 0, err
	}
	workload.Each(ctx, r.Fleet.Timeout, clusters, func(ctx context.Context, c *selection.Cluster) { read(ctx, c, object) })
	return clusters, len(all), nil
}

// preferred are those of the selected clusters that a distribution does not leave out; nil: all of them.
func preferred(by *v1alpha1.ReplicaDistribution, all []selection.Candidate) ([]selection.Cluster, error) {
	var clusters []selection.Cluster
	for _, c := range all {
		if c.Selected {
			clusters = append(clusters, selection.Of(c))
		}
	}
	if by == nil {
		return clusters, nil
	}
	err := selection.Prefer(clusters, "replicaDistribution", assignment.Policy(by.Type), by.ClusterAutoscalingPreference)
	return slices.DeleteFunc(clusters, func(c selection.Cluster) bool { return !c.Preferred }), err
}

// read reads the workload in a cluster, and what else matters where it is there.
func read(ctx context.Context, c *selection.Cluster, object *v1alpha1.CronFederatedHPA) {
	if c.Silence != nil {
		return
	}
	if c.ReadScale(ctx, object.Namespace, object.Spec.ScaleTargetRef); c.Scale == nil {
		return
	}
	if d := object.Spec.ReplicaDistribution; d != nil && assignment.Policy(d.Type).ByCapacity() {
		c.Additional, _ = workload.Room(ctx, c.Member, object.Namespace, object.Spec.ScaleTargetRef, nil)
	}
	c.Autoscalers = c.Member.Autoscalers(ctx, object.Namespace)
}

// followers are the clusters as those that follow the hub. Nobody waits for a silent one that is drained.
func followers(clusters []selection.Cluster) cronplan.Followers {
	f := cronplan.Followers{Selected: len(clusters)}
	for _, c := range clusters {
		switch {
		case c.Scale != nil:
			f.Replicas = append(f.Replicas, c.Scale.Spec.Replicas)
		case c.Silence != nil && !c.Drained():
			f.Silent = append(f.Silent, c.Facts.Name)
		}
	}
	return f
}

// conflicts are the clusters where somebody else scales the workload; "": there are none.
func conflicts(object *v1alpha1.CronFederatedHPA, clusters []selection.Cluster) string {
	var all []string
	for _, c := range clusters {
		if found := claims.On(claims.CronInMember(object), c.Autoscalers.Objects...); len(found) > 0 {
			all = append(all, fmt.Sprintf("cluster %s: %s", c.Facts.Name, claims.InTheWay(found)))
		}
	}
	return few(all, "; ")
}

// nowhere is why a workload that the hub lacks is not found in any of so many clusters either, or nil: one of those that take part has it.
func nowhere(onHub error, clusters []selection.Cluster, of int) error {
	var each []string
	for _, c := range clusters {
		if c.Scale != nil {
			return nil
		}
		reason := fleet.Reason("TargetNotFound")
		if c.Silence != nil {
			reason = c.Silence.Reason
		}
		each = append(each, fmt.Sprintf("%s: %s", c.Facts.Name, reason))
	}
	if of == 0 {
		return onHub
	}
	return &cronplan.Nowhere{Of: of, Asked: len(each), Each: few(each, ", ")}
}

// few joins the first of all that can be said.
func few(all []string, separator string) string {
	if more := len(all) - mostNamed; more > 0 {
		all = append(all[:mostNamed:mostNamed], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, separator)
}

// faults are errors of several clusters, in one line.
type faults []error

func (f faults) Unwrap() []error { return f }

func (f faults) Error() string {
	var all []string
	for _, err := range f {
		all = append(all, err.Error())
	}
	return few(all, "; ")
}
