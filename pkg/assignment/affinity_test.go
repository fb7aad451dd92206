// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// fields is an affinity of one requirement on a field.
func fields(key v1alpha1.FieldSelectorKey, operator v1alpha1.FieldSelectorOperator, values ...string) *v1alpha1.ClusterAffinity {
	return &v1alpha1.ClusterAffinity{FieldSelector: &v1alpha1.FieldSelector{
		MatchExpressions: []v1alpha1.FieldSelectorRequirement{{Key: key, Operator: operator, Values: values}}}}
}

func TestMatches(t *testing.T) {
	type affinity = v1alpha1.ClusterAffinity
	east := ClusterFacts{Name: "east", Labels: map[string]string{"tier": "production"}, Provider: "acme", Region: "eu",
		Zones: []string{"eu-1", "eu-2"}}
	bare := ClusterFacts{Name: "east"}
	production := &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "production"}}
	staging := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "In",
		Values: []string{"staging"}}}}
	inEU, inUS := fields("region", "In", "eu").FieldSelector, fields("region", "In", "us").FieldSelector
	both := &v1alpha1.FieldSelector{MatchExpressions: append(inEU.MatchExpressions[:1:1], inUS.MatchExpressions...)}
	tests := map[string]struct {
		affinity *affinity
		cluster  ClusterFacts
		want     bool
	}{
		"no affinity":  {nil, east, true},
		"an empty one": {&affinity{}, east, true},
		"empty parts": {&affinity{LabelSelector: &metav1.LabelSelector{}, FieldSelector: &v1alpha1.FieldSelector{},
			ClusterNames: []string{}}, bare, true},
		"labels that match":         {&affinity{LabelSelector: production}, east, true},
		"labels that do not":        {&affinity{LabelSelector: staging}, east, false},
		"labels that are not there": {&affinity{LabelSelector: production}, bare, false},
		"a name that is listed":     {&affinity{ClusterNames: []string{"west", "east"}}, east, true},
		"a name that is not":        {&affinity{ClusterNames: []string{"west"}}, east, false},
		"excluded":                  {&affinity{ExcludeClusters: []string{"east"}}, east, false},
		"listed and excluded":       {&affinity{ClusterNames: []string{"east"}, ExcludeClusters: []string{"east"}}, east, false},
		"another excluded":          {&affinity{ExcludeClusters: []string{"west"}}, east, true},
		"all three": {&affinity{LabelSelector: production, FieldSelector: inEU, ClusterNames: []string{"east"}},
			east, true},
		"all three but the labels": {&affinity{LabelSelector: staging, FieldSelector: inEU, ClusterNames: []string{"east"}}, east,
			false},
		"all three but the field": {&affinity{LabelSelector: production, FieldSelector: inUS, ClusterNames: []string{"east"}},
			east, false},
		"all three but the name": {&affinity{LabelSelector: production, FieldSelector: inEU, ClusterNames: []string{"west"}},
			east, false},
		"a provider that is listed":               {fields("provider", "In", "other", "acme"), east, true},
		"a provider that is not":                  {fields("provider", "In", "other"), east, false},
		"a provider not to be listed":             {fields("provider", "NotIn", "other"), east, true},
		"a provider that must not be":             {fields("provider", "NotIn", "other", "acme"), east, false},
		"a provider that nobody knows":            {fields("provider", "In", "acme", ""), bare, false},
		"a provider that nobody knows, not to be": {fields("provider", "NotIn", "acme", ""), bare, true},
		"a region that is listed":                 {fields("region", "In", "eu"), east, true},
		"a region, not the provider":              {fields("region", "In", "acme"), east, false},
		"one of the zones is listed":              {fields("zone", "In", "eu-2", "us-1"), east, true},
		"none of the zones is listed":             {fields("zone", "In", "us-1"), east, false},
		"no zones to be listed":                   {fields("zone", "In", "eu-2"), bare, false},
		"none of the zones may be listed":         {fields("zone", "NotIn", "eu-2"), east, false},
		"and none is":                             {fields("zone", "NotIn", "us-1"), east, true},
		"no zones, none may be listed":            {fields("zone", "NotIn", "us-1"), bare, true},
		"all requirements must hold":              {&affinity{FieldSelector: both}, east, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := Matches(tc.affinity, tc.cluster); err != nil || got != tc.want {
				t.Errorf("Matches = %t, %v, want %t", got, err, tc.want)
			}
		})
	}
}

func TestMatchesRefuses(t *testing.T) {
	tests := map[string]struct {
		affinity *v1alpha1.ClusterAffinity
		want     string
	}{
		"a field that there is not": {fields("planet", "In", "mars"),
			`reading fieldSelector.matchExpressions[0]: key "planet" is none of provider, region, zone`},
		"an operator that there is not": {fields("zone", "Exists"),
			`reading fieldSelector.matchExpressions[0]: operator "Exists" is none of In, NotIn`},
		"labels that are none": {&v1alpha1.ClusterAffinity{LabelSelector: &metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}},
			`reading labelSelector: "Near" is not a valid label selector operator`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := Matches(tc.affinity, ClusterFacts{}); got || err == nil || err.Error() != tc.want {
				t.Errorf("Matches = %t, %v\nwant %s", got, err, tc.want)
			}
			_, err := Preferences(Aggregated, []v1alpha1.TargetClusterAutoscalingPreference{{}, {TargetCluster: tc.affinity}}, nil)
			if want := "reading clusterAutoscalingPreference[1].targetCluster: " + tc.want; err == nil || err.Error() != want {
				t.Errorf("Preferences: %v\nwant %s", err, want)
			}
		})
	}
}
