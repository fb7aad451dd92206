// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestDefaultFederatedHPA(t *testing.T) {
	type spec = FederatedHPASpec
	hpa := func(change func(*autoscalingv2.HorizontalPodAutoscalerSpec)) spec {
		s := spec{}
		s.MinReplicas = new(int32(1))
		s.Metrics = []autoscalingv2.MetricSpec{cpu(80)}
		if change != nil {
			change(&s.HorizontalPodAutoscalerSpec)
		}
		return s
	}
	behavior := func(up, down *autoscalingv2.HPAScalingRules) spec {
		return hpa(func(s *autoscalingv2.HorizontalPodAutoscalerSpec) {
			s.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: up, ScaleDown: down}
		})
	}
	up := autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(0)), SelectPolicy: new(autoscalingv2.MaxChangePolicySelect),
		Policies: []autoscalingv2.HPAScalingPolicy{{Type: "Pods", Value: 4, PeriodSeconds: 15}, {Type: "Percent", Value: 100, PeriodSeconds: 15}}}
	down := autoscalingv2.HPAScalingRules{SelectPolicy: new(autoscalingv2.MaxChangePolicySelect),
		Policies: []autoscalingv2.HPAScalingPolicy{{Type: "Percent", Value: 100, PeriodSeconds: 15}}}
	ours := func(change func(*spec)) spec {
		s := hpa(nil)
		change(&s)
		return s
	}
	tests := map[string]struct{ given, want spec }{
		"nothing given: one replica at least, and CPU at 80 %": {spec{}, hpa(nil)},
		"zero replicas are kept": {
			ours(func(s *spec) { s.MinReplicas = new(int32(0)) }), ours(func(s *spec) { s.MinReplicas = new(int32(0)) })},
		"an empty list of metrics is none": {
			ours(func(s *spec) { s.Metrics = []autoscalingv2.MetricSpec{} }), hpa(nil)},
		"a metric is kept": {
			ours(func(s *spec) { s.Metrics = []autoscalingv2.MetricSpec{cpu(5)} }),
			ours(func(s *spec) { s.Metrics = []autoscalingv2.MetricSpec{cpu(5)} })},
		"an empty behavior is filled in both directions": {behavior(nil, nil), behavior(&up, &down)},
		"one direction fills the other": {
			behavior(nil, &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(7))}),
			behavior(&up, &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(7)), SelectPolicy: down.SelectPolicy,
				Policies: down.Policies})},
		"an empty list of policies is kept": {
			behavior(&autoscalingv2.HPAScalingRules{Policies: []autoscalingv2.HPAScalingPolicy{}}, nil),
			behavior(&autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(0)), SelectPolicy: up.SelectPolicy,
				Policies: []autoscalingv2.HPAScalingPolicy{}}, &down)},
		"distributed mode": {
			ours(func(s *spec) { s.FederatedHPAAssignment = &FederatedHPAAssignment{} }),
			ours(func(s *spec) {
				s.AutoscaleMultiClusterDelay, s.DeletionPolicy = new(int32(60)), DeletionPolicyDelete
				s.FederatedHPAAssignment = &FederatedHPAAssignment{FederatedHPAAssignmentType: AssignmentDuplicated,
					DistributionOrder: DistributionMaxFirst}
			})},
		"an order for scaling down only where there are priorities, numbers only for a rebalance that is there": {
			ours(func(s *spec) {
				s.ScalingToZero = new(true)
				s.FederatedHPAAssignment = &FederatedHPAAssignment{FederatedHPAAssignmentType: AssignmentPrioritized, Rebalance: &Rebalance{}}
			}),
			ours(func(s *spec) {
				s.ScalingToZero, s.ScalingToZeroMode = new(true), ScalingToZeroController
				s.AutoscaleMultiClusterDelay, s.DeletionPolicy = new(int32(60)), DeletionPolicyDelete
				s.FederatedHPAAssignment = &FederatedHPAAssignment{FederatedHPAAssignmentType: AssignmentPrioritized,
					DistributionOrder: DistributionMaxFirst,
					ScaleDownOrder:    ScaleDownStrict, Rebalance: &Rebalance{IntervalSeconds: new(int32(300)), MinUtilizationPercent: new(int32(50))}}
			})},
		"central mode that distributes": {
			ours(func(s *spec) { s.ReplicaDistribution = &ReplicaDistribution{} }),
			ours(func(s *spec) {
				s.AutoscaleMultiClusterDelay = new(int32(60))
				s.ReplicaDistribution = &ReplicaDistribution{Type: DistributionStaticWeighted}
			})},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := &FederatedHPA{Spec: tc.given}
			DefaultFederatedHPA(got)
			fleettest.Same(t, "", tc.want, got.Spec)
		})
	}
}

func TestRebalanceOrDefault(t *testing.T) {
	tests := map[string]struct {
		given FederatedHPAAssignment
		want  RebalanceStrategy
	}{
		"duplicated bounds stay": {FederatedHPAAssignment{FederatedHPAAssignmentType: AssignmentDuplicated}, RebalanceNone},
		"given weights stay":     {FederatedHPAAssignment{FederatedHPAAssignmentType: AssignmentStaticWeighted}, RebalanceNone},
		"dynamic weights follow": {FederatedHPAAssignment{FederatedHPAAssignmentType: AssignmentDynamicWeighted}, RebalanceCapacity},
		"few clusters follow":    {FederatedHPAAssignment{FederatedHPAAssignmentType: AssignmentAggregated}, RebalanceCapacity},
		"priorities follow":      {FederatedHPAAssignment{FederatedHPAAssignmentType: AssignmentPrioritized}, RebalanceCapacity},
		"what a person wrote holds": {FederatedHPAAssignment{FederatedHPAAssignmentType: AssignmentStaticWeighted,
			Rebalance: &Rebalance{Strategy: RebalanceDemand}}, RebalanceDemand},
		"None is a strategy, not an empty": {FederatedHPAAssignment{FederatedHPAAssignmentType: AssignmentAggregated,
			Rebalance: &Rebalance{Strategy: RebalanceNone}}, RebalanceNone},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			given := tc.given.DeepCopy()
			want := Rebalance{Strategy: tc.want, IntervalSeconds: new(int32(300)), MinUtilizationPercent: new(int32(50))}
			fleettest.Same(t, "", want, tc.given.RebalanceOrDefault())
			if diff := cmp.Diff(*given, tc.given); diff != "" {
				t.Errorf("the assignment changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestDefaultCronFederatedHPA(t *testing.T) {
	got := &CronFederatedHPA{Spec: CronFederatedHPASpec{Rules: []CronFederatedHPARule{
		{RuleName: "old word"},
		{Name: "kept", RuleName: "other", Suspend: new(true), SuccessfulHistoryLimit: new(int32(0)), FailedHistoryLimit: new(int32(9))},
	}}}
	DefaultCronFederatedHPA(got)
	want := []CronFederatedHPARule{
		{Name: "old word", RuleName: "old word", Suspend: new(false), SuccessfulHistoryLimit: new(int32(3)), FailedHistoryLimit: new(int32(3))},
		{Name: "kept", RuleName: "other", Suspend: new(true), SuccessfulHistoryLimit: new(int32(0)), FailedHistoryLimit: new(int32(9))},
	}
	fleettest.Same(t, "", want, got.Spec.Rules)
}

// FuzzDefaultsOnce: defaulting once more changes nothing, nothing that was given is changed, and no two objects come to
// share what was filled in.
func FuzzDefaultsOnce(f *testing.F) {
	for seed := range uint64(500) { // plain `go test` runs these; -fuzz continues from them
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		fhpa, other := randomFederatedHPA(seed), randomFederatedHPA(seed)
		DefaultFederatedHPA(fhpa)
		DefaultFederatedHPA(other)
		once := fhpa.DeepCopy()
		DefaultFederatedHPA(fhpa)
		if diff := cmp.Diff(once, fhpa); diff != "" {
			t.Errorf("seed %d: once more changes (-once +twice):\n%s", seed, diff)
		}
		*other.Spec.MinReplicas = -1
		if *fhpa.Spec.MinReplicas == -1 {
			t.Errorf("seed %d: two objects share minReplicas", seed)
		}
		cron := randomCron(seed)
		DefaultCronFederatedHPA(cron)
		cronOnce := cron.DeepCopy()
		DefaultCronFederatedHPA(cron)
		if diff := cmp.Diff(cronOnce, cron); diff != "" {
			t.Errorf("seed %d: once more changes (-once +twice):\n%s", seed, diff)
		}
	})
}

// randomFederatedHPA sets each field that has a default, or that one depends on, by chance.
func randomFederatedHPA(seed uint64) *FederatedHPA {
	r := rand.New(rand.NewPCG(seed, 0))
	maybe := func(set func()) {
		if r.IntN(2) == 0 {
			set()
		}
	}
	f := &FederatedHPA{}
	s := &f.Spec
	maybe(func() { s.MinReplicas = new(r.Int32N(3)) })
	maybe(func() { s.Metrics = []autoscalingv2.MetricSpec{} })
	maybe(func() { s.Metrics = append(s.Metrics, cpu(r.Int32N(99))) })
	rules := func() *autoscalingv2.HPAScalingRules {
		rules := &autoscalingv2.HPAScalingRules{}
		maybe(func() { rules.StabilizationWindowSeconds = new(r.Int32N(9)) })
		maybe(func() { rules.SelectPolicy = new(autoscalingv2.MinChangePolicySelect) })
		maybe(func() { rules.Policies = []autoscalingv2.HPAScalingPolicy{} })
		return rules
	}
	maybe(func() {
		s.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{}
		maybe(func() { s.Behavior.ScaleUp = rules() })
		maybe(func() { s.Behavior.ScaleDown = rules() })
	})
	maybe(func() { s.AutoscaleMultiClusterDelay = new(r.Int32N(9)) })
	maybe(func() { s.ScalingToZero = new(true) })
	maybe(func() { s.ReplicaDistribution = &ReplicaDistribution{} })
	maybe(func() {
		types := []FederatedHPAAssignmentType{"", AssignmentDuplicated, AssignmentStaticWeighted, AssignmentPrioritized}
		s.FederatedHPAAssignment = &FederatedHPAAssignment{FederatedHPAAssignmentType: types[r.IntN(len(types))]}
		maybe(func() { s.FederatedHPAAssignment.Rebalance = &Rebalance{} })
		maybe(func() { s.FederatedHPAAssignment.ScaleDownOrder = ScaleDownBestEffort })
	})
	return f
}

func randomCron(seed uint64) *CronFederatedHPA {
	r := rand.New(rand.NewPCG(seed, 1))
	c := &CronFederatedHPA{}
	for range r.IntN(4) {
		rule := CronFederatedHPARule{Name: []string{"", "a"}[r.IntN(2)], RuleName: []string{"", "b"}[r.IntN(2)]}
		if r.IntN(2) == 0 {
			rule.Suspend = new(r.IntN(2) == 0)
		}
		c.Spec.Rules = append(c.Spec.Rules, rule)
	}
	return c
}

func cpu(percent int32) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: "Resource", Resource: &autoscalingv2.ResourceMetricSource{Name: "cpu",
		Target: autoscalingv2.MetricTarget{Type: "Utilization", AverageUtilization: &percent}}}
}
