// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/speccopy"
)

const lost = "dropped without an edit: spec.clusterAffinity, spec.federatedHPAAssignment. " +
	"The hub drops fields that its schema " +
	"of the kind lacks, as Karmada's does. " +
	"Nothing is scaled, and the HorizontalPodAutoscalers in the clusters are left unchanged. Apply the manifest of this " +
	"FederatedHPA again; to do without a field, set it once more and then remove it"

// cut is a write of the object's metadata while the hub serves Karmada's kind, which stores what that one has. It returns
// what was there.
func (w *world) cut() (whole v1alpha1.FederatedHPASpec) {
	w.T.Helper()
	object := w.object()
	whole = *object.Spec.DeepCopy()
	who := &metav1.FieldsV1{}
	who.SetRawBytes([]byte(`{"f:spec":{".":{},"f:clusterAffinity":{".":{},"f:clusterNames":{}},"f:federatedHPAAssignment":{".":{},"f:federatedHPAAssignmentType":{}}}}`))
	object.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl-create", Operation: metav1.ManagedFieldsOperationUpdate,
		FieldsV1: who}}
	object.Spec = v1alpha1.FederatedHPASpec{HorizontalPodAutoscalerSpec: object.Spec.HorizontalPodAutoscalerSpec}
	s := &object.Status
	object.Status = v1alpha1.FederatedHPAStatus{
		Conditions: s.Conditions, CurrentMetrics: s.CurrentMetrics, CurrentReplicas: s.CurrentReplicas, DesiredReplicas: s.DesiredReplicas,
		LastScaleTime: s.LastScaleTime, ObservedGeneration: s.ObservedGeneration,
	}
	w.hub.Put(object)
	return whole
}

func (w *world) keep(n int) {
	w.T.Helper()
	for range n {
		if restored, err := w.recorder.Keeper(w.hub, w.Clock.Now(), false).Keep(w.Context(), w.cached()); err != nil || restored {
			w.T.Fatalf("keeping: %v, %v", restored, err)
		}
		w.passes(period)
	}
}

func TestCutObjectSaysSoOnceAndGoesOnWhenItIsWhole(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 2}, only("a", "b"), weighs(map[string]int32{"a": 3, "b": 1}))
	w.mustReconcile(4)
	before := w.has()
	whole := w.cut()
	w.restart()
	w.writes()
	w.Heard()
	w.keep(3)
	w.restart()
	w.keep(3)
	same(t, "written", []string{"hub status"}, w.writes())
	same(t, "heard", []string{"!SpecCut: " + lost}, w.Heard())
	same(t, "AbleToScale", "False SpecCut: "+lost, w.condition(autoscalingv2.AbleToScale))
	same(t, "state", v1alpha1.StateFailing, w.object().Status.Summary.State)
	same(t, "finalizers", []string{v1alpha1.MemberAutoscalersFinalizer}, w.object().Finalizers)

	w.edit(func(f *v1alpha1.FederatedHPA) { f.Spec = whole })
	w.restart()
	w.mustReconcile(4)
	same(t, "there is", before, w.has())
	same(t, "written to members", nil, toMembers(w.writes()))
	same(t, "AbleToScale", "True ReadyForNewScale: the bounds are split among 2 clusters", w.condition(autoscalingv2.AbleToScale))
}

// However the bounds are split, they are there again, and no replica comes or goes.
func TestCutObjectHasItsBoundsAgain(t *testing.T) {
	for _, policy := range []v1alpha1.FederatedHPAAssignmentType{
		v1alpha1.AssignmentDuplicated, v1alpha1.AssignmentStaticWeighted, v1alpha1.AssignmentDynamicWeighted,
		v1alpha1.AssignmentAggregated, v1alpha1.AssignmentPrioritized,
	} {
		t.Run(string(policy), func(t *testing.T) {
			w := fleetOf(t, policy, map[string]int32{"a": 3, "b": 2, "c": 1}, only("a", "b", "c"))
			w.mustReconcile(20)
			before := w.has()
			whole := w.cut()
			w.restart()
			w.keep(3)
			w.writes()
			w.edit(func(f *v1alpha1.FederatedHPA) { f.Spec = whole })
			w.mustReconcile(20)
			same(t, "there is", before, w.has())
			same(t, "written to members", nil, toMembers(w.writes()))
		})
	}
}

// What a cache shows of an object may be from while the hub hid fields that it had all along.
func TestWholeObjectThatIsShownCutIsNotKept(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2})
	w.mustReconcile(2)
	shown := w.object()
	shown.Spec.FederatedHPAAssignment = nil
	w.shown = shown
	w.writes()
	w.Heard()
	if _, err := w.recorder.Keeper(w.hub, w.Clock.Now(), false).Keep(w.Context(), w.cached()); !apierrors.IsConflict(err) {
		t.Errorf("kept: %v", err)
	}
	same(t, "written", nil, w.writes())
	same(t, "heard", nil, w.Heard())
}

// Who switches it meanwhile is not held back.
func TestObjectThatIsSwitchedIsNotKept(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2})
	w.mustReconcile(2)
	shown := w.object()
	shown.Spec.FederatedHPAAssignment = nil
	w.edit(func(f *v1alpha1.FederatedHPA) { f.Spec.FederatedHPAAssignment = nil })
	w.shown = shown
	if _, err := w.recorder.Keeper(w.hub, w.Clock.Now(), false).Keep(w.Context(), w.cached()); !apierrors.IsConflict(err) {
		t.Errorf("kept: %v", err)
	}
}

// Nor is an object acted on that a new leader's cache shows whole, and that has lost a field since.
func TestObjectThatIsCutIsNotActedOnAfterARestart(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2}, only("a"))
	w.mustReconcile(2)
	cut := w.object()
	speccopy.Keep(cut, speccopy.Of(cut))
	w.shown = cut.DeepCopy()
	cut.Spec.ClusterAffinity = nil
	w.hub.Put(cut)
	w.restart()
	w.writes()
	if err := w.reconcile(); !apierrors.IsConflict(err) {
		t.Errorf("reconciled: %v", err)
	}
	same(t, "written", nil, w.writes())
}
