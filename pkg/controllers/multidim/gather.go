// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/apis/vpa"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/claims/index"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/members/sizing"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

// patience multiplies the timeout of members for the hub's metrics API, which may have to wait for members first.
const patience = 2

// onHub reads the FederatedHPA of the object's name, and the claims of others. They come from a cache, which fails only if it
// was not set up, and then nothing runs; VerticalPodAutoscalers from what is watched as in members, where none are known
// that cannot be seen.
func (r *Reconciler) onHub(ctx context.Context, in *situation) {
	object, child := in.Object, &v1alpha1.FederatedHPA{}
	if r.Hub.Get(ctx, client.ObjectKeyFromObject(object), child) == nil {
		in.child = child
	}
	asker := claims.Of(object)
	named := []client.ListOption{client.InNamespace(object.Namespace), client.MatchingFields{index.ByName: object.Spec.ScaleTargetRef.Name}}
	var federated v1alpha1.FederatedHPAList
	var local autoscalingv2.HorizontalPodAutoscalerList
	var multidim v1alpha1.MultidimPodAutoscalerList
	var rules v1alpha1.CronFederatedHPAList
	for _, list := range []client.ObjectList{&federated, &local, &multidim, &rules} {
		_ = r.Hub.List(ctx, list, named...)
	}
	federated.Items = slices.DeleteFunc(federated.Items, func(f v1alpha1.FederatedHPA) bool {
		return claims.Of(&f).Kind == v1alpha1.MultidimPodAutoscalerKind // who made it is seen too
	})
	prior := claims.Prior(object, pointers(multidim.Items)...)
	in.claims = slices.Concat(claims.On(asker, pointers(federated.Items)...), claims.On(asker, pointers(local.Items)...), prior)
	in.yields = len(prior) > 0
	ctx, cancel := context.WithTimeout(ctx, r.Fleet.Timeout)
	defer cancel()
	in.sizers = claims.On(asker, r.VPAs.VPAs(ctx, object.Namespace).Objects...)
	in.beside = slices.Concat(in.sizers, claims.On(asker, pointers(rules.Items)...))
}

func pointers[T any](list []T) []*T {
	all := make([]*T, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}

// gather collects what a decision needs to know of the fleet. What is not available is noted as such. As long as nothing
// changes, it asks the hub once, and no member.
func (r *Reconciler) gather(ctx context.Context, in *situation, memory *memory) {
	all, _, err := r.Fleet.Select(ctx, selection.Workload{
		Namespace: in.Object.Namespace, Target: in.Object.Spec.ScaleTargetRef, Affinity: in.Object.Spec.ClusterAffinity, InMembers: true,
		Tolerations: in.Object.Spec.ClusterTolerations, Known: known(in.Object),
		Decision: selection.DecisionOf(in.Object),
	})
	if in.unselected = err; err != nil {
		return
	}
	for _, c := range all {
		if c.Drained() && c.Member.Silence() != nil {
			continue // nobody waits for it
		}
		if c.Selected {
			in.clusters = append(in.clusters, clusterOf(c.Member))
		} else if controllerutil.ContainsFinalizer(in.Object, v1alpha1.PodSizesFinalizer) {
			in.elsewhere = append(in.elsewhere, clusterOf(c.Member))
		}
	}
	workload.Each(ctx, r.Fleet.Timeout, in.elsewhere, func(ctx context.Context, c *cluster) {
		c.readEntries(ctx, in.Object.Namespace)
	})
	in.elsewhere = slices.DeleteFunc(in.elsewhere, func(c cluster) bool { return c.entries.Find(in.Object.Name) == nil })
	if in.Object.Spec.Policy.Acts() {
		r.remind(in, memory)
	}
	if in.template, in.untold = r.templateOf(ctx, in, &memory.workload); in.untold != nil {
		return
	}
	shared := memory.workload.shared
	workload.Each(ctx, r.Fleet.Timeout, in.clusters, func(ctx context.Context, c *cluster) {
		if c.read(ctx, in); in.Object.Spec.Policy.Acts() {
			c.share(ctx, in, shared)
		}
	})
	memory.workload.remember(in.clusters)
	if memory.began.IsZero() {
		memory.began = in.Now
	}
	if in.unmeasured = r.measure(ctx, in); in.unmeasured == nil {
		memory.measured = in.Now
	}
	in.began, in.measured = memory.began, memory.measured
	memory.workload.compare(in.clusters)
}

// known are the clusters that the object's status names.
func known(object *v1alpha1.MultidimPodAutoscaler) map[string]bool {
	names := make(map[string]bool, len(object.Status.Clusters))
	for i := range object.Status.Clusters {
		names[object.Status.Clusters[i].Name] = true
	}
	return names
}

// remind adds what is remembered of the clusters, and forgets others.
func (r *Reconciler) remind(in *situation, memory *memory) {
	known := make(map[string]*clusterMemory, len(in.clusters))
	for i := range in.clusters {
		c := &in.clusters[i]
		k := memory.clusters[c.name]
		if k == nil {
			k = &clusterMemory{}
		}
		known[c.name], c.memory = k, k
		c.rates = r.limiters.of(c.name, in.Now).left(in.Now)
	}
	memory.clusters = known
}

// read reads what is known of a cluster: nearly always without asking it.
func (c *cluster) read(ctx context.Context, in *situation) {
	namespace := in.Object.Namespace
	c.pods = c.SizedPods(ctx, namespace, in.template.selector)
	c.limits = c.LimitRanges(ctx, namespace)
	c.nodes = c.LargestNodes(ctx, in.template.PodTemplateSpec)
	c.quota = c.QuotaLeft(ctx, namespace, in.template.PodTemplateSpec, c.pods.Pods)
	vpas, autoscalers := c.VPAs(ctx, namespace), c.Autoscalers(ctx, namespace)
	c.vpas, c.others = vpas.Objects, in.othersIn(autoscalers.Objects, vpas.Objects)
	if in.Object.Spec.Policy.Acts() {
		c.readEntries(ctx, namespace)
		c.unclaimed = cmp.Or(unseen(autoscalers.Known, autoscalers.Silence), unseen(vpas.Known, vpas.Silence))
	}
}

// unseen is why others cannot be seen in a cluster; nil if they were.
func unseen(known bool, why *fleet.Silence) *fleet.Silence {
	if known {
		return nil
	}
	return cmp.Or(why, &fleet.Silence{Reason: fleet.ReasonTimeout, Detail: "its autoscalers have not been listed yet"})
}

// readEntries reads what the cluster can do about sizes, and what new Pods are created with there: nothing, if it does not serve that.
func (c *cluster) readEntries(ctx context.Context, namespace string) {
	if c.can = c.Support(ctx); c.can.Known && !c.can.Serves {
		c.entries = sizing.PodSizes{Known: true}
		return
	}
	c.entries = c.PodSizes(ctx, namespace)
}

// othersIn are the claims of others on the workload in a cluster.
func (in *situation) othersIn(autoscalers []*autoscalingv2.HorizontalPodAutoscaler, vpas []*vpa.VerticalPodAutoscaler) []claims.Claim {
	own := types.UID("")
	if in.owns() {
		own = in.child.UID
	}
	asker := claims.MultidimInMember(in.Object, own)
	return slices.Concat(claims.On(asker, autoscalers...), claims.On(asker, vpas...))
}

// measure asks what the Pods use.
func (r *Reconciler) measure(ctx context.Context, in *situation) error {
	if len(in.clusters) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience*r.Fleet.Timeout)
	defer cancel()
	question := hubmetrics.Question{Namespace: in.Object.Namespace, Selector: in.template.selector}
	clustersOf := map[string][]string{}
	for i := range in.clusters {
		c := &in.clusters[i]
		question.Clusters = append(question.Clusters, c.name)
		for n := range c.pods.Pods {
			name := c.pods.Pods[n].Name
			clustersOf[name] = append(clustersOf[name], c.name)
		}
	}
	question.ClustersOf = func(pod string) []string { return clustersOf[pod] }
	uses, err := r.Uses.Uses(ctx, question)
	for i := range uses { // in name order, as the clusters
		in.clusters[i].uses = uses[i]
	}
	if err != nil {
		return fmt.Errorf("asking what the Pods use: %w", err)
	}
	return nil
}
