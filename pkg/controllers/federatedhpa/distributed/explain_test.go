// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// addedUp are the bounds of each cluster, and what its maximum adds up from.
func addedUp(e *v1alpha1.DecisionExplanation) (all []string) {
	for _, c := range e.Split.Clusters {
		word := fmt.Sprintf("%s %d-%d:", c.Name, c.Min, c.Max)
		if c.Part != "" {
			word = fmt.Sprintf("%s %s %s %d-%d:", c.Name, c.Part, c.Why, c.Min, c.Max)
		}
		for _, term := range c.MaxTerms {
			word += fmt.Sprintf(" %+d %s", term.Replicas, term.From)
		}
		all = append(all, word)
	}
	return all
}

// The explanation is of the bounds in the status, and no write is made for it unless something else keeps bounds from moving.
func TestExplanation(t *testing.T) {
	parts := map[string]int32{"east": 1, "north": 2, "west": 2}
	w := fleetOf(t, "StaticWeighted", parts, weighs(parts))
	w.mustReconcile(1)
	e := w.object().Status.Explanation
	if e == nil {
		t.Fatal("there is none")
	}
	same(t, "limited by", explanation.LimitNothing, e.LimitedBy)
	same(t, "moved by", "BoundsSplit", e.Split.Action)
	same(t, "bounds", []string{"north 1-4: +4 Weight", "west 1-4: +4 Weight", "east 1-2: +2 Weight"}, addedUp(e))

	w.settle(40)
	before := w.hub.StatusWrites
	w.settle(40)
	same(t, "writes of a fleet at rest", before, w.hub.StatusWrites)

	w.member("west").Silent = federatedhpatest.Silence()
	w.mustReconcile(1)
	e = w.object().Status.Explanation
	same(t, "limited by", explanation.LimitAway, e.LimitedBy)
	same(t, "bounds", []string{"west Silent Timeout 1-4: +4 Weight", "north 1-4: +4 Weight", "east 1-2: +2 Weight"}, addedUp(e))
	if text := explanation.Text(e); !strings.Contains(text, "max(10 - 4, 6, 0) = 6") {
		t.Errorf("the part of a silent cluster is not left out:\n%s", text)
	}
}

// So it is of those of a silent cluster that is drained and has lost its autoscaler: others have its part.
func TestExplanationOfWhatNobodyHas(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2}, bounds(2, 8))
	w.settle(3)
	b := w.member("b")
	b.Annotate(taints.DrainAnnotation)
	b.mute = errRefused
	delete(b.hpas, "web")
	_ = w.reconcile() // what was created there cannot be read
	same(t, "assigned", int32(0), *w.object().Status.Clusters[1].AssignedMax)
	same(t, "bounds", []string{"b Silent Drained 0-0:", "a 2-8: +8 Weight"}, addedUp(w.object().Status.Explanation))
}

// What is split again by another spec is what becomes of the edit.
func TestExplanationSplitAgain(t *testing.T) {
	parts := map[string]int32{"east": 1, "north": 2, "west": 2}
	w := fleetOf(t, "StaticWeighted", parts, weighs(parts))
	w.settle(3)
	object := w.object()
	before := object.Spec.DeepCopy()
	change := func(f *v1alpha1.FederatedHPA) {
		f.Spec.MaxReplicas = 20
		f.Spec.FederatedHPAAssignment.ClusterAutoscalingPreference[0].StaticWeight = new(int32(6))
	}
	change(object)
	again, caveats, err := explanation.AgainSplit(object, before)
	if err != nil || len(caveats) > 0 {
		t.Fatal(err, caveats)
	}
	w.edit(change)
	w.settle(3)
	same(t, "bounds", addedUp(w.object().Status.Explanation), addedUp(again))
}
