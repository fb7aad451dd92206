// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
)

// pageSize is the most objects asked for at once.
const pageSize = 500

// listed returns those that a cluster has which serves the old version only. The libraries no longer know it, so that it can
// not be watched; what was seen before it fell silent is not kept.
func (c memberCluster) listed(ctx context.Context, namespace string) Autoscalers {
	all, err := c.list(ctx, old, namespace, "")
	if err != nil {
		return Autoscalers{Version: old.String(), Silence: silenceOf(err)}
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
	var length mirror.Length
	names := map[mirror.Key]bool{}
	for next, more := "", true; more; more = next != "" {
		page, size, err := c.page(ctx, version, namespace, selector, next)
		if err == nil {
			err = c.Reading().Endless(length.Add(next, page.Continue, len(page.Items), size))
		}
		if err != nil {
			return nil, err
		}
		for _, item := range asked(c, autoscalerResource, namespace, names, page.Items) {
			all = append(all, recordOf(&item).HorizontalPodAutoscaler)
		}
		next = page.Continue
	}
	return all, nil
}

// page reads one page, and tells its bytes.
func (c memberCluster) page(ctx context.Context, version schema.GroupVersion, namespace, selector,
	from string) (*autoscalingv2.HorizontalPodAutoscalerList, int, error) {
	request := autoscalersAt(c.Client().Get(), version, namespace).Param("limit", strconv.Itoa(pageSize))
	if selector != "" {
		request.Param("labelSelector", selector)
	}
	if from != "" {
		request.Param("continue", from)
	}
	answer, err := answerTo(ctx, request)
	if err != nil {
		return nil, 0, fmt.Errorf("listing HorizontalPodAutoscalers in namespace %q: %w", namespace, err)
	}
	list, err := decode(ctx, c, answer, &autoscalingv2.HorizontalPodAutoscalerList{}, autoscalerKind+"List")
	return list, len(answer), err
}
