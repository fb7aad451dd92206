// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"
	"fmt"
	"slices"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// mostNamed is how many clusters a message names.
const mostNamed = 5

// clusterScale is the workload in one cluster, as it was read.
type clusterScale struct {
	selection.Candidate
	// preference is its place in a division by spec.replicaDistribution; zero: there is none.
	preference assignment.Preference
	// additional is how many more replicas there is room for; nil: that is not known, or not asked.
	additional *int32
	// scale is nil where there is none: silence is why it cannot be read, and otherwise the cluster lacks the workload.
	scale   *autoscalingv1.Scale
	silence *fleet.Silence
	// conflict is who else scales it there; "": nobody.
	conflict string
}

// readClusters reads the workload in every cluster that takes part, side by side; of is how many clusters there are. It is an error if it
// is not known which.
func (r *Reconciler) readClusters(ctx context.Context, object *v1alpha1.CronFederatedHPA) (clusters []clusterScale, of int, err error) {
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
	workload.Each(ctx, r.Fleet.Timeout, clusters, func(ctx context.Context, c *clusterScale) { c.read(ctx, object) })
	return clusters, len(all), nil
}

// preferred are those of the selected clusters that a distribution does not leave out; nil: all of them.
func preferred(by *v1alpha1.ReplicaDistribution, all []selection.Candidate) ([]clusterScale, error) {
	var clusters []clusterScale
	var facts []assignment.ClusterFacts
	for _, c := range all {
		if c.Selected {
			clusters = append(clusters, clusterScale{Candidate: c})
			facts = append(facts, c.Facts)
		}
	}
	if by == nil {
		return clusters, nil
	}
	preferences, err := assignment.Preferences(assignment.Policy(by.Type), by.ClusterAutoscalingPreference, facts)
	if err != nil {
		return nil, &selection.SpecError{Message: fmt.Sprintf("spec.replicaDistribution: %v", err)}
	}
	clusters = slices.DeleteFunc(clusters, func(c clusterScale) bool {
		_, takesPart := preferences[c.Facts.Name]
		return !takesPart
	})
	for i := range clusters {
		clusters[i].preference = preferences[clusters[i].Facts.Name]
	}
	return clusters, nil
}

func (c *clusterScale) read(ctx context.Context, object *v1alpha1.CronFederatedHPA) {
	if c.silence = c.Member.Silence(); c.silence != nil {
		return
	}
	scale, err := c.Member.Scale(ctx, object.Namespace, object.Spec.ScaleTargetRef)
	if err != nil {
		if silence, absent := fleet.Classify(err); !absent && !meta.IsNoMatchError(err) {
			c.silence = silence
		}
		return
	}
	c.scale = scale
	if d := object.Spec.ReplicaDistribution; d != nil && assignment.Policy(d.Type).ByCapacity() {
		c.additional, _ = workload.Room(ctx, c.Member, object.Namespace, object.Spec.ScaleTargetRef, nil)
	}
	found := claims.On(claims.CronInMember(object), c.Member.Autoscalers(ctx, object.Namespace).Objects...)
	if len(found) > 0 {
		c.conflict = fmt.Sprintf("cluster %s: %s", c.Facts.Name, claims.InTheWay(found))
	}
}

// followers are the clusters as those that follow the hub. Nobody waits for a silent one that is drained.
func followers(clusters []clusterScale) cronplan.Followers {
	f := cronplan.Followers{Selected: len(clusters)}
	for _, c := range clusters {
		switch {
		case c.scale != nil:
			f.Replicas = append(f.Replicas, c.scale.Spec.Replicas)
		case c.silence != nil && c.Standing.Standing != taints.Drained:
			f.Silent = append(f.Silent, c.Facts.Name)
		}
	}
	return f
}

// conflicts are the clusters where somebody else scales the workload; "": there are none.
func conflicts(clusters []clusterScale) string {
	var all []string
	for _, c := range clusters {
		if c.conflict != "" {
			all = append(all, c.conflict)
		}
	}
	return few(all, "; ")
}

// nowhere is why a workload that the hub lacks is not found in any of so many clusters either, or nil: one of those that take part has it.
func nowhere(onHub error, clusters []clusterScale, of int) error {
	var each []string
	for _, c := range clusters {
		if c.scale != nil {
			return nil
		}
		reason := fleet.Reason("TargetNotFound")
		if c.silence != nil {
			reason = c.silence.Reason
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
