// SPDX-License-Identifier: Apache-2.0

package memberhpa

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestOurs(t *testing.T) {
	tests := map[string]struct {
		labels map[string]string
		uid    types.UID
		want   bool
	}{
		"labelled with the uid":     {map[string]string{"fleetscale.io/managed-by": "0d1c"}, "0d1c", true},
		"labelled with another uid": {map[string]string{"fleetscale.io/managed-by": "0d1d"}, "0d1c", false},
		"not labelled":              {nil, "0d1c", false},
		"not labelled, and no uid":  {nil, "", false},
		"labelled with no uid":      {map[string]string{"fleetscale.io/managed-by": ""}, "", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			hpa := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "any", Labels: tc.labels}}
			if got := Ours(hpa, tc.uid); got != tc.want {
				t.Errorf("Ours = %v, want %v", got, tc.want)
			}
		})
	}
	if f := federated(); !Ours(Render(f, Part{Name: "any", Min: 1, Max: 1}), f.UID) {
		t.Error("what is rendered is not ours")
	}
}

func TestAdoptable(t *testing.T) {
	tests := map[string]struct {
		namespace   string
		annotations map[string]string
		want        bool
	}{
		"given to it":               {"shop", map[string]string{"fleetscale.io/adopt-by": "web"}, true},
		"given to another":          {"shop", map[string]string{"fleetscale.io/adopt-by": "api"}, false},
		"given to nobody":           {"shop", map[string]string{"fleetscale.io/adopt-by": ""}, false},
		"not given":                 {"shop", nil, false},
		"given in another's domain": {"bank", map[string]string{"fleetscale.io/adopt-by": "web"}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			hpa := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: tc.namespace, Name: "any", Annotations: tc.annotations}}
			if got := Adoptable(hpa, federated()); got != tc.want {
				t.Errorf("Adoptable = %v, want %v", got, tc.want)
			}
		})
	}
	nameless := federated()
	nameless.Name = ""
	if Adoptable(&autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}}, nameless) {
		t.Error("what is not given is taken for given to a FederatedHPA without a name")
	}
}
