// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestDefaultMultidimPodAutoscaler(t *testing.T) {
	type spec = MultidimPodAutoscalerSpec
	cautious := UpdatePolicy{UpdateMode: UpdateModeOff, MinReplicas: new(int32(2)), MaxUnavailable: new(intstr.FromString("25%")),
		EvictOn: EvictOnAny, ActAfterSeconds: new(int32(0)), Rollout: RolloutOneByOne}
	written := UpdatePolicy{UpdateMode: UpdateModeAuto, MinReplicas: new(int32(1)), MaxUnavailable: new(intstr.FromInt32(3)),
		EvictOn: EvictOnNever, ActAfterSeconds: new(int32(60)), Rollout: RolloutAllClusters}
	filled := func(change func(*spec)) spec {
		s := spec{Policy: cautious, Scope: ScopeFleet}
		change(&s)
		return s
	}
	tests := map[string]struct{ given, want spec }{
		"nothing given: sizes are recommended for the fleet, and no more": {spec{}, filled(func(*spec) {})},
		"goals": {
			spec{Goals: &Goals{}, Constraints: Constraints{Global: &GlobalConstraints{MaxReplicas: 9}}},
			filled(func(s *spec) {
				s.Goals = &Goals{UtilizationBase: BaseTemplateRequest}
				s.Constraints.Global = &GlobalConstraints{MinReplicas: new(int32(1)), MaxReplicas: 9}
			})},
		"what a person wrote holds": {
			spec{Scope: ScopePerCluster, Mode: ModePaused, Goals: &Goals{UtilizationBase: BaseMaxAllowed}, Policy: written,
				Constraints: Constraints{Global: &GlobalConstraints{MinReplicas: new(int32(3)), MaxReplicas: 9}}},
			spec{Scope: ScopePerCluster, Mode: ModePaused, Goals: &Goals{UtilizationBase: BaseMaxAllowed},
				Policy:      written,
				Constraints: Constraints{Global: &GlobalConstraints{MinReplicas: new(int32(3)), MaxReplicas: 9}}}},
		"a container": {
			spec{Constraints: Constraints{Container: []ContainerConstraint{{Name: "a"},
				{Name: "b", Mode: ContainerOff, TargetPercentile: TargetPercentile{CPU: new(int32(50))}, MarginPercent: new(int32(0))}}}},
			filled(func(s *spec) {
				s.Constraints.Container = []ContainerConstraint{
					{Name: "a", Mode: ContainerAuto, TargetPercentile: TargetPercentile{CPU: new(int32(90)), Memory: new(int32(90))},
						MarginPercent: new(int32(15))},
					{Name: "b", Mode: ContainerOff, TargetPercentile: TargetPercentile{CPU: new(int32(50)), Memory: new(int32(90))},
						MarginPercent: new(int32(0))}}
			})},
		"what is passed to the FederatedHPA is filled in as there": {
			spec{FederatedHPAAssignment: &FederatedHPAAssignment{}, ScalingToZero: new(true)},
			filled(func(s *spec) {
				s.ScalingToZero, s.ScalingToZeroMode = new(true), ScalingToZeroController
				s.AutoscaleMultiClusterDelay, s.DeletionPolicy = new(int32(60)), DeletionPolicyDelete
				s.FederatedHPAAssignment = &FederatedHPAAssignment{FederatedHPAAssignmentType: AssignmentDuplicated,
					DistributionOrder: DistributionMaxFirst}
			})},
		"the other mode, too": {
			spec{ReplicaDistribution: &ReplicaDistribution{}, AutoscaleMultiClusterDelay: new(int32(0))},
			filled(func(s *spec) {
				s.AutoscaleMultiClusterDelay = new(int32(0))
				s.ReplicaDistribution = &ReplicaDistribution{Type: DistributionStaticWeighted}
			})},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := &MultidimPodAutoscaler{Spec: tc.given}
			DefaultMultidimPodAutoscaler(got)
			fleettest.Same(t, "", tc.want, got.Spec)
		})
	}
}

// A MultidimPodAutoscaler makes a FederatedHPA with its own values, so these need the same defaults in both.
func TestWhatIsPassedOnHasTheDefaultsOfAFederatedHPA(t *testing.T) {
	for seed := range uint64(500) {
		f := randomFederatedHPA(seed)
		m := &MultidimPodAutoscaler{Spec: MultidimPodAutoscalerSpec{
			Constraints: Constraints{Global: &GlobalConstraints{MinReplicas: f.Spec.MinReplicas, MaxReplicas: f.Spec.MaxReplicas,
				Behavior: f.Spec.Behavior.DeepCopy()}},
			AutoscaleMultiClusterDelay: f.Spec.AutoscaleMultiClusterDelay, ScalingToZero: f.Spec.ScalingToZero,
			ReplicaDistribution: f.Spec.ReplicaDistribution.DeepCopy(), FederatedHPAAssignment: f.Spec.FederatedHPAAssignment.DeepCopy(),
		}}
		DefaultFederatedHPA(f)
		DefaultMultidimPodAutoscaler(m)
		once := m.DeepCopy()
		DefaultMultidimPodAutoscaler(m)
		if diff := cmp.Diff(once, m); diff != "" {
			t.Errorf("seed %d: once more changes (-once +twice):\n%s", seed, diff)
		}
		got := f.DeepCopy()
		got.Spec.MinReplicas, got.Spec.Behavior = m.Spec.Constraints.Global.MinReplicas, m.Spec.Constraints.Global.Behavior
		got.Spec.AutoscaleMultiClusterDelay, got.Spec.ScalingToZeroMode = m.Spec.AutoscaleMultiClusterDelay, m.Spec.ScalingToZeroMode
		got.Spec.DeletionPolicy, got.Spec.ReplicaDistribution = m.Spec.DeletionPolicy, m.Spec.ReplicaDistribution
		got.Spec.FederatedHPAAssignment = m.Spec.FederatedHPAAssignment
		if diff := cmp.Diff(f, got); diff != "" {
			t.Errorf("seed %d (-FederatedHPA +MultidimPodAutoscaler):\n%s", seed, diff)
		}
	}
}

func TestWhatIsSized(t *testing.T) {
	value := resource.MustParse("200m")
	byValue := cpu(0)
	byValue.Resource.Target = autoscalingv2.MetricTarget{Type: "AverageValue", AverageValue: &value}
	memoryOf := func(container string) autoscalingv2.MetricSpec {
		return autoscalingv2.MetricSpec{Type: "ContainerResource", ContainerResource: &autoscalingv2.ContainerResourceMetricSource{
			Name: "memory", Container: container, Target: cpu(70).Resource.Target}}
	}
	goals := func(metrics ...autoscalingv2.MetricSpec) *Goals { return &Goals{Metrics: metrics} }
	cpuToo := Constraints{ContainerControlledResources: []corev1.ResourceName{"memory", "cpu"}}
	containers := func(all ...ContainerConstraint) Constraints { return Constraints{Container: all} }
	only := func(name string) ContainerConstraint {
		return ContainerConstraint{Name: name, ControlledValues: ControlsRequestsOnly}
	}
	off := func(name string) ContainerConstraint { return ContainerConstraint{Name: name, Mode: ContainerOff} }
	app := ContainerConstraint{Name: "app"}
	tests := map[string]struct {
		goals       *Goals
		constraints Constraints
		resources   string
		app         string // of the container app: what is sized, with what limits
	}{
		"no goals: both":                                 {nil, Constraints{}, "[cpu memory]", "cpu+limit memory+limit"},
		"cpu is scaled by replicas":                      {goals(cpu(60)), Constraints{}, "[memory]", "memory+limit"},
		"memory of a container is":                       {goals(memoryOf("app")), Constraints{}, "[cpu]", "cpu+limit"},
		"both are":                                       {goals(cpu(60), memoryOf("app")), Constraints{}, "[]", ""},
		"a goal by value keeps a limit alone":            {goals(byValue), Constraints{}, "[cpu memory]", "cpu memory+limit"},
		"both ways, if a person wants so, but the limit": {goals(cpu(60)), cpuToo, "[memory cpu]", "cpu memory+limit"},
		"another container's goal keeps no limit":        {goals(memoryOf("log")), cpuToo, "[memory cpu]", "cpu+limit memory+limit"},
		"its own goal does":                              {goals(memoryOf("app")), cpuToo, "[memory cpu]", "cpu+limit memory"},
		"requests only":                                  {nil, containers(only("*")), "[cpu memory]", "cpu memory"},
		"a container that is off":                        {nil, containers(off("app")), "[cpu memory]", ""},
		"all are off":                                    {nil, containers(off("*")), "[cpu memory]", ""},
		"all are off, but it":                            {nil, containers(app, off("*")), "[cpu memory]", "cpu+limit memory+limit"},
		"it is off, and others are not":                  {nil, containers(ContainerConstraint{Name: "*"}, off("app")), "[cpu memory]", ""},
		"another is off":                                 {nil, containers(off("log")), "[cpu memory]", "cpu+limit memory+limit"},
		"an entry of its own takes nothing from the rest": {nil, containers(app, only("*")),
			"[cpu memory]", "cpu+limit memory+limit"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := &MultidimPodAutoscalerSpec{Goals: tc.goals, Constraints: tc.constraints}
			if got := fmt.Sprint(s.ControlledResources()); got != tc.resources {
				t.Errorf("resources %s, want %s", got, tc.resources)
			}
			sized, between := "", ""
			for _, name := range []corev1.ResourceName{"cpu", "memory"} {
				if !s.Sized("app", name) {
					continue
				}
				sized += between + string(name)
				if s.SizesLimits("app", name) {
					sized += "+limit"
				}
				between = " "
			}
			if sized != tc.app {
				t.Errorf("of app %q is sized, want %q", sized, tc.app)
			}
		})
	}
}

// What holds for a container is complete, and asking for it leaves the spec as it is.
func TestContainer(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		s := &MultidimPodAutoscalerSpec{}
		for _, name := range []string{"a", AnyContainer, "b"} {
			if random.IntN(2) == 0 {
				s.Constraints.Container = append(s.Constraints.Container, ContainerConstraint{Name: name, Mode: ContainerOff})
			}
		}
		before := s.DeepCopy()
		got := s.Container("a")
		if got.Name != "a" || got.Mode == "" || *got.TargetPercentile.CPU != 90 || *got.TargetPercentile.Memory != 90 ||
			*got.MarginPercent != 15 {
			t.Errorf("%+v gives %+v", before.Constraints.Container, got)
		}
		if diff := cmp.Diff(before, s); diff != "" {
			t.Errorf("the spec changed:\n%s", diff)
		}
	}
}

func TestSizeOf(t *testing.T) {
	s := Size{CPU: resource.NewQuantity(1, resource.DecimalSI), Memory: resource.NewQuantity(2, resource.BinarySI)}
	if s.Of("cpu") != s.CPU || s.Of("memory") != s.Memory || s.Of("pods") != nil || (Size{}).Of("cpu") != nil {
		t.Error("Of mixes the resources up")
	}
}
