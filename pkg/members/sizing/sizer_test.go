// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
)

// What bounds the sizes of a workload's Pods comes from the cluster that is asked, and of the namespace that is meant.
func TestBounds(t *testing.T) {
	s := newServer(t, "v2")
	for path, list := range map[string]string{
		"nodes": `NodeList","items":[{"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"10"}}}]`,
		"namespaces/shop/pods": `PodList","items":[{"metadata":{"namespace":"shop","name":"web-1","labels":{"app":"web"}},"spec":
			{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":"Running"}},{"metadata":{"namespace":"shop","name":"other"}}]`,
		"namespaces/shop/limitranges": `LimitRangeList","items":[{"metadata":{"namespace":"shop","name":"l"},
			"spec":{"limits":[{"type":"Pod","max":{"cpu":"2"}}]}}]`,
		"namespaces/shop/resourcequotas": `ResourceQuotaList","items":[{"metadata":{"namespace":"shop","name":"q"},
			"status":{"hard":{"requests.cpu":"5"},"used":{"requests.cpu":"3"}}}]`,
	} {
		s.Says("GET /api/v1/"+path, 200, `{"apiVersion":"v1","metadata":{"resourceVersion":"5"},"kind":"`+list+`}`)
		s.Says("GET /api/v1/"+path+" watch", 200, "")
	}
	c := s.join(t)
	listing := c.SizedPods(t.Context(), "shop", labels.SelectorFromSet(labels.Set{"app": "web"}))
	fleettest.Same(t, "whether Pods are known", true, listing.Known)
	if len(listing.Pods) != 1 {
		t.Fatalf("there are %d Pods, want 1", len(listing.Pods))
	}
	cpu := func(milli int64) pods.Resources { return pods.Resources{MilliCPU: milli, Memory: pods.None} }
	fleettest.Same(t, "what a Pod requests", cpu(1000), listing.Pods[0].Containers[0].Requests)

	fleettest.Same(t, "what a Pod may limit", cpu(2000), c.LimitRanges(t.Context(), "shop").Pod.Max)
	template := &corev1.PodTemplateSpec{}
	fleettest.Same(t, "the largest nodes", []pods.Resources{{MilliCPU: 4000, Memory: 8 << 30}}, c.LargestNodes(t.Context(), template).Nodes)
	fleettest.Same(t, "what quotas leave", cpu(3000), c.QuotaLeft(t.Context(), "shop", template, listing.Pods).Requests)
}
