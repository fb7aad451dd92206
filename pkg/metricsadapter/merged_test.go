// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// observed are the times that freshness was noted of.
type observed []metav1.Time

func (o *observed) Observe(at metav1.Time) { *o = append(*o, at) }

func TestAnAnswerIsAsFreshAsItsOldestPart(t *testing.T) {
	measuredAgo := func(ago time.Duration) metricsv1beta1.PodMetrics {
		p := pod("shop", "web", "web")
		p.Timestamp = metav1.NewTime(measured.Add(-ago))
		return p
	}
	h := newHub(t, "",
		&fakeMember{name: "east", pods: []metricsv1beta1.PodMetrics{measuredAgo(0)}},
		&fakeMember{name: "north"},
		&fakeMember{name: "south", pods: []metricsv1beta1.PodMetrics{measuredAgo(time.Second)}},
		&fakeMember{name: "west", pods: []metricsv1beta1.PodMetrics{measuredAgo(time.Minute)}})
	tests := map[string]struct {
		path string
		want observed
	}{
		"one observation per answer": {"v1beta1/namespaces/shop/pods", observed{measuredAgo(time.Minute).Timestamp}},
		"of those who are asked": {"v1beta1/namespaces/shop/pods" + query("labelSelector", "fleetscale.io/cluster!=west"),
			observed{measuredAgo(time.Second).Timestamp}},
		"of nothing, none": {"v1beta1/namespaces/shop/pods" + query("labelSelector", "fleetscale.io/cluster=north"), nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got observed
			h.adapter.freshness = &got
			h.get(tc.path)
			fleettest.Same(t, "GET "+tc.path, tc.want, got)
		})
	}
}
