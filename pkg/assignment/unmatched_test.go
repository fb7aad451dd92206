// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestUnmatched(t *testing.T) {
	type entry = v1alpha1.TargetClusterAutoscalingPreference
	of := func(names ...string) entry {
		return entry{TargetCluster: &v1alpha1.ClusterAffinity{ClusterNames: names}}
	}
	by := func(operator v1alpha1.FieldSelectorOperator, provider string) entry {
		return entry{TargetCluster: &v1alpha1.ClusterAffinity{FieldSelector: &v1alpha1.FieldSelector{
			MatchExpressions: []v1alpha1.FieldSelectorRequirement{{Key: v1alpha1.FieldProvider, Operator: operator, Values: []string{provider}}},
		}}}
	}
	said := func(clusters, entries string) string {
		return "of the " + clusters + " clusters that the FederatedHPA selects, none is selected by " + entries +
			": compare that with the names, labels and annotations (fleetscale.io/provider, region, zones) of their registrations"
	}
	two := []ClusterFacts{{Name: "east", Provider: "acme"}, {Name: "west"}}
	many := make([]entry, 10)
	for i := range many {
		many[i] = of("gone")
	}
	long := strings.Repeat("ü", 300)
	tests := map[string]struct {
		entries  []entry
		clusters []ClusterFacts
		want     string
	}{
		"no entries":            {nil, two, ""},
		"each selects one":      {[]entry{of("east"), by(v1alpha1.FieldSelectorIn, "acme"), {}}, two, ""},
		"two select the same":   {[]entry{of("east"), of("east", "gone")}, two, ""},
		"no clusters":           {[]entry{of("east")}, nil, ""},
		"one that is no entry":  {[]entry{by("Is", "acme")}, two, ""},
		"a name that is no one": {[]entry{of("east"), of("eats")}, two, said("2", `clusterAutoscalingPreference[1] {"clusterNames":["eats"]}`)},
		"a provider that nobody has": {[]entry{by(v1alpha1.FieldSelectorIn, "on-premises"), by(v1alpha1.FieldSelectorNotIn, "on-premises")}, two,
			said("2", `clusterAutoscalingPreference[0] {"fieldSelector":{"matchExpressions":[{"key":"provider","operator":"In","values":["on-premises"]}]}}`)},
		"many": {many, two, said("2", strings.Repeat(`clusterAutoscalingPreference[N] {"clusterNames":["gone"]}, `, 8)+"and 2 more")},
		"a long one": {[]entry{of(long)}, two,
			said("2", `clusterAutoscalingPreference[0] {"clusterNames":["`+long[:512-len(`{"clusterNames":["`)]+"…")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Unmatched(tc.entries, tc.clusters)
			if name == "many" {
				for _, n := range "01234567" {
					got = strings.Replace(got, "["+string(n)+"]", "[N]", 1)
				}
			}
			fleettest.Same(t, "", tc.want, got)
		})
	}
}
