// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"net/http"
	"testing"
	"time"

	"k8s.io/metrics/pkg/apis/custom_metrics"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// The silence of a drained member makes no answer partial, but an answer of nobody is none.
func TestDrainedMembersAreNotWaitedFor(t *testing.T) {
	away := &fleet.Silence{Reason: fleet.ReasonTimeout, Detail: "no answer within the deadline"}
	east := &fakeMember{name: "east", pods: []metricsv1beta1.PodMetrics{pod("shop", "web-0", "web")}}
	h := newHub(t, "", east, &fakeMember{name: "west", silence: away})
	h.relay.custom = newAnswers[custom_metrics.MetricValue]().say("east", figure("Service", "shop", "10")).silent("west", time.Second).Result
	const pods = "/apis/metrics.k8s.io/v1beta1/"
	const sum = custom2 + "namespaces/shop/services/shop/rps"
	fleettest.Same(t, "a sum that waits", http.StatusServiceUnavailable, h.ask(sum).Code)

	h.drained = "west"
	tests := map[string]struct {
		path    string
		code    int
		warning string
	}{
		"a sum":              {sum, http.StatusOK, ""},
		"a list of figures":  {custom2 + "namespaces/shop/services/*/rps", http.StatusOK, ""},
		"a list of pods":     {pods + "namespaces/shop/pods", http.StatusOK, "drained, and did not answer: west"},
		"a pod that is not":  {pods + "namespaces/shop/pods/web-9", http.StatusNotFound, "drained, and did not answer: west"},
		"nobody of figures":  {sum + "?metricLabelSelector=fleetscale.io/cluster%3Dwest", http.StatusServiceUnavailable, ""},
		"nobody of the pods": {pods + "pods" + query("labelSelector", "fleetscale.io/cluster=west"), http.StatusServiceUnavailable, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := h.ask(tc.path)
			if r.Code != tc.code {
				t.Errorf("%d %s, want %d", r.Code, r.Body, tc.code)
			}
			want := "answered=east;drained=west"
			if tc.code == http.StatusServiceUnavailable {
				want = "drained=west"
			}
			fleettest.Same(t, "coverage", want, r.Header().Get(fleet.CoverageHeader))
			checkWarning(t, r, tc.warning)
		})
	}
}
