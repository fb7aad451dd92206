// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
)

// pageSize is the most objects asked for at once.
const pageSize = 500

// listed returns those that a cluster has which serves the old version only. The libraries no longer know it, so that it can
// not be watched; what was seen before it fell silent is not kept.
func (c memberCluster) listed(ctx context.Context, namespace string) Autoscalers {
	seen := Autoscalers{Version: old.String()}
	var length mirror.Length
	names := map[string]bool{}
	for next, more := "", true; more; more = next != "" {
		page, size, err := c.page(ctx, namespace, next)
		if err == nil {
			err = c.Reading().Endless(length.Add(next, page.Continue, len(page.Items), size))
		}
		if err != nil {
			return Autoscalers{Version: seen.Version, Silence: silenceOf(err)}
		}
		for _, item := range asked(c, autoscalerResource, namespace, names, page.Items) {
			seen.Objects = append(seen.Objects, recordOf(&item).HorizontalPodAutoscaler)
		}
		next = page.Continue
	}
	slices.SortFunc(seen.Objects, func(a, b *autoscalingv2.HorizontalPodAutoscaler) int { return strings.Compare(a.Name, b.Name) })
	seen.Known = true
	return seen
}

// page reads one page, and tells its bytes.
func (c memberCluster) page(ctx context.Context, namespace, from string) (*autoscalingv2.HorizontalPodAutoscalerList, int, error) {
	request := autoscalersAt(c.Client().Get(), old, namespace).Param("limit", strconv.Itoa(pageSize))
	if from != "" {
		request.Param("continue", from)
	}
	answer, err := answerTo(ctx, request)
	if err != nil {
		return nil, 0, fmt.Errorf("listing HorizontalPodAutoscalers in namespace %q: %w", namespace, err)
	}
	list, err := connection.Decode(ctx, c.Reading(), answer, func(answer []byte) (*autoscalingv2.HorizontalPodAutoscalerList, error) {
		list := &autoscalingv2.HorizontalPodAutoscalerList{}
		return list, decode(answer, list, autoscalerKind+"List")
	})
	return list, len(answer), err
}
