// SPDX-License-Identifier: Apache-2.0

package sight

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
)

func TestUndone(t *testing.T) {
	const (
		hub, members = false, true
		ok           = ""
		divided      = ReasonDividedPlacement
		missing      = ReasonRetainReplicasMissing
		set          = ReasonRetainReplicasSet
	)
	labelled := func(value string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{}}
		u.SetLabels(map[string]string{RetainReplicas: value})
		return u
	}
	plain, retained := &unstructured.Unstructured{Object: map[string]any{}}, labelled("true")
	tests := map[string]struct {
		rule      placement.Rule
		onHub     *unstructured.Unstructured
		inMembers bool
		want      string
	}{
		"members, nobody places":              {placement.Nobody, plain, members, ok},
		"members, nobody places, a label":     {placement.Nobody, retained, members, ok},
		"members, divided":                    {placement.Divided, plain, members, divided},
		"members, divided, retained":          {placement.Divided, retained, members, divided},
		"members, divided, nothing on hub":    {placement.Divided, nil, members, divided},
		"members, duplicated":                 {placement.Duplicated, plain, members, missing},
		"members, duplicated, retained":       {placement.Duplicated, retained, members, ok},
		"members, duplicated, said to be not": {placement.Duplicated, labelled("false"), members, missing},
		"members, duplicated, nothing on hub": {placement.Duplicated, nil, members, missing},
		"members, by no known rule":           {placement.Unsaid, plain, members, missing},
		"members, by no rule, retained":       {placement.Unsaid, retained, members, ok},
		"members, not placed":                 {placement.Unplaced, plain, members, missing},
		"members, not placed, retained":       {placement.Unplaced, retained, members, ok},
		"members, not placed, none on hub":    {placement.Unplaced, nil, members, ok},
		"hub, nobody places":                  {placement.Nobody, plain, hub, ok},
		"hub, nobody places, a label":         {placement.Nobody, retained, hub, ok},
		"hub, divided":                        {placement.Divided, plain, hub, ok},
		"hub, divided, retained":              {placement.Divided, retained, hub, set},
		"hub, duplicated":                     {placement.Duplicated, plain, hub, ok},
		"hub, duplicated, retained":           {placement.Duplicated, retained, hub, set},
		"hub, by no known rule, retained":     {placement.Unsaid, retained, hub, set},
		"hub, said to be not retained":        {placement.Divided, labelled("false"), hub, ok},
		"hub, nothing there":                  {placement.Divided, nil, hub, ok},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			object := &v1alpha1.FederatedHPA{}
			object.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{Kind: "Deployment", Name: "web"}
			s := Sight{Object: object, Rule: tc.rule}
			got := s.Undone(tc.onHub, tc.inMembers)
			fleettest.Same(t, "reason", tc.want, got.Reason)
			if (got.Message == "") != (tc.want == "") {
				t.Errorf("message %q of reason %q", got.Message, got.Reason)
			}
		})
	}
}
