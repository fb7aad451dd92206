// SPDX-License-Identifier: Apache-2.0

package leftovers

import (
	"context"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
)

// lost are those of a namespace of a cluster that nobody sees to: a hub does not have their owner, or their owner has forgotten the
// cluster.
func (s *Sweeper) lost(ctx context.Context, v *visit, hub client.Reader, namespace string,
	made []*autoscalingv2.HorizontalPodAutoscaler) ([]*autoscalingv2.HorizontalPodAutoscaler, error) {
	owners, err := ownersIn(ctx, hub, namespace)
	if err != nil {
		return nil, err
	}
	keeps := map[*v1alpha1.FederatedHPA]bool{}
	return slices.DeleteFunc(made, func(hpa *autoscalingv2.HorizontalPodAutoscaler) bool {
		owner := owners[hpa.Labels[v1alpha1.ManagedByLabel]]
		if owner == nil {
			return false
		}
		kept, known := keeps[owner]
		if !known {
			kept = !s.forgot(ctx, v, owner)
			keeps[owner] = kept
		}
		return kept
	}), nil
}

// forgot: the owner is in distributed mode, is at rest with its spec, and neither selects the cluster nor names it in its status. That is
// so of a cluster that was registered again after it was taken out of the selection. When in doubt it is not so.
func (s *Sweeper) forgot(ctx context.Context, v *visit, owner *v1alpha1.FederatedHPA) bool {
	acts := owner.Spec.Mode == "" || owner.Spec.Mode == v1alpha1.ModeActive
	seen := owner.Status.ObservedGeneration
	if !owner.Distributed() || !acts || owner.DeletionTimestamp != nil || seen == nil || *seen != owner.Generation || v.Joining() {
		return false
	}
	known := map[string]bool{}
	for i := range owner.Status.Clusters {
		known[owner.Status.Clusters[i].Name] = true
	}
	if known[v.name] {
		return false
	}
	all, _, err := s.Selection.Select(ctx, selection.Workload{
		Namespace: owner.Namespace, Target: owner.Spec.ScaleTargetRef, Affinity: owner.Spec.ClusterAffinity, InMembers: true, Known: known,
		Decision: selection.DecisionOf(owner),
	})
	if err != nil {
		klog.FromContext(ctx).V(2).Info("Could not tell whether the cluster is selected", "cluster", v.name, "federatedHPA", klog.KObj(owner),
			"err", err)
		return false
	}
	i := slices.IndexFunc(all, func(c selection.Candidate) bool { return c.Facts.Name == v.name })
	return i >= 0 && !all[i].Selected
}
