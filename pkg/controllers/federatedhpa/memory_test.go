// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"fmt"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
)

// A new leader in the middle of a window: it ends when it would have ended.
func TestRestartInTheMiddleOfAWindow(t *testing.T) {
	for _, restartAfter := range []int{0, 1, 5, 10, 19, 20} {
		w := onHub(t)
		w.usesPercent(50)
		_ = w.reconcileN(30)
		w.usesPercent(25)
		begun := w.Clock.Now()
		for i := 0; w.hub.workloads[web].Replicas == 10 && i < 100; i++ {
			if i == restartAfter {
				w.restart()
			}
			_ = w.reconcileN(1)
		}
		if took := w.Clock.Since(begun); took < 5*time.Minute || took > 5*time.Minute+2*period {
			t.Errorf("with a new leader after %d reconciles: scaled in after %v", restartAfter, took)
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
			_ = w.reconcileN(100)
			w.usesPercent(25)
			w.restart()
			_ = w.reconcileN(19)
			same(t, "replicas written within a window", nil, w.hub.workloads[web].Writes)
			_ = w.reconcileN(4)
			same(t, "replicas written after it", []int32{5}, w.hub.workloads[web].Writes)
		})
	}
}

// Where nothing but times moves, the status is not written.
func TestStatusIsWrittenOnlyForNews(t *testing.T) {
	tests := map[string]func(*world){
		"at the target":             func(*world) {},
		"held by the window":        func(w *world) { w.usesPercent(25) },
		"held by a silent cluster":  func(w *world) { w.usesPercent(5); w.members["west"].Silent = federatedhpatest.Silence() },
		"limited by the most":       func(w *world) { w.usesPercent(100); w.edit(func(s *v1alpha1.FederatedHPASpec) { s.MaxReplicas = 10 }) },
		"with a window for up, too": func(w *world) { w.usesPercent(75); w.edit(upWindow) },
		"without a workload":        func(w *world) { w.hub.workloads = nil },
		"without an answer":         func(w *world) { w.fault = fmt.Errorf("no") },
		"with more metrics than one": func(w *world) {
			w.edit(func(s *v1alpha1.FederatedHPASpec) { s.Metrics = append(s.Metrics, federatedhpatest.CPU(80)) })
		},
	}
	for name, arrange := range tests {
		t.Run(name, func(t *testing.T) {
			w := onHub(t)
			arrange(w)
			_ = w.reconcileN(2)
			before := w.hub.StatusWrites
			_ = w.reconcileN(15)
			if n := w.hub.StatusWrites - before; n != 0 {
				t.Errorf("%d writes", n)
			}
		})
	}
}

func upWindow(s *v1alpha1.FederatedHPASpec) {
	s.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(
		int32(300))}}
}
