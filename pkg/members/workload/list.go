// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
)

// listed returns those that a cluster has which serves the old version only. The libraries no longer know it, so that it can
// not be watched; what was seen before it fell silent is not kept.
func (c memberCluster) listed(ctx context.Context, namespace string) Autoscalers {
	all, err := c.list(ctx, old, namespace, "")
	if err != nil {
		return Autoscalers{Version: old.String(), Silence: fleet.Unanswered(err)}
	}
	seen := Autoscalers{Version: old.String(), Known: true, Objects: all}
	slices.SortFunc(seen.Objects, func(a, b *autoscalingv2.HorizontalPodAutoscaler) int { return strings.Compare(a.Name, b.Name) })
	return seen
}

// MadeBy implements [Cluster].
func (c memberCluster) MadeBy(ctx context.Context, hub string) ([]*autoscalingv2.HorizontalPodAutoscaler, error) {
	version, err := c.version(ctx)
	if err != nil {
		return nil, err
	}
	all, err := c.listScope(ctx, version, v1alpha1.ManagedByLabel)
	return slices.DeleteFunc(all, func(hpa *autoscalingv2.HorizontalPodAutoscaler) bool {
		return hub == "" || hpa.Labels[v1alpha1.ManagedByLabel] == "" || hpa.Annotations[v1alpha1.RemovedByAnnotation] != hub
	}), err
}

// listScope reads those of all namespaces in scope that a selector of labels selects.
func (c memberCluster) listScope(ctx context.Context, version schema.GroupVersion,
	selector string) (all []*autoscalingv2.HorizontalPodAutoscaler, err error) {
	if c.all.scope.Everywhere() {
		return c.list(ctx, version, "", selector)
	}
	for _, namespace := range c.all.scope.Names() {
		some, err := c.list(ctx, version, namespace, selector)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// list reads all of a namespace, or of all, that a selector of labels selects, in the order in which the cluster tells them.
func (c memberCluster) list(ctx context.Context, version schema.GroupVersion, namespace,
	selector string) (all []*autoscalingv2.HorizontalPodAutoscaler, err error) {
	request := func() *rest.Request {
		r := autoscalersAt(c.Client().Get(), version, namespace)
		if selector != "" {
			r.Param("labelSelector", selector)
		}
		return r
	}
	items, err := mirror.List(ctx, c.Reading(), autoscalerResource, namespace, request,
		func(page []byte) (items []autoscalingv2.HorizontalPodAutoscaler, next string, err error) {
			list, err := connection.DecodeKind(ctx, c.Reading(), page, &autoscalingv2.HorizontalPodAutoscalerList{}, autoscalerKind+"List")
			if err != nil {
				return nil, "", err
			}
			for i := range list.Items {
				list.Items[i] = *recordOf(&list.Items[i]).HorizontalPodAutoscaler
			}
			return list.Items, list.Continue, nil
		})
	if err != nil {
		return nil, fmt.Errorf("listing %ss in namespace %q: %w", autoscalerKind, namespace, err)
	}
	for i := range items {
		all = append(all, &items[i])
	}
	return all, nil
}
