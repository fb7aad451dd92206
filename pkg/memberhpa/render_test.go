// SPDX-License-Identifier: Apache-2.0

package memberhpa

import (
	"math"
	"math/rand"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestRenderIsNamedAndLabelled(t *testing.T) {
	hpa := Render(federated(), "mine", part{Min: 2, Max: 9})
	if hpa.APIVersion != "autoscaling/v2" || hpa.Kind != "HorizontalPodAutoscaler" || hpa.Namespace != "shop" || hpa.Name != "mine" {
		t.Errorf("got %s %s %s/%s, want autoscaling/v2 HorizontalPodAutoscaler shop/mine", hpa.APIVersion, hpa.Kind, hpa.Namespace, hpa.Name)
	}
	fleettest.Same(t, "labels", map[string]string{"fleetscale.io/managed-by": "0d1c"}, hpa.Labels)
}

func TestRenderBounds(t *testing.T) {
	queue, hits := ofExternal("queue", value("30")), ofObject("main", "hits", value("30"))
	tests := map[string]struct {
		metrics []autoscalingv2.MetricSpec
		part    part
		wantMin int32
		wantMax int32
	}{
		"the part's, not the fleet's":       {nil, part{Min: 2, Max: 9}, 2, 9},
		"from zero with an External metric": {[]autoscalingv2.MetricSpec{cpu(50), queue}, part{Min: 1, Max: 9, Bumped: true}, 0, 9},
		"from zero with an Object metric":   {[]autoscalingv2.MetricSpec{hits}, part{Min: 1, Max: 9, Bumped: true}, 0, 9},
		"from zero where nothing would wake it": {[]autoscalingv2.MetricSpec{cpu(50), ofPods("requests", average("3"))},
			part{Min: 1, Max: 9, Bumped: true}, 1, 9},
		"not from zero without being told":          {[]autoscalingv2.MetricSpec{queue}, part{Min: 1, Max: 9}, 1, 9},
		"from zero with the metric that is default": {nil, part{Min: 1, Max: 9, Bumped: true}, 1, 9},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Render(federated(metrics(tc.metrics...)), "web", tc.part).Spec
			if *got.MinReplicas != tc.wantMin || got.MaxReplicas != tc.wantMax {
				t.Errorf("got %d/%d, want %d/%d", *got.MinReplicas, got.MaxReplicas, tc.wantMin, tc.wantMax)
			}
		})
	}
}

func TestRenderBehavior(t *testing.T) {
	both := func(up, down *autoscalingv2.HPAScalingRules) *autoscalingv2.HorizontalPodAutoscalerBehavior {
		return &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: up, ScaleDown: down}
	}
	defaultUp := rulesOf(0, "Max", "", podsIn(4, 15), percentIn(100, 15))
	defaultDown := func(window int32, selects autoscalingv2.ScalingPolicySelect) *autoscalingv2.HPAScalingRules {
		return rulesOf(window, selects, "", percentIn(100, 15))
	}
	ownUp, ownDown := rulesOf(30, "Min", "0.05", podsIn(1, 60)), rulesOf(600, "Min", "0.2", podsIn(2, 90))
	tests := map[string]struct {
		changes []specChange
		part    part
		want    *autoscalingv2.HorizontalPodAutoscalerBehavior
	}{
		"none stays none":            {nil, part{}, nil},
		"held without a behavior":    {nil, part{Hold: true}, both(defaultUp, defaultDown(-1, "Disabled"))},
		"waiting without a behavior": {nil, part{Window: 420 * time.Second}, both(defaultUp, defaultDown(420, "Max"))},
		"one's own":                  {[]specChange{behaving(ownUp, ownDown)}, part{}, both(ownUp, ownDown)},
		"held with one's own": {[]specChange{behaving(ownUp, ownDown)}, part{Hold: true},
			both(ownUp, rulesOf(600, "Disabled", "0.2", podsIn(2, 90)))},
		"waiting with one's own": {[]specChange{behaving(ownUp, ownDown)}, part{Window: time.Minute},
			both(ownUp, rulesOf(60, "Min", "0.2", podsIn(2, 90)))},
		"held and waiting": {[]specChange{behaving(ownUp, ownDown)}, part{Hold: true, Window: time.Minute},
			both(ownUp, rulesOf(60, "Disabled", "0.2", podsIn(2, 90)))},
		"half of one's own is completed": {[]specChange{behaving(ownUp, nil)}, part{Hold: true},
			both(ownUp, defaultDown(-1, "Disabled"))},
		"so is the other half": {[]specChange{behaving(nil, rulesOf(0, "", ""))}, part{},
			both(defaultUp, defaultDown(0, "Max"))},
		"a part of a second is one":        {nil, part{Window: 1500 * time.Millisecond}, both(defaultUp, defaultDown(2, "Max"))},
		"an hour":                          {nil, part{Window: time.Hour}, both(defaultUp, defaultDown(3600, "Max"))},
		"nobody waits longer than an hour": {nil, part{Window: time.Hour + time.Second}, both(defaultUp, defaultDown(3600, "Max"))},
		"not even forever":                 {nil, part{Window: math.MaxInt64}, both(defaultUp, defaultDown(3600, "Max"))},
		"a window below zero is none":      {nil, part{Window: -time.Second}, nil},
		"a spec that never scales down, and a hold": {[]specChange{behaving(nil, rulesOf(-1, "Disabled", ""))}, part{Hold: true},
			both(defaultUp, defaultDown(-1, "Disabled"))},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.part.Min, tc.part.Max = 1, 5
			fleettest.Same(t, "", tc.want, Render(federated(tc.changes...), "web", tc.part).Spec.Behavior)
		})
	}
}

func TestRenderKeepsTheRestOfTheSpec(t *testing.T) {
	for name, changes := range map[string][]specChange{
		"metrics":    {metrics(cpu(50), ofExternal("queue", average("30")), ofContainer("memory", "app", average("1Gi")))},
		"no metrics": {metrics()},
	} {
		t.Run(name, func(t *testing.T) {
			f := federated(changes...)
			want := f.DeepCopy()
			v1alpha1.DefaultFederatedHPA(want)
			want.Spec.MinReplicas, want.Spec.MaxReplicas = new(int32(2)), 3
			fleettest.Same(t, "", want.Spec.HorizontalPodAutoscalerSpec, Render(f, "web", part{Min: 2, Max: 3}).Spec)
		})
	}
}

func TestRenderLeavesOutWhatIsForTheFleet(t *testing.T) {
	in := func(key string) metav1.LabelSelectorRequirement {
		return metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{"x"}}
	}
	tests := map[string]struct{ selector, want *metav1.LabelSelector }{
		"none":         {nil, nil},
		"an empty one": {&metav1.LabelSelector{}, &metav1.LabelSelector{}},
		"labels of ours": {
			&metav1.LabelSelector{MatchLabels: map[string]string{"fleetscale.io/merge": "sum", "fleetscale.io/partial": "allow",
				"fleetscale.io/cluster": "east"}}, nil,
		},
		"one label of ours": {&metav1.LabelSelector{MatchLabels: map[string]string{"fleetscale.io/merge": "sum"}}, nil},
		"labels of ours among others": {
			&metav1.LabelSelector{MatchLabels: map[string]string{"fleetscale.io/merge": "sum", "queue": "orders"}},
			&metav1.LabelSelector{MatchLabels: map[string]string{"queue": "orders"}},
		},
		"expressions": {
			&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{in("fleetscale.io/cluster"), in("queue"),
				in("fleetscale.io/merge")}},
			&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{in("queue")}},
		},
		"labels that look like ours": {
			&metav1.LabelSelector{MatchLabels: map[string]string{"fleetscale.io/team": "red"}},
			&metav1.LabelSelector{MatchLabels: map[string]string{"fleetscale.io/team": "red"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pods, object, external := ofPods("requests", average("3")), ofObject("main", "hits", value("30")), ofExternal("queue", average("30"))
			pods.Pods.Metric.Selector, object.Object.Metric.Selector, external.External.Metric.Selector = tc.selector, tc.selector, tc.selector
			f := federated(metrics(cpu(50), pods, object, external))
			before := f.DeepCopy()
			got := Render(f, "web", part{Min: 1, Max: 9}).Spec.Metrics
			for _, selector := range []*metav1.LabelSelector{got[1].Pods.Metric.Selector, got[2].Object.Metric.Selector,
				got[3].External.Metric.Selector} {
				fleettest.Same(t, "", tc.want, selector, cmpopts.EquateEmpty())
			}
			if diff := cmp.Diff(before, f); diff != "" {
				t.Errorf("the FederatedHPA was changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestRenderSharesNothing(t *testing.T) {
	for seed := range int64(200) {
		f, name, part := anyFederated(rand.New(rand.NewSource(seed)))
		before := f.DeepCopy()
		hpa := Render(f, name, part)
		*hpa.Spec.MinReplicas = 77
		hpa.Spec.Metrics[0].Type = "changed"
		for _, rules := range directions(hpa.Spec.Behavior) {
			rules.Policies[0].Value = 77
			*rules.SelectPolicy = "changed"
		}
		if diff := fleettest.Diff(before, f); diff != "" {
			t.Fatalf("seed %d: writing to the result changed the FederatedHPA (-before +after):\n%s", seed, diff)
		}
	}
}
