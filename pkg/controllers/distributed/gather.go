// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/placement"
	"github.com/fleetscale/fleetscale/pkg/workload"
)

// gather collects what a step rests on. What can not be had is noted as such: there is always a step.
func (r *Reconciler) gather(ctx context.Context, object *v1alpha1.FederatedHPA) situation {
	in := situation{object: object, now: r.Clock.Now(), options: &r.Options}
	byOthers, err := r.choose(ctx, &in)
	if err != nil {
		in.fault = err
		return in
	}
	r.memories.remind(object, in.sites, in.now)
	r.read(ctx, &in)
	r.memories.resume(object, in.sites, in.now)
	r.findTemplate(ctx, &in, byOthers)
	if in.fault = errors.Join(in.fault, in.prefer()); in.fault != nil {
		return in
	}
	r.lookAtPods(ctx, &in)
	in.wanted = r.wants(ctx, &in)
	return in
}

// choose notes the clusters that take part, and those that the status speaks of. It says whether others place the
// workload. The error is that of the spec, or of reading where it is placed.
func (r *Reconciler) choose(ctx context.Context, in *situation) (byOthers bool, err error) {
	placed, byOthers, err := r.placed(ctx, in)
	if err != nil {
		return false, err
	}
	known := map[string]workload.Cluster{}
	for _, cluster := range r.Fleet.Clusters() {
		known[cluster.Facts().Name] = cluster
	}
	for name := range placed {
		if known[name] == nil {
			known[name] = workload.Unregistered(name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		s := newSite(in.object, known[name])
		_, here := placed[name]
		matches, err := assignment.Matches(in.object.Spec.ClusterAffinity, s.facts)
		if err != nil {
			return false, &fault{reasonInvalidSpec, fmt.Sprintf("spec.clusterAffinity: %v", err)}
		}
		switch {
		case matches && (placed == nil || here):
			in.sites = append(in.sites, s)
		case s.before.Name != "":
			s.leaves(v1alpha1.ClusterExcluded, reasonNotSelected, "the cluster is not selected any more")
			in.sites = append(in.sites, s)
		}
	}
	in.missRemoved(known)
	return byOthers, nil
}

// placed are the clusters where others place the workload; nil if nobody does.
func (r *Reconciler) placed(ctx context.Context, in *situation) (map[string]*int32, bool, error) {
	if r.Placements == nil {
		return nil, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.MemberTimeout) // what may not be listed is waited for
	defer cancel()
	placed, places, err := r.Placements.Of(ctx, in.object.Namespace, in.object.Spec.ScaleTargetRef)
	var fault *placement.TemplateFault
	switch {
	case errors.As(err, &fault): // it is about the hub's number, which nobody follows here
	case err != nil:
		return nil, false, fmt.Errorf("reading where %s is placed: %w", workload.Describe(in.object.Spec.ScaleTargetRef), err)
	}
	if !places {
		placed = nil
	}
	return placed, places || fault != nil, nil
}

func newSite(object *v1alpha1.FederatedHPA, cluster workload.Cluster) site {
	s := site{cluster: cluster, facts: cluster.Facts(), name: object.Name}
	s.before = (&situation{object: object}).before(s.facts.Name)
	if why := cluster.Silence(); why != nil {
		s.silent(why)
	}
	return s
}

// missRemoved notes clusters that are not registered any more: what we made there can not be taken back.
func (in *situation) missRemoved(known map[string]workload.Cluster) {
	for i := range in.object.Status.Clusters {
		if c := &in.object.Status.Clusters[i]; known[c.Name] == nil && value(c.AssignedMax) > 0 {
			in.gone = append(in.gone, c.Name)
		}
	}
}

// prefer notes each cluster's preference. One without, where that matters, takes no part.
func (in *situation) prefer() error {
	a := in.object.Spec.FederatedHPAAssignment
	var facts []assignment.ClusterFacts
	for i := range in.sites {
		facts = append(facts, in.sites[i].facts)
	}
	preferences, err := assignment.Preferences(assignment.Policy(a.FederatedHPAAssignmentType), a.ClusterAutoscalingPreference, facts)
	if err != nil {
		return &fault{reasonInvalidSpec, fmt.Sprintf("spec.federatedHPAAssignment: %v", err)}
	}
	for i := range in.sites {
		s := &in.sites[i]
		preference, preferred := preferences[s.facts.Name]
		s.preference = preference
		if !preferred && s.presence != assignment.Leaving {
			s.leaves(v1alpha1.ClusterExcluded, reasonNotPreferred, "no entry of clusterAutoscalingPreference selects the cluster")
		}
	}
	return nil
}

// together calls f for all at once, and waits for them.
func together[T any](list []T, f func(*T)) {
	var all sync.WaitGroup
	for i := range list {
		all.Go(func() { f(&list[i]) })
	}
	all.Wait()
}
