// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The template of a kind that others define may hold what its schema does not check.
func TestTemplateOf(t *testing.T) {
	tests := map[string]struct {
		cpu   any
		known bool
	}{
		"a quantity":                    {"250m", true},
		"a number":                      {int64(2), true},
		"a quantity that takes forever": {"1e-2147483648", false},
		"no quantity":                   {"much", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			container := map[string]any{"name": "app", "resources": map[string]any{"requests": map[string]any{"cpu": tc.cpu}}}
			spec := map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{container}}}}
			workload := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
			if got, err := TemplateOf(workload); (err == nil) != tc.known {
				t.Errorf("template %v, %v, want known: %v", got, err, tc.known)
			}
		})
	}
}
