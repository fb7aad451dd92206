// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/speccopy"
)

func TestAsksAuthor(t *testing.T) {
	ref := func(version, name string) *autoscalingv2.CrossVersionObjectReference {
		return &autoscalingv2.CrossVersionObjectReference{APIVersion: version, Kind: "Deployment", Name: name}
	}
	tests := map[string]struct {
		now, before Creation
		want        bool
	}{
		"nothing is created":          {nil, nil, false},
		"nothing is any more":         {nil, ref("apps/v1", "web"), false},
		"new":                         {ref("apps/v1", "web"), nil, true},
		"the same":                    {ref("apps/v1", "web"), ref("apps/v1", "web"), false},
		"the same in another version": {ref("apps/v1", "web"), ref("apps/v1beta1", "web"), false},
		"another":                     {ref("apps/v1", "web"), ref("apps/v1", "api"), true},
		"of another group":            {ref("apps/v1", "web"), ref("example.com/v1", "web"), true},
	}
	for name, tc := range tests {
		if got := AsksAuthor(tc.now, tc.before); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func TestCreations(t *testing.T) {
	f, m := &v1alpha1.FederatedHPA{}, &v1alpha1.MultidimPodAutoscaler{}
	m.Spec.FederatedHPAAssignment = &v1alpha1.FederatedHPAAssignment{}
	if CreationOf(f) != nil || CreationOfMultidim(m) != nil {
		t.Error("something is created in central mode, or for sizes alone")
	}
	f.Spec.FederatedHPAAssignment, m.Spec.Goals = &v1alpha1.FederatedHPAAssignment{}, &v1alpha1.Goals{}
	if CreationOf(f) == nil || CreationOfMultidim(m) == nil {
		t.Error("nothing is created in distributed mode")
	}
	speccopy.Keep(f, speccopy.Of(f))
	f.Spec.FederatedHPAAssignment = nil
	if CreationOf(f) == nil {
		t.Error("nothing is created in distributed mode once the mode is restored")
	}
	m.Spec.FederatedHPAAssignment = nil
	if CreationOfMultidim(m) != nil {
		t.Error("something is created in central mode")
	}
}
