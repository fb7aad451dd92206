// SPDX-License-Identifier: Apache-2.0

package explanation

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// stored is the object after a decision on the question.
func stored(q replicas.Question) *v1alpha1.FederatedHPA {
	d := replicas.Decide(q)
	object := &v1alpha1.FederatedHPA{}
	object.Namespace, object.Name = "shop", "cart"
	object.Spec.HorizontalPodAutoscalerSpec = *q.Spec.DeepCopy()
	if d.Rescale {
		d = d.Scaled(q.Now)
	}
	object.Status.Explanation = Of(decided(q))
	object.Status.Stabilization = d.State.Memory(&q.Spec, q.Options, q.Now)
	return object
}

// bare is an explanation without what another decision by the same sums does not have.
func bare(e *v1alpha1.DecisionExplanation) *v1alpha1.DecisionExplanation {
	e = e.DeepCopy()
	for i := range e.Metrics {
		e.Metrics[i].Clusters, e.Metrics[i].Others = nil, nil
	}
	return e
}

// What is decided again by the same spec is the same; and by another one what would have been decided with all that the sums stand for.
func FuzzAgain(f *testing.F) {
	for seed := range fleettest.Rounds(2000, 10) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 3))
		q := randomQuestion(r)
		object := stored(q)
		if basis := replicas.Basis(object.Status.Explanation.Basis); basis != replicas.BasisMetrics {
			return
		}
		before := object.Spec.DeepCopy()
		again, _, err := Again(object, before)
		if err != nil {
			if !strings.Contains(err.Error(), "many different amounts") {
				t.Fatal(err)
			}
			return
		}
		if diff := cmp.Diff(bare(object.Status.Explanation), again); diff != "" {
			t.Fatalf("again (-first +again):\n%s", diff)
		}
		change(r, &object.Spec.HorizontalPodAutoscalerSpec)
		again, caveats, err := Again(object, before)
		if err != nil {
			if !strings.Contains(err.Error(), "many different amounts") && !strings.Contains(err.Error(), "as it could not be used") {
				t.Fatal(err)
			}
			return
		}
		q.Spec = object.Spec.HorizontalPodAutoscalerSpec
		if want := Of(decided(q)); len(caveats) == 0 {
			if diff := cmp.Diff(bare(want), again); diff != "" {
				t.Fatalf("by another spec (-want +got):\n%s", diff)
			}
		}
	})
}

func change(r *rand.Rand, spec *autoscalingv2.HorizontalPodAutoscalerSpec) {
	spec.MaxReplicas = spec.MaxReplicas/2 + r.Int32N(60)
	switch target := v1alpha1.TargetOf(&spec.Metrics[0]); {
	case target.AverageUtilization != nil:
		target.AverageUtilization = new(r.Int32N(200) + 1)
	case target.AverageValue != nil:
		target.AverageValue = resource.NewMilliQuantity(r.Int64N(3000)+1, resource.DecimalSI)
	case target.Value != nil:
		target.Value = resource.NewMilliQuantity(r.Int64N(90_000)+1, resource.DecimalSI)
	}
}

func TestAgainSaysWhatIsNotKnown(t *testing.T) {
	q := randomQuestion(rand.New(rand.NewPCG(19, 1))) // a queue, and cpu twice
	tests := map[string]struct {
		change func(*v1alpha1.FederatedHPA)
		want   string
	}{
		"another metric": {func(o *v1alpha1.FederatedHPA) { o.Spec.Metrics[1].Resource.Name = "memory" },
			"spec.metrics[1]: what another metric would say is not known; only its target can be changed"},
		"another kind of target": {func(o *v1alpha1.FederatedHPA) {
			o.Spec.Metrics[0].External.Target = autoscalingv2.MetricTarget{Type: "Value", Value: new(resource.MustParse("1"))}
		}, "spec.metrics[0]: sums for a target of the kind Share do not tell what one of the kind Value asks for"},
		"another workload": {func(o *v1alpha1.FederatedHPA) { o.Spec.ScaleTargetRef.Name = "basket" },
			"spec.scaleTargetRef: what the decision would be by another one is not known; minReplicas, maxReplicas, behavior and " +
				"targets of metrics can be changed"},
		"another mode": {func(o *v1alpha1.FederatedHPA) { o.Spec.Mode = v1alpha1.ModeObserve },
			"spec.mode: what the decision would be by another one is not known; minReplicas, maxReplicas, behavior and " +
				"targets of metrics can be changed"},
		"another target of a metric that could not be used": {func(o *v1alpha1.FederatedHPA) {
			o.Status.Explanation.Metrics[1] = v1alpha1.MetricExplanation{Index: 1, Name: "cpu", Error: "no metrics of cpu"}
			o.Spec.Metrics[1].Resource.Target.AverageUtilization = new(int32(7))
		}, "spec.metrics[1]: what this metric would say is not known, as it could not be used: no metrics of cpu"},
		"no explanation": {func(o *v1alpha1.FederatedHPA) { o.Status.Explanation = nil },
			"status.explanation is not there: the controller writes it with its next decision in central mode"},
		"one more": {func(o *v1alpha1.FederatedHPA) { o.Spec.Metrics = append(o.Spec.Metrics, o.Spec.Metrics[0]) },
			"spec.metrics: what a metric that was not asked would say is not known"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			object := stored(q)
			before := object.Spec.DeepCopy()
			tc.change(object)
			if _, _, err := Again(object, before); err == nil || err.Error() != tc.want {
				t.Errorf("got %v\nwant %s", err, tc.want)
			}
		})
	}
}

// An autoscaler that is paused keeps its explanation while its spec is edited: what it says is of the former targets.
func TestAgainWithAnExplanationOfAFormerSpec(t *testing.T) {
	object := stored(randomQuestion(rand.New(rand.NewPCG(19, 1))))
	object.Spec.Metrics[0].External.Target = autoscalingv2.MetricTarget{Type: "Value", Value: new(resource.MustParse("1"))}
	before := object.Spec.DeepCopy()
	object.Spec.MaxReplicas++
	const want = "spec.metrics[0]: sums for a target of the kind Share do not tell what one of the kind Value asks for"
	if _, _, err := Again(object, before); err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// The controller's tolerance shows unless the spec has its own: one that comes to count is said to be assumed.
func TestAgainSaysThatAToleranceIsAssumed(t *testing.T) {
	own := func() *autoscalingv2.HPAScalingRules {
		return &autoscalingv2.HPAScalingRules{Tolerance: new(resource.MustParse("50m"))}
	}
	tests := map[string]struct {
		before, now autoscalingv2.HorizontalPodAutoscalerBehavior
		want        bool
	}{
		"none, as before":            {},
		"both, as before":            {before: bothWays(own()), now: bothWays(own())},
		"both no more":               {before: bothWays(own()), want: true},
		"one of both no more":        {before: bothWays(own()), now: autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: own()}, want: true},
		"one, which shows the other": {before: autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: own()}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			q := randomQuestion(rand.New(rand.NewPCG(19, 1))) // a queue, and cpu twice
			q.Spec.Behavior = &tc.before
			object := stored(q)
			before := object.Spec.DeepCopy()
			object.Spec.Behavior = &tc.now
			_, caveats, err := Again(object, before)
			got := slices.ContainsFunc(caveats, func(caveat string) bool { return strings.Contains(caveat, "taken to be its default, 0.1") })
			if err != nil || got != tc.want {
				t.Errorf("caveats %q, error %v", caveats, err)
			}
		})
	}
}

func bothWays(rules *autoscalingv2.HPAScalingRules) autoscalingv2.HorizontalPodAutoscalerBehavior {
	return autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: rules, ScaleDown: rules}
}
