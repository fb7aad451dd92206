// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"testing"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/explanation"
)

// The explanation is of the decision that is stored, and no write is made for it unless another step limits.
func TestExplanation(t *testing.T) {
	w := onHub(t)
	w.wants(18)
	_ = w.reconcileN(1)
	e := w.object().Status.Explanation
	if e == nil {
		t.Fatal("there is none")
	}
	same(t, "from", int32(10), e.CurrentReplicas)
	same(t, "to", int32(18), e.DesiredReplicas)
	same(t, "limited by", "Scaled", e.LimitedBy)

	w.hub.workloads[web].StatusReplicas = 18
	_ = w.reconcileN(60)
	before := w.hub.StatusWrites
	_ = w.reconcileN(40)
	same(t, "writes of a fleet at rest", before, w.hub.StatusWrites)

	limited := w.object().Status.Explanation.LimitedBy
	w.wants(1000)
	_ = w.reconcileN(1)
	e = w.object().Status.Explanation
	if e.LimitedBy == limited {
		t.Errorf("limited by %s all the time", limited)
	}
	same(t, "decided", w.object().Status.DesiredReplicas, e.DesiredReplicas)
	t.Log("\n" + explanation.Text(e))
}

// Where each cluster is told, the explanation says what it gets.
func TestExplanationOfADivision(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 4, "b": 4}, by("StaticWeighted"))
	w.wants(16)
	_ = w.reconcileN(1)
	same(t, "division", &v1alpha1.DivisionExplanation{Policy: "StaticWeighted", Clusters: []v1alpha1.ClusterDivision{
		{Name: "a", From: 4, To: 8}, {Name: "b", From: 4, To: 8},
	}}, w.object().Status.Explanation.Division)
}

// What is only observed is explained, too.
func TestExplanationWhileItObserves(t *testing.T) {
	w := onHub(t)
	w.edit(in(v1alpha1.ModeObserve))
	w.wants(18)
	_ = w.reconcileN(1)
	same(t, "what would be done", int32(18), w.object().Status.Explanation.DesiredReplicas)
}
