// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// What may stand in a PodSizes is what the policy that reads it can compare, and what a Pod may request and a node might have:
// more than nothing, in whole millicores or bytes, and so little that no sum of it overflows.
func TestAmountsOfPodSizes(t *testing.T) {
	tests := map[string]struct{ good, bad []string }{
		"cpu": {
			good: []string{"1m", "627m", "999999999m", "1", "96", "999999999", "1k", "999999k"},
			bad: []string{"", "0", "0m", "0.5", "1000000000m", "1000000000", "1000000k", "2Ki", "1M", "-1", "+1", "01", "1e3", "1E3", " 1", "1 ",
				"1u", "1mm", "m", "one", "1e-2147483648", "1\n"},
		},
		"memory": {
			good: []string{"1", "764046746", "999999999999999", "1k", "999999999999k", "1Ki", "999999999999Ki", "999999999M", "1Mi", "999999999Mi",
				"999999G", "999999Gi", "999T", "1Ti", "999Ti"},
			bad: []string{"", "0", "0Gi", "01Gi", "1000000000000000", "1000000000000k", "1000000000000Ki", "1000000000M", "1000000000Mi", "1000000G",
				"1000000Gi", "1000T", "1000Ti", "1P", "1Pi", "1K", "1ki", "1gi", "1MB", "1500m", "1.5Mi", "-1Gi", "1e3", "1e-2147483648", "1Gi\n"},
		},
	}
	podSizes := servers(t)["PodSizes"]
	for name, tc := range tests {
		holds := func(amount string) bool {
			amounts := map[string]any{name: amount}
			_, errs := podSizes.create(t.Context(), map[string]any{
				"apiVersion": "fleetscale.io/v1alpha1", "kind": "PodSizes", "metadata": map[string]any{"name": "fleetscale"},
				"workloads": []any{map[string]any{"name": "shop", "matchLabels": map[string]any{"app": "shop"}, "containers": []any{
					map[string]any{"name": "app", "requests": amounts, "limits": amounts},
				}}},
			})
			return len(errs) == 0
		}
		for _, amount := range tc.good {
			if !holds(amount) {
				t.Errorf("%s %q is refused", name, amount)
			}
			checkWhole(t, name, amount)
		}
		for _, amount := range tc.bad {
			if holds(amount) {
				t.Errorf("%s %q is accepted", name, amount)
			}
		}
	}
}

func checkWhole(t *testing.T, name, amount string) {
	t.Helper()
	quantity, err := resource.ParseQuantity(amount)
	if err != nil {
		t.Fatalf("%s %q: %v", name, amount, err)
	}
	whole := resource.NewQuantity(quantity.Value(), quantity.Format)
	if name == string(corev1.ResourceCPU) {
		whole = resource.NewMilliQuantity(quantity.MilliValue(), quantity.Format)
	}
	if quantity.Sign() <= 0 || whole.Cmp(quantity) != 0 {
		t.Errorf("%s %q is not whole and positive", name, amount)
	}
}
