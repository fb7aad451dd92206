// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// A template becomes what the policy of deploy/member-sizes makes of its Pods.
func TestWithSizes(t *testing.T) {
	type amounts = map[string]string
	list := func(of amounts) corev1.ResourceList { return with(nil, of) }
	for name, tc := range map[string]struct {
		requests, limits         amounts // of the template
		given                    v1alpha1.SizedContainer
		wantRequests, wantLimits amounts
	}{
		"a request": {amounts{"cpu": "1"}, nil, v1alpha1.SizedContainer{Name: "a", Requests: amounts{"cpu": "2"}},
			amounts{"cpu": "2"}, nil},
		"cut to a limit": {amounts{"cpu": "1"}, amounts{"cpu": "1500m"}, v1alpha1.SizedContainer{Name: "a", Requests: amounts{"cpu": "2"}},
			amounts{"cpu": "1500m"}, amounts{"cpu": "1500m"}},
		"with its limit": {amounts{"cpu": "1"}, amounts{"cpu": "1"}, v1alpha1.SizedContainer{Name: "a", Requests: amounts{"cpu": "2"},
			Limits: amounts{"cpu": "3"}}, amounts{"cpu": "2"}, amounts{"cpu": "3"}},
		"what has none": {nil, nil, v1alpha1.SizedContainer{Name: "a", Requests: amounts{"memory": "1Gi"}}, amounts{"memory": "1Gi"},
			nil},
		"another container": {amounts{"cpu": "1"}, nil, v1alpha1.SizedContainer{Name: "b", Requests: amounts{"cpu": "2"}},
			amounts{"cpu": "1"}, nil},
		"what is no quantity": {amounts{"cpu": "1"}, nil, v1alpha1.SizedContainer{Name: "a", Requests: amounts{"cpu": "two"}},
			amounts{"cpu": "1"}, nil},
		"what is not mentioned": {amounts{"cpu": "1", "memory": "1Gi"}, nil, v1alpha1.SizedContainer{Name: "a", Requests: amounts{"cpu": "2"}},
			amounts{"cpu": "2", "memory": "1Gi"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			before := &corev1.PodTemplateSpec{}
			before.Spec.Containers = []corev1.Container{{Name: "a", Resources: corev1.ResourceRequirements{Requests: list(tc.requests),
				Limits: list(tc.limits)}}}
			got := withSizes(before, []v1alpha1.SizedContainer{tc.given}).Spec.Containers[0].Resources
			equal := func(what string, want amounts, got corev1.ResourceList) {
				fleettest.Same(t, "how many "+what, len(want), len(got))
				for name, text := range want {
					if q := got[corev1.ResourceName(name)]; q.Cmp(resource.MustParse(text)) != 0 {
						t.Errorf("%s of %s: %v, want %s", what, name, &q, text)
					}
				}
			}
			equal("requests", tc.wantRequests, got.Requests)
			equal("limits", tc.wantLimits, got.Limits)
			fleettest.Same(t, "the template itself", list(tc.requests), before.Spec.Containers[0].Resources.Requests)
		})
	}
}
