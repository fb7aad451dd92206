// SPDX-License-Identifier: Apache-2.0

package central

import (
	"cmp"
	"context"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/claims/index"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
)

// others are who may scale the same in any cluster.
type others struct {
	onHub []string
	near  []*chosen
	// asker is who asks in a member.
	asker claims.Autoscaler
}

func (m *Mode) others(ctx context.Context, in *situation) others {
	return others{onHub: m.claimsOnHub(ctx, in), near: m.near(in), asker: claims.InMember(in.Object, false)}
}

// findOthers notes who else scales the workload in the cluster, or counts its Pods. Where the hub is told, no
// cluster can be left out, and so nothing is scaled; where each cluster is told, one with an autoscaler of its own is
// ignored.
func (p *part) findOthers(ctx context.Context, in *situation, others others) {
	local := claims.On(others.asker, p.Autoscalers.Objects...)
	p.beside = claims.Names(claims.Beside(others.asker, p.Autoscalers.Objects...))
	if in.inMembers && len(local) > 0 {
		if p.state == v1alpha1.ClusterActive {
			p.conflict(local)
		}
		local = nil
	}
	all := slices.Concat(p.countsTheSame(ctx, in, others.near), others.onHub, claims.Names(local))
	if len(all) > 0 {
		p.others = append([]string{in.Object.Namespace + "/" + in.Object.Name}, all...)
	}
}

// claimsOnHub notes who is beside an observer on the hub, and returns the claims of HorizontalPodAutoscalers there, beside which the
// webhook refuses a FederatedHPA in any mode, unless it observes. They are in the way of who writes the members too, where somebody
// propagates the hub's number to them, or where the hub is a member itself, and neither can be told from here.
func (m *Mode) claimsOnHub(ctx context.Context, in *situation) []string {
	var local autoscalingv2.HorizontalPodAutoscalerList
	var federated v1alpha1.FederatedHPAList
	// The cache fails only if it was not set up, and then nothing runs.
	named := client.MatchingFields{index.ByName: in.Object.Spec.ScaleTargetRef.Name}
	for _, list := range []client.ObjectList{&local, &federated} {
		_ = m.Hub.List(ctx, list, client.InNamespace(in.Object.Namespace), named, client.UnsafeDisableDeepCopy) // they are only read
	}
	asker, hpas := claims.Of(in.Object), slices.Collect(sight.Pointers(local.Items))
	in.beside = claims.Names(slices.Concat(claims.Beside(asker, hpas...),
		claims.Beside(asker, slices.Collect(sight.Pointers(federated.Items))...)))
	return slices.Sorted(slices.Values(claims.Names(claims.On(asker, hpas...))))
}

// besideIt returns who else scales the workload, in the order of clusters after the hub.
func (in *situation) besideIt() []string {
	all := slices.Sorted(slices.Values(in.beside))
	for p := range sight.Pointers(in.parts) {
		for _, name := range p.beside {
			all = append(all, name+" in cluster "+p.Facts.Name)
		}
	}
	return all
}

// near are the other FederatedHPAs whose selectors do not exclude this one's. One that only observes is near to none, nor they to it.
func (m *Mode) near(in *situation) []*chosen {
	if in.Object.Spec.Mode == v1alpha1.ModeObserve {
		m.selectors.forget(client.ObjectKeyFromObject(in.Object))
		return nil
	}
	text := in.anySelector()
	selector, err := in.selectorOf(text)
	if err != nil || selector.Empty() {
		return nil
	}
	return m.selectors.choose(client.ObjectKeyFromObject(in.Object), text, selector, in.names())
}

// countsTheSame returns those of the near that count a Pod of ours in the cluster.
func (p *part) countsTheSame(ctx context.Context, in *situation, near []*chosen) []string {
	var names []string
	for _, other := range near {
		if !slices.Contains(other.clusters, p.Facts.Name) {
			continue
		}
		both, err := in.selectorOf(p.selector(in.scale.Selector))
		if err != nil {
			continue // said by the decision
		}
		demands, _ := other.selector.Requirements()
		if len(p.Member.Pods(ctx, in.Object.Namespace, both.Add(demands...)).Pods) > 0 {
			names = append(names, other.key.String())
		}
	}
	return names
}

func compareKeys(a, b client.ObjectKey) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}
