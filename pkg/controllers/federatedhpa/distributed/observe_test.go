// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
)

func observes(f *v1alpha1.FederatedHPA) { f.Spec.Mode = v1alpha1.ModeObserve }

func acts(f *v1alpha1.FederatedHPA) { f.Spec.Mode = "" }

// What is decided before the object acts is what it does then, and it follows the fleet until then.
func TestObserve(t *testing.T) {
	w := fleetOf(t, "DynamicWeighted", map[string]int32{"a": 2, "b": 2}, observes, stays)
	w.member("a").room, w.member("b").room = 8, 8
	w.mustReconcile(3)
	same(t, "written", nil, toMembers(w.writes()))
	same(t, "acting", "False Observe: spec.mode is Observe: these clusters would get other bounds: a from 0-0 to 1-5, b from 0-0 to 1-5",
		w.condition(v1alpha1.Acting))
	same(t, "state", v1alpha1.StateObserving, w.object().Status.Summary.State)
	w.member("a").room = 2
	w.mustReconcile(1)
	same(t, "acting", "False Observe: spec.mode is Observe: these clusters would get other bounds: a from 0-0 to 1-3, b from 0-0 to 2-7",
		w.condition(v1alpha1.Acting))
	same(t, "heard", nil, w.Heard())
	same(t, "kept by", nil, w.object().Finalizers)
	w.edit(acts)
	w.mustReconcile(2)
	same(t, "there is", map[string]string{"a": "web 1-3, runs 2", "b": "web 2-7, runs 2"}, w.has())
	same(t, "acting", "True Active: what is decided is carried out", w.condition(v1alpha1.Acting))
}

// An autoscaler of somebody else's is no conflict of who observes, but will be: it is named, and decided on as if it were not there.
func TestObserveBesideAnother(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2}, observes, stays)
	w.member("b").add("legacy", "web", nil)
	w.mustReconcile(3)
	same(t, "acting", "False Observe: spec.mode is Observe: these clusters would get other bounds: a from 0-0 to 1-5, b from 0-0 to 1-5; "+
		"in its way once it acts: HorizontalPodAutoscaler shop/legacy in cluster b", w.condition(v1alpha1.Acting))
	same(t, "state", v1alpha1.StateObserving, w.object().Status.Summary.State)
}

// Autoscalers that stand are left as they are, whatever happens to the spec and the clusters.
func TestObserveBesideWhatStands(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2}, stays)
	w.mustReconcile(3)
	w.writes()
	w.edit(observes, bounds(2, 20))
	w.mustReconcile(3)
	same(t, "acting", "False Observe: spec.mode is Observe: these clusters would get other bounds: a from 1-5 to 1-10, b from 1-5 to 1-10",
		w.condition(v1alpha1.Acting))
	w.member("b").Silent = federatedhpatest.Silence()
	w.passes(0)
	w.mustReconcile(3)
	w.member("b").Silent = nil
	w.mustReconcile(2)
	same(t, "written", nil, toMembers(w.writes()))
	w.edit(bounds(2, 10))
	w.mustReconcile(2)
	same(t, "acting", "False Observe: spec.mode is Observe: the bounds of all clusters would stay as they are", w.condition(v1alpha1.Acting))
	w.edit(acts)
	w.mustReconcile(2)
	same(t, "written", nil, toMembers(w.writes()))
}

// A schema that drops the mode does not make the object act, however often it is reconciled until the mode is there again.
func TestModeThatIsCutStays(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2}, observes, stays)
	w.mustReconcile(2)
	acting := w.condition(v1alpha1.Acting)
	object := w.object()
	object.Spec.Mode = ""
	object.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply,
		FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:mode":{}}}`)}}
	w.hub.Put(object)
	w.restart()
	w.writes()
	for range 3 {
		w.keep(1)
		same(t, "lost", []string{"mode"}, served.Cut(w.object()))
		same(t, "acting", acting, w.condition(v1alpha1.Acting))
	}
	same(t, "written to members", nil, toMembers(w.writes()))
	w.edit(observes)
	w.mustReconcile(1)
	same(t, "lost", nil, served.Cut(w.object()))
}
