// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"cmp"
	"context"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/admission"
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/workload"
)

// byTarget finds autoscalers on the hub by what they scale.
const byTarget = "federatedhpa.scaleTargetRef"

// others are who may scale the same in any cluster.
type others struct {
	onHub []string
	near  []*chosen
}

func (r *Reconciler) others(ctx context.Context, in *situation) others {
	return others{onHub: r.rivalsOnHub(ctx, in), near: r.near(in)}
}

// findRivals notes who else scales the workload in the cluster, or counts its Pods. Where the hub is told, no
// cluster can be left out, and so nothing is scaled; where each cluster is told, one with an autoscaler of its own is
// left alone.
func (p *part) findRivals(ctx context.Context, in *situation, others others) {
	local := p.autoscalers(ctx, in.object)
	if in.object.Spec.ReplicaDistribution != nil && len(local) > 0 {
		if p.state == v1alpha1.ClusterActive {
			p.conflict(local)
		}
		local = nil
	}
	rivals := slices.Concat(p.countsTheSame(ctx, in, others.near), others.onHub, local)
	if len(rivals) > 0 {
		p.rivals = append([]string{in.object.Namespace + "/" + in.object.Name}, rivals...)
	}
}

// rivalsOnHub are HorizontalPodAutoscalers of the workload on the hub, by the rule by which the webhook refuses a
// FederatedHPA beside them.
func (r *Reconciler) rivalsOnHub(ctx context.Context, in *situation) []string {
	var found autoscalingv2.HorizontalPodAutoscalerList
	// The cache fails only if it was not set up, and then nothing runs.
	_ = r.Hub.List(ctx, &found, client.InNamespace(in.object.Namespace), client.MatchingFields{byTarget: workload.Key(in.object.Spec.ScaleTargetRef)})
	var names []string
	for i := range found.Items {
		if hpa := &found.Items[i]; admission.Rivals(hpa, in.object.Spec.ScaleTargetRef) {
			names = append(names, "HorizontalPodAutoscaler "+hpa.Namespace+"/"+hpa.Name)
		}
	}
	slices.Sort(names)
	return names
}

// near are the other FederatedHPAs whose selectors do not exclude this one's.
func (r *Reconciler) near(in *situation) []*chosen {
	text := in.anySelector()
	selector, err := in.selectorOf(text)
	if err != nil || selector.Empty() {
		return nil
	}
	return r.selectors.choose(client.ObjectKeyFromObject(in.object), text, selector, in.names())
}

// autoscalers are those that the cluster has of its own for the workload.
func (p *part) autoscalers(ctx context.Context, object *v1alpha1.FederatedHPA) []string {
	var names []string
	for _, other := range p.cluster.Autoscalers(ctx, object.Namespace).Objects {
		if other.Labels[v1alpha1.ManagedByLabel] == "" && workload.Key(other.Spec.ScaleTargetRef) == workload.Key(object.Spec.ScaleTargetRef) {
			names = append(names, "HorizontalPodAutoscaler "+object.Namespace+"/"+other.Name)
		}
	}
	return names
}

// countsTheSame are those of the near that count a Pod of ours in the cluster.
func (p *part) countsTheSame(ctx context.Context, in *situation, near []*chosen) []string {
	var names []string
	for _, other := range near {
		if !slices.Contains(other.clusters, p.facts.Name) {
			continue
		}
		both, err := in.selectorOf(p.selector(in.scale.Selector))
		if err != nil {
			continue // said by the decision
		}
		demands, _ := other.selector.Requirements()
		if len(p.cluster.Pods(ctx, in.object.Namespace, both.Add(demands...)).Pods) > 0 {
			names = append(names, other.key.String())
		}
	}
	return names
}

func compareKeys(a, b client.ObjectKey) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}
