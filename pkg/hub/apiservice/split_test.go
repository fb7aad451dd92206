// SPDX-License-Identifier: Apache-2.0

package apiservice

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestShares(t *testing.T) {
	const beta, stable, external = "v1beta1.metrics.k8s.io", "v1.metrics.k8s.io", "v1beta1.external.metrics.k8s.io"
	ours := types.NamespacedName{Namespace: "fleetscale-system", Name: "metrics-adapter"}
	others := types.NamespacedName{Namespace: "karmada-system", Name: "karmada-metrics-adapter"}
	both := func(b, s types.NamespacedName) map[string]types.NamespacedName {
		return map[string]types.NamespacedName{beta: b, stable: s}
	}
	tests := map[string]struct {
		targets map[string]types.NamespacedName
		want    Shares
		split   bool
	}{
		"all ours":           {both(ours, ours), Shares{Ours: []string{beta, stable}}, false},
		"all another's":      {both(others, others), Shares{Others: []string{beta, stable}}, false},
		"taken in part":      {both(others, ours), Shares{[]string{stable}, []string{beta}}, true},
		"given back in part": {both(ours, others), Shares{[]string{beta}, []string{stable}}, true},
		"by the hub itself":  {both(types.NamespacedName{}, ours), Shares{[]string{stable}, []string{beta}}, true},

		"ours, one is missing":          {map[string]types.NamespacedName{beta: ours}, Shares{Ours: []string{beta}}, false},
		"another's, one is missing":     {map[string]types.NamespacedName{beta: others}, Shares{Others: []string{beta}}, false},
		"another group leads elsewhere": {map[string]types.NamespacedName{beta: ours, external: others}, Shares{Ours: []string{beta}}, false},
		"nowhere":                       {nil, Shares{}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Share("metrics.k8s.io", tc.targets, ours)
			fleettest.Same(t, "shares", tc.want, got)
			if got.Split() != tc.split {
				t.Errorf("split = %v", got.Split())
			}
		})
	}
}
