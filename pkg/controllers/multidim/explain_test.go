// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// The explanation is of what is recommended, and says what limits it; that something else does is written at once.
func TestExplanation(t *testing.T) {
	w := newWorld(t, object())
	w.pass(3)
	limits := func() string {
		m := w.object()
		e := m.Status.Explanation
		if e == nil || len(e.Sizes) != 2 || e.Sizes[0].Target == nil || e.Sizes[1].Target == nil {
			t.Fatalf("it explains %+v", e)
		}
		target := m.Status.Recommendation.Containers[0].Target
		same(t, "targets", []int64{target.CPU.MilliValue(), target.Memory.Value()}, []int64{*e.Sizes[0].Target, *e.Sizes[1].Target})
		return explanation.SizesLimitedBy(e)
	}
	same(t, "limited by", "app/cpu:Use app/memory:PodMinimum", limits())

	w.use(400, 800*mi)
	w.pass(30)
	w.clusters["west"].silence = &fleet.Silence{Reason: fleet.ReasonTimeout, Detail: "no answer"}
	w.use(10, 20*mi)
	w.clock.SetTime(w.clock.Now().Add(240 * time.Hour))
	w.pass(60)
	same(t, "limited by", "app/cpu:Before app/memory:Before", limits())
}

// A hub whose CustomResourceDefinition lacks the field drops it, and is not written again and again for that.
func TestExplanationThatTheHubDrops(t *testing.T) {
	w := newWorld(t, object())
	w.pass(3)
	dropped := w.object()
	dropped.Status.Explanation = nil
	if err := w.hub.Status().Update(t.Context(), dropped); err != nil {
		t.Fatal(err)
	}
	for minute := range 5 {
		if requests := w.pass(1); len(requests) > 0 {
			t.Errorf("minute %d: %v", minute, requests)
		}
	}
	same(t, "explanation", (*v1alpha1.SizesExplanation)(nil), w.object().Status.Explanation)
}
