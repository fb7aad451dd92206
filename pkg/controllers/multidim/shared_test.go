// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Where the hub does not have the workload, the first cluster by name tells what it is. What it says counts in others only if they
// have the same: a cluster must not choose Pods in another, nor their sizes.
func TestAClusterDoesNotChooseThePodsOfAnother(t *testing.T) {
	wide := deployment("1", "2Gi") // its new Pods are known by the same label
	spec := wide.Object["spec"].(map[string]any)
	spec["selector"] = map[string]any{"matchExpressions": []any{map[string]any{"key": "app", "operator": "Exists"}}}
	spec["template"].(map[string]any)["metadata"] = map[string]any{"labels": map[string]any{"app": "web"}}
	for name, tc := range map[string]struct {
		west      *unstructured.Unstructured
		sized     bool
		condition string
	}{
		"the same":         {deployment("1", "2Gi"), true, "True Actuating"},
		"other sizes":      {deployment("2", "2Gi"), false, "False TemplateNotShared"},
		"not there":        {nil, false, "True Actuating"},
		"other labels":     {selecting("api"), false, "False TemplateNotShared"},
		"a wider selector": {wide, false, "False TemplateNotShared"},
		"not a template":   {&unstructured.Unstructured{Object: map[string]any{"kind": "Deployment"}}, false, "False TemplateNotShared"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newActing(t, v1alpha1.UpdateModeInPlace)
			if err := w.hub.Delete(t.Context(), deployment("1", "2Gi")); err != nil {
				t.Fatal(err)
			}
			w.clusters["east"].web, w.clusters["west"].web = deployment("1", "2Gi"), tc.west
			w.pass(10)
			if n := len(w.clusters["east"].changes); n == 0 {
				t.Error("nothing was done where the template is from")
			}
			if n := len(w.clusters["west"].changes); n > 0 != tc.sized {
				t.Errorf("%v was done in the other cluster, want something: %v", w.clusters["west"].changes, tc.sized)
			}
			same(t, "condition", tc.condition, w.actuationOf())
			asked := w.clusters["west"].asked
			if w.pass(5); tc.sized && w.clusters["west"].asked != asked {
				t.Error("the other cluster is asked again and again")
			}
		})
	}
}

// selecting is the workload with other labels.
func selecting(app string) *unstructured.Unstructured {
	d := deployment("1", "2Gi")
	d.Object["spec"].(map[string]any)["selector"] = map[string]any{"matchLabels": map[string]any{"app": app}}
	return d
}
