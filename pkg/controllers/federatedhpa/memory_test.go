// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// A new leader in the middle of a window: it ends when it would have ended.
func TestRestartInTheMiddleOfAWindow(t *testing.T) {
	for _, restartAfter := range []int{0, 1, 5, 10, 19, 20} {
		w := onHub(t)
		w.usesPercent(50)
		_ = w.looks(30)
		w.usesPercent(25)
		begun := w.clock.Now()
		for i := 0; w.hub.workloads[web].replicas == 10 && i < 100; i++ {
			if i == restartAfter {
				w.restart()
			}
			_ = w.looks(1)
		}
		if took := w.clock.Since(begun); took < 5*time.Minute || took > 5*time.Minute+2*period {
			t.Errorf("with a new leader after %d looks: scaled in after %v", restartAfter, took)
		}
	}
}

// A new leader where the metrics called for more than there may be: they did so until a moment ago, although that was
// written long ago, and so the window has only begun.
func TestRestartAtTheMost(t *testing.T) {
	tests := map[string]func(*v1alpha1.FederatedHPASpec){
		"without behavior": func(*v1alpha1.FederatedHPASpec) {},
		"with behavior": func(s *v1alpha1.FederatedHPASpec) {
			s.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{}
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			w := onHub(t)
			w.edit(change)
			w.edit(func(s *v1alpha1.FederatedHPASpec) { s.MaxReplicas = 10 })
			w.usesPercent(75)
			_ = w.looks(100)
			w.usesPercent(25)
			w.restart()
			_ = w.looks(19)
			same(t, "replicas written within a window", nil, w.hub.workloads[web].writes)
			_ = w.looks(4)
			same(t, "replicas written after it", []int32{5}, w.hub.workloads[web].writes)
		})
	}
}

// Where nothing but times moves, the status is not written.
func TestStatusIsWrittenOnlyForNews(t *testing.T) {
	tests := map[string]func(*world){
		"at the target":              func(*world) {},
		"held by the window":         func(w *world) { w.usesPercent(25) },
		"held by a silent cluster":   func(w *world) { w.usesPercent(5); w.members["west"].silence = silence() },
		"limited by the most":        func(w *world) { w.usesPercent(100); w.edit(func(s *v1alpha1.FederatedHPASpec) { s.MaxReplicas = 10 }) },
		"with a window for up, too":  func(w *world) { w.usesPercent(75); w.edit(upWindow) },
		"without a workload":         func(w *world) { w.hub.workloads = nil },
		"without an answer":          func(w *world) { w.fault = fmt.Errorf("no") },
		"with more metrics than one": func(w *world) { w.edit(func(s *v1alpha1.FederatedHPASpec) { s.Metrics = append(s.Metrics, cpu(80)) }) },
	}
	for name, arrange := range tests {
		t.Run(name, func(t *testing.T) {
			w := onHub(t)
			arrange(w)
			_ = w.looks(2)
			before := w.hub.statusWrites
			_ = w.looks(15)
			if n := w.hub.statusWrites - before; n != 0 {
				t.Errorf("%d writes", n)
			}
		})
	}
}

func upWindow(s *v1alpha1.FederatedHPASpec) {
	s.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(300))}}
}

// What is stored, by the rule that says when it need be, and recalled by a new leader at any moment, makes it decide as the
// old one would have: a leader that has seen everything goes beside one that begins anew at every sync. The exceptions are
// those of recall: what was last recommended may count for longer than it should, and then keeps the replicas as they are.
func TestALeaderRecallsWhatMatters(t *testing.T) {
	decided, held, writes := 0, 0, 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 0))
		o := replicas.Options{StabilizationWindow: 5 * time.Minute, Tolerance: 0.1}
		spec := randomSpec(r)
		now, current, known, stored := start, int32(10), replicas.State{}, (*v1alpha1.StabilizationStatus)(nil)
		wanted := int64(10)
		for step := range 150 {
			now = now.Add(period)
			if r.IntN(6) == 0 {
				wanted = r.Int64N(40)
			}
			ask := func(s replicas.State) replicas.Decision {
				return replicas.Decide(replicas.Question{
					Namespace: "shop", Spec: spec, Scale: replicas.Scale{Replicas: current, StatusReplicas: current, Selector: "app=web"},
					Metrics: []replicas.Metric{{Values: []int64{wanted * 1000}}}, State: s, Options: o, Now: now,
				})
			}
			old := ask(known)
			anew := ask(recall(throughJSON(t, stored), current, now))
			decided++
			if stored != nil && old.Replicas != anew.Replicas {
				held++
				if anew.Replicas != current && (anew.Replicas > current) != (old.Replicas > current) || away(anew.Replicas, current) > away(old.Replicas, current) {
					t.Fatalf("seed %d, step %d: from %d replicas, where %d are wanted, a new leader goes to %d, and the old one to %d\nit recalls %+v\nof %+v\n%+v",
						seed, step, current, wanted, anew.Replicas, old.Replicas, stored, known, spec.Behavior)
				}
			}
			if old.Rescale {
				old = old.Scaled(now)
			}
			known, current = old.State, old.Replicas
			fresh := known.Memory(&spec, o, now)
			if !remembers(stored, fresh) {
				stored = throughJSON(t, fresh)
				writes++
			}
			if r.IntN(40) == 0 {
				current = max(1, r.Int32N(30)) // by hand
			}
		}
	}
	t.Logf("of %d decisions %d differ; %d writes", decided, held, writes)
	if held*20 > decided {
		t.Errorf("of %d decisions %d differ", decided, held)
	}
	if writes*3 > decided {
		t.Errorf("%d decisions took %d writes", decided, writes)
	}
}

func away(a, b int32) int32 { return max(a-b, b-a) }

func randomSpec(r *rand.Rand) autoscalingv2.HorizontalPodAutoscalerSpec {
	f := newObject("web")
	f.Spec.Metrics = []autoscalingv2.MetricSpec{queue("1")}
	f.Spec.MinReplicas, f.Spec.MaxReplicas = new(1+r.Int32N(5)), 15+r.Int32N(30)
	rules := func() *autoscalingv2.HPAScalingRules {
		if r.IntN(3) == 0 {
			return nil
		}
		rules := &autoscalingv2.HPAScalingRules{}
		if r.IntN(2) == 0 {
			rules.StabilizationWindowSeconds = new(int32(r.IntN(5) * 100))
		}
		for range r.IntN(3) {
			kind := autoscalingv2.PodsScalingPolicy
			if r.IntN(2) == 0 {
				kind = autoscalingv2.PercentScalingPolicy
			}
			rules.Policies = append(rules.Policies, autoscalingv2.HPAScalingPolicy{Type: kind, Value: 1 + r.Int32N(50), PeriodSeconds: 15 + r.Int32N(200)})
		}
		return rules
	}
	if r.IntN(3) > 0 {
		f.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: rules(), ScaleDown: rules()}
	}
	v1alpha1.DefaultFederatedHPA(f)
	return f.Spec.HorizontalPodAutoscalerSpec
}
