// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// After a change of leader, every later decision is what it would have been.
func FuzzMemory(f *testing.F) {
	for seed := range fleettest.Rounds(500, 5) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		q := ask(r.Int32N(30)+1, cluster("east", 20))
		q.State, q.Spec.Behavior = State{}, behavior(r)
		changesLeader := r.IntN(40)
		heir := State{}
		for step := range 60 {
			q = q.use("east", r.Int64N(120))
			q.Metrics[0].Pods["east"] = maxedAt(q)
			own := Decide(q)
			if step == changesLeader {
				heir = Recall(q.State.Memory(&q.Spec, q.Options, q.Now))
			}
			if step >= changesLeader {
				p := q
				p.State = heir
				other := Decide(p)
				if own.Replicas != other.Replicas || decided(own) != decided(other) {
					t.Fatalf("step %d, leader changed at %d: %s, and without the change %s", step, changesLeader, decided(other), decided(own))
				}
				heir = ended(other, q.Now).State
			}
			own = ended(own, q.Now)
			q.Scale.Replicas, q.State, q.Status = own.Replicas, own.State, own.Status
			q.Now = q.Now.Add([]time.Duration{15 * time.Second, 15 * time.Second, time.Minute, 4 * time.Minute}[r.IntN(4)])
		}
	})
}

// maxedAt dates the samples now.
func maxedAt(q Question) map[string]Sample {
	samples := map[string]Sample{}
	for name, s := range q.Metrics[0].Pods["east"] {
		s.At = q.Now
		samples[name] = s
	}
	return samples
}

func ended(d Decision, now time.Time) Decision {
	if d.Rescale {
		return d.Scaled(now)
	}
	return d
}

func behavior(r *rand.Rand) *autoscalingv2.HorizontalPodAutoscalerBehavior {
	if r.IntN(3) == 0 {
		return nil
	}
	rules := func() *autoscalingv2.HPAScalingRules {
		return &autoscalingv2.HPAScalingRules{
			StabilizationWindowSeconds: new([]int32{0, 60, 300, 600}[r.IntN(4)]),
			SelectPolicy: new([]autoscalingv2.ScalingPolicySelect{autoscalingv2.MaxChangePolicySelect,
				autoscalingv2.MinChangePolicySelect}[r.IntN(2)]),
			Policies: []autoscalingv2.HPAScalingPolicy{
				{Type: autoscalingv2.PodsScalingPolicy, Value: r.Int32N(5) + 1, PeriodSeconds: []int32{15, 60, 300}[r.IntN(3)]},
				{Type: autoscalingv2.PercentScalingPolicy, Value: r.Int32N(90) + 1, PeriodSeconds: []int32{15, 60, 300}[r.IntN(3)]},
			},
		}
	}
	return &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: rules(), ScaleDown: rules()}
}

func TestMemoryKeepsWhatRestrains(t *testing.T) {
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	s := State{ // in no order
		Recommendations: []Recommendation{{9, at(3)}, {5, at(-6)}, {7, at(0)}, {8, at(4)}, {8, at(5)}, {3, at(1)}, {8, at(2)}},
		ScaleUps:        []Change{{Replicas: 6, At: at(5)}, {Replicas: 2, At: at(4)}, {Replicas: 1, At: at(3), Outdated: true}},
		ScaleDowns:      []Change{{Replicas: 4, At: at(-20)}},
	}
	spec := &autoscalingv2.HorizontalPodAutoscalerSpec{Behavior: &autoscalingv2.HorizontalPodAutoscalerBehavior{
		ScaleUp: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(240)),
			Policies: []autoscalingv2.HPAScalingPolicy{{PeriodSeconds: 120}}},
		ScaleDown: &autoscalingv2.HPAScalingRules{},
	}}
	when := func(minutes int) metav1.MicroTime { return metav1.NewMicroTime(at(minutes)) }
	want := &v1alpha1.StabilizationStatus{
		ScaleUpRecommendations:   []v1alpha1.Recommendation{{Time: when(1), Replicas: 3}, {Time: when(5), Replicas: 8}},
		ScaleDownRecommendations: []v1alpha1.Recommendation{{Time: when(3), Replicas: 9}, {Time: when(5), Replicas: 8}},
		ScaleUpEvents:            []v1alpha1.ScaleEvent{{Time: when(4), Replicas: 2}, {Time: when(5), Replicas: 6}},
	}
	same(t, "memory", want, s.Memory(spec, options, at(5)))
	want.ScaleUpRecommendations, want.ScaleUpEvents = nil, nil
	spec.Behavior = nil
	same(t, "memory without behavior", want, s.Memory(spec, options, at(5)))
}

func TestMemoryIsBounded(t *testing.T) {
	s := State{}
	for i := range 1000 {
		at := start.Add(time.Duration(i) * time.Second)
		s.Recommendations = append(s.Recommendations, Recommendation{int32(2000 - i), at})
		s.ScaleUps = append(s.ScaleUps, Change{Replicas: 1, At: at})
	}
	spec := &autoscalingv2.HorizontalPodAutoscalerSpec{Behavior: &autoscalingv2.HorizontalPodAutoscalerBehavior{
		ScaleUp:   &autoscalingv2.HPAScalingRules{Policies: []autoscalingv2.HPAScalingPolicy{{PeriodSeconds: 1800}}},
		ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(3600))},
	}}
	m := s.Memory(spec, options, start.Add(1000*time.Second))
	if len(m.ScaleDownRecommendations) != mostRecommendations || len(m.ScaleUpEvents) != mostEvents {
		t.Errorf("%d recommendations and %d events", len(m.ScaleDownRecommendations), len(m.ScaleUpEvents))
	}
	if first := m.ScaleDownRecommendations[0]; first.Replicas != 2000 {
		t.Errorf("the highest recommendation is lost: the first is %+v", first)
	}
	if first := m.ScaleUpEvents[0]; first.Replicas != 1000-mostEvents+1 {
		t.Errorf("changes are lost: the first is %+v", first)
	}
}

func TestRecallOfNothingKnowsNothing(t *testing.T) {
	same(t, "state", State{}, Recall(nil))
	same(t, "state of a state", State{}, Recall(State{}.Memory(&autoscalingv2.HorizontalPodAutoscalerSpec{}, options, start)))
	if s := Recall(&v1alpha1.StabilizationStatus{}); s.Recommendations == nil {
		t.Error("an empty memory is as none: the replicas of its first decision would count as a recommendation")
	}
}

// A first decision takes nothing away, and neither do others within the window.
func TestNewStateHoldsForAWindow(t *testing.T) {
	q := ask(20, cluster("east", 20)).use("east", 1)
	q.State = State{}
	first := Decide(q)
	check(t, first, "20 ScaleDownStabilized")
	q.State, q.Now = first.State, start.Add(options.StabilizationWindow)
	check(t, Decide(q), "20 ScaleDownStabilized")
	q.Now = q.Now.Add(1)
	check(t, Decide(q), "1")
}

// Slices with room at their end are where one decision could write into another.
func TestDecisionsShareNothingThatChanges(t *testing.T) {
	q := ask(20, cluster("west", 10, assigned(12)), cluster("east", 10, silent)).use("west", 200)
	q.State = State{Recommendations: roomy(Recommendation{30, start.Add(-time.Hour)}),
		ScaleUps: roomy(Change{Replicas: 1, At: start.Add(-time.Hour)})}
	q.Spec.Behavior = behavior(rand.New(rand.NewPCG(1, 1)))
	q.Status.Conditions = roomy(autoscalingv2.HorizontalPodAutoscalerCondition{Type: autoscalingv2.AbleToScale, Status: corev1.ConditionFalse})
	state := []any{slices.Clone(q.State.Recommendations), slices.Clone(q.State.ScaleUps), slices.Clone(q.Status.Conditions)}

	d := Decide(q)
	d.Events = roomy(d.Events...)
	conditions, recommendations := slices.Clone(d.Status.Conditions), slices.Clone(d.State.Recommendations)
	scaled, refused := d.Scaled(start), d.Refused(start, errors.New("no"))
	q.Now = q.Now.Add(time.Second)
	_ = Decide(q)

	same(t, "question", state, []any{q.State.Recommendations, q.State.ScaleUps, q.Status.Conditions})
	same(t, "conditions", conditions, d.Status.Conditions)
	same(t, "recommendations", recommendations, d.State.Recommendations)
	same(t, "what was said last", []string{ReasonSuccessfulRescale, ReasonFailedRescale},
		[]string{scaled.Events[len(scaled.Events)-1].Reason, refused.Events[len(refused.Events)-1].Reason})
	same(t, "able to scale", []string{ReasonSucceededRescale, ReasonFailedUpdateScale},
		[]string{find(scaled.Status.Conditions, autoscalingv2.AbleToScale).Reason,
			find(refused.Status.Conditions, autoscalingv2.AbleToScale).Reason})
}

func roomy[T any](values ...T) []T { return append(make([]T, 0, len(values)+8), values...) }
