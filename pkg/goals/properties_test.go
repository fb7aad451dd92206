// SPDX-License-Identifier: Apache-2.0

package goals

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

type random struct{ *rand.Rand }

func (r random) amount() int64 {
	switch r.IntN(12) {
	case 0:
		return 0
	case 1:
		return math.MaxInt64 - r.Int64N(9)
	case 2:
		return 1 + r.Int64N(3)
	}
	return r.Int64N(1 << (1 + r.IntN(40)))
}

func (r random) amounts() Amounts { return Amounts{r.amount(), r.amount()} }

func (r random) template() []Container {
	var all []Container
	for _, name := range []string{"app", "log", "net"}[:r.IntN(4)] {
		all = append(all, Container{name, r.amounts(), r.amounts()})
	}
	return all
}

func (r random) metric() autoscalingv2.MetricSpec {
	name := []corev1.ResourceName{"cpu", "memory"}[r.IntN(2)]
	target := autoscalingv2.MetricTarget{Type: "Utilization", AverageUtilization: new(int32(1 + r.IntN(150)))}
	if r.IntN(20) == 0 {
		*target.AverageUtilization = math.MaxInt32
	}
	if r.IntN(4) == 0 {
		target = autoscalingv2.MetricTarget{Type: "AverageValue", AverageValue: resource.NewMilliQuantity(1+r.Int64N(5000), resource.DecimalSI)}
	}
	if r.IntN(2) == 0 {
		return autoscalingv2.MetricSpec{Type: "Resource", Resource: &autoscalingv2.ResourceMetricSource{Name: name, Target: target}}
	}
	return autoscalingv2.MetricSpec{Type: "ContainerResource", ContainerResource: &autoscalingv2.ContainerResourceMetricSource{Name: name,
		Container: []string{"app", "log"}[r.IntN(2)], Target: target}}
}

// sizing sets what concerns sizes alone.
func (r random) sizing(s *v1alpha1.MultidimPodAutoscalerSpec) {
	s.Constraints.ContainerControlledResources = [][]corev1.ResourceName{nil, {"cpu"}, {"memory"}, {"cpu", "memory"}}[r.IntN(4)]
	s.Constraints.Container = nil
	for _, name := range []string{"app", "*"} {
		if r.IntN(2) == 0 {
			c := v1alpha1.ContainerConstraint{Name: name, Mode: []v1alpha1.ContainerMode{"", "Auto", "Off"}[r.IntN(3)]}
			if r.IntN(2) == 0 {
				c.Requests.MaxAllowed = v1alpha1.Size{CPU: resource.NewMilliQuantity(1+r.Int64N(9000), resource.DecimalSI),
					Memory: resource.NewQuantity(1+r.Int64N(1<<40), resource.BinarySI)}
			}
			s.Constraints.Container = append(s.Constraints.Container, c)
		}
	}
}

func (r random) spec() *v1alpha1.MultidimPodAutoscalerSpec {
	s := &v1alpha1.MultidimPodAutoscalerSpec{Goals: &v1alpha1.Goals{}}
	s.Goals.UtilizationBase = []v1alpha1.UtilizationBase{"", "TemplateRequest", "MaxAllowed", "LiveRequest"}[r.IntN(4)]
	for range 1 + r.IntN(3) {
		s.Goals.Metrics = append(s.Goals.Metrics, r.metric())
	}
	s.Constraints.Global = &v1alpha1.GlobalConstraints{MaxReplicas: 9}
	r.sizing(s)
	return s
}

func seeds(t *testing.T, each func(t *testing.T, r random)) {
	t.Helper()
	for seed := range uint64(3000) {
		each(t, random{rand.New(rand.NewPCG(seed, 0))})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// goalOf is a metric's resource, container and target.
func goalOf(m autoscalingv2.MetricSpec) (corev1.ResourceName, string, autoscalingv2.MetricTarget) {
	if m.Resource != nil {
		return m.Resource.Name, "", m.Resource.Target
	}
	return m.ContainerResource.Name, m.ContainerResource.Container, m.ContainerResource.Target
}

// With the template's requests as base, nothing that concerns sizes alone changes the FederatedHPA.
func TestSizingDoesNotMoveReplicas(t *testing.T) {
	seeds(t, func(t *testing.T, r random) {
		spec, template := r.spec(), r.template()
		spec.Goals.UtilizationBase = v1alpha1.BaseTemplateRequest
		one := Child(spec, template)
		r.sizing(spec)
		spec.Scope, spec.Policy.UpdateMode = v1alpha1.ScopePerCluster, "Other"
		for i := range template {
			template[i].Limits = r.amounts()
		}
		if diff := cmp.Diff(one.Spec, Child(spec, template).Spec); diff != "" {
			t.Errorf("(-before +after):\n%s", diff)
		}
	})
}

// No goal of the FederatedHPA can be moved by sizes, and each on something that is sized has a floor.
func TestNoGoalIsAUtilizationOfWhatIsSized(t *testing.T) {
	translated, floors := 0, 0
	seeds(t, func(t *testing.T, r random) {
		spec, template := r.spec(), r.template()
		got := Child(spec, template)
		refused := slices.ContainsFunc(got.Faults, func(f Fault) bool { return f.Reason != HiddenByLimit })
		if refused == (got.Spec != nil) {
			t.Errorf("spec %v with faults %v", got.Spec, got.Faults)
		}
		if got.Spec == nil {
			return
		}
		for _, m := range got.Spec.Metrics {
			name, container, target := goalOf(m)
			sized := false
			for _, c := range template {
				sized = sized || (container == "" || c.Name == container) && spec.Sized(c.Name, name)
			}
			if utilization := target.AverageUtilization != nil; utilization &&
				(sized || spec.Goals.UtilizationBase != v1alpha1.BaseLiveRequest) {
				t.Errorf("%s of %q stays a utilization", name, container)
			} else if !utilization {
				translated++
			}
			floor := slices.IndexFunc(got.Floors, func(f Floor) bool { return f.Resource == name && f.Container == container })
			if sized != (floor >= 0) {
				t.Errorf("%s of %q: sized is %v, floors are %v", name, container, sized, got.Floors)
			}
			if floor >= 0 {
				floors++
				if use := got.Floors[floor].Use; use < 1 || use > amount(name, target.AverageValue) {
					t.Errorf("%s of %q has the floor %d and the goal %s", name, container, use, target.AverageValue)
				}
			}
		}
	})
	if translated < 1000 || floors < 500 {
		t.Errorf("only %d goals and %d floors came up", translated, floors)
	}
}

// A goal is that percentage of the requests, counted without bounds, less what no unit can tell.
func TestGoalIsTheShareOfTheBase(t *testing.T) {
	seeds(t, func(t *testing.T, r random) {
		spec, template := r.spec(), r.template()
		spec.Goals.UtilizationBase, spec.Constraints.Container = v1alpha1.BaseTemplateRequest, nil
		got := Child(spec, template)
		if got.Spec == nil {
			return
		}
		for i, m := range spec.Goals.Metrics {
			name, container, target := goalOf(m)
			if target.AverageUtilization == nil {
				continue
			}
			share := new(big.Int)
			for _, c := range template {
				if container == "" || c.Name == container {
					share.Add(share, big.NewInt(min(most, c.Requests.of(name))))
				}
			}
			if share.Cmp(big.NewInt(most)) > 0 {
				share.SetInt64(most) // no Pod has more
			}
			share.Mul(share, big.NewInt(int64(*target.AverageUtilization)))
			share.Div(share, big.NewInt(100))
			want := int64(most)
			if share.Cmp(big.NewInt(most)) < 0 {
				want = max(1, share.Int64())
			}
			_, _, goal := goalOf(got.Spec.Metrics[i])
			if use := amount(name, goal.AverageValue); use != want {
				t.Errorf("%d %% of %s is %d, want %d", *target.AverageUtilization, name, use, want)
			}
		}
	})
}

// The order of the containers says nothing; that of the goals, which comes first.
func TestOrderDoesNotShow(t *testing.T) {
	seeds(t, func(t *testing.T, r random) {
		spec, template := r.spec(), r.template()
		one := Child(spec, template)
		r.Shuffle(len(template), func(i, j int) { template[i], template[j] = template[j], template[i] })
		other := Child(spec, template)
		reasons := func(r Result) (all []string) {
			for _, f := range r.Faults {
				all = append(all, fmt.Sprint(f.Metric))
			}
			return all
		}
		if diff := cmp.Diff(one.Spec, other.Spec) + cmp.Diff(one.Floors, other.Floors) + cmp.Diff(reasons(one), reasons(other)); diff != "" {
			t.Errorf("containers (-before +after):\n%s", diff)
		}
		slices.Reverse(spec.Goals.Metrics)
		if diff := cmp.Diff(other.Floors, Child(spec, template).Floors); diff != "" {
			t.Errorf("goals (-before +after):\n%s", diff)
		}
	})
}
