// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
)

// What the mirrors show may be from before our own writes.
func TestMirrorsThatLag(t *testing.T) {
	all := func(w *world, f func(*member)) {
		for _, m := range w.members {
			f(m)
		}
	}
	tests := map[string]struct {
		before func(*world) // then the mirrors freeze
		writes []string     // of the reconcile then; none of the next two
		has    map[string]string
	}{
		"autoscalers that were made": {nil,
			[]string{"hub finalizers [fleetscale.io/member-autoscalers]", "hub status", "a web 1-5", "b web 1-5"},
			map[string]string{"a": "web 1-5, runs 3", "b": "web 1-5, runs 3"}},
		"bounds that were changed": {
			func(w *world) { w.mustReconcile(1); w.edit(bounds(4, 20)) },
			[]string{"hub status", "a web 2-10", "b web 2-10"},
			map[string]string{"a": "web 2-10, runs 3", "b": "web 2-10, runs 3"}},
		"autoscalers that were deleted a while after they were written": {
			func(w *world) { w.mustReconcile(4); w.edit(only("a")) },
			[]string{"hub status", "b delete web", "a web 2-10"},
			map[string]string{"a": "web 2-10, runs 3", "b": "runs 3"}},
		"autoscalers that were deleted soon after they were written": {
			func(w *world) { w.mustReconcile(1); w.edit(only("a")) },
			[]string{"hub status", "b delete web", "a web 2-10"},
			map[string]string{"a": "web 2-10, runs 3", "b": "runs 3"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3})
			all(w, func(m *member) { m.scales = false })
			if tc.before != nil {
				tc.before(w)
				w.writes()
			}
			all(w, (*member).freeze)
			w.mustReconcile(1)
			same(t, "written", tc.writes, w.writes())
			w.Clock.SetTime(w.Clock.Now().Add(-period))
			for range 2 {
				w.mustReconcile(1)
				w.Clock.SetTime(w.Clock.Now().Add(-period / 2))
			}
			same(t, "written to members while the mirrors lag", nil, toMembers(w.writes()))
			all(w, (*member).thaw)
			w.mustReconcile(3)
			same(t, "written to members once they have caught up", nil, toMembers(w.writes()))
			same(t, "there is", tc.has, w.has())
		})
	}
}

// toMembers are the writes that are not to the hub.
func toMembers(writes []string) (all []string) {
	for _, w := range writes {
		if len(w) < 4 || w[:4] != "hub " {
			all = append(all, w)
		}
	}
	return all
}

func TestAutoscalerThatSomebodyDeletedComesBack(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3})
	w.mustReconcile(4)
	delete(w.member("a").hpas, "web")
	w.writes()
	w.mustReconcile(2)
	same(t, "written", []string{"a web 1-5"}, toMembers(w.writes()))
}

func TestWhatSomebodyChangedIsChangedBack(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3})
	w.mustReconcile(4)
	w.writes()
	for name, upper := range map[string]int32{"a": 50, "b": 2} {
		hpa := w.member(name).hpas["web"].DeepCopy()
		hpa.Spec.MaxReplicas = upper
		w.member(name).store(hpa, false)
	}
	w.mustReconcile(2)
	same(t, "written", []string{"a web 1-5", "b web 1-5"}, toMembers(w.writes()))
}

func TestCacheThatLags(t *testing.T) {
	t.Run("what is from before our own write is put off", func(t *testing.T) {
		w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3})
		w.shown = w.object()
		w.mustReconcile(1)
		w.writes()
		for range 3 {
			w.conflicts()
		}
		same(t, "written", nil, w.writes())
		w.shown = nil
		w.mustReconcile(1)
	})
	t.Run("what is from before an edit that we know is not carried out again", func(t *testing.T) {
		w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3})
		w.mustReconcile(3)
		old := w.object()
		w.edit(bounds(2, 20))
		w.mustReconcile(3)
		w.shown = old
		w.writes()
		w.conflicts()
		same(t, "written", nil, w.writes())
	})
	t.Run("a new leader asks the hub itself", func(t *testing.T) {
		w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3})
		w.mustReconcile(1)
		w.shown = w.object()
		w.edit(bounds(2, 20))
		w.mustReconcile(0)
		w.restart()
		w.writes()
		w.mustReconcile(1)
		same(t, "written", []string{"hub status", "a web 1-10", "b web 1-10"}, w.writes())
	})
	for what, change := range map[string]func(*v1alpha1.FederatedHPA){
		"is of central mode": func(f *v1alpha1.FederatedHPA) { f.Spec.FederatedHPAAssignment = nil },
		"is another one":     func(f *v1alpha1.FederatedHPA) { f.UID = "uid-of-another" },
	} {
		t.Run("a new leader whose cache does not know yet that the object "+what, func(t *testing.T) {
			w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3})
			w.mustReconcile(1)
			w.shown = w.object()
			w.edit(change)
			w.restart()
			w.writes()
			w.conflicts()
			same(t, "written", nil, w.writes())
		})
	}
	t.Run("a new leader whose cache does not know yet that the object is gone", func(t *testing.T) {
		w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3})
		w.shown = w.object()
		w.hub.Objects[web] = nil
		w.conflicts()
		same(t, "written", nil, w.writes())
	})
	t.Run("a new leader whose cache does not know yet that the object is of distributed mode again", func(t *testing.T) {
		w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3})
		w.mustReconcile(1)
		w.shown = w.object()
		w.shown.Spec.FederatedHPAAssignment = nil
		w.restart()
		w.writes()
		if left, err := w.leave(); left || !apierrors.IsConflict(err) {
			t.Errorf("it left: %v, %v", left, err)
		}
		same(t, "written", nil, w.writes())
	})
}

func TestEditMeanwhileEndsTheReconcile(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3})
	w.mustReconcile(1)
	w.edit(bounds(2, 20))
	w.hub.FailStatus = func() error { return apierrors.NewConflict(federatedhpatest.FederatedHPAs, "web", errRefused) }
	w.writes()
	w.Heard()
	w.conflicts()
	same(t, "written", nil, w.writes())
	same(t, "heard", nil, w.Heard())
}

func TestIntentThatCanNotBeStoredIsNotCarriedOut(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3})
	w.hub.FailStatus = func() error { return errRefused }
	if err := w.reconcile(); err == nil || err.Error() != "writing the status: refused" {
		t.Errorf("said: %v", err)
	}
	same(t, "written", []string{"hub finalizers [fleetscale.io/member-autoscalers]"}, w.writes())
	same(t, "heard", []string{"!FailedUpdateStatus: refused"}, w.Heard())
}

func TestNothingIsDoneThatCouldNotBeTakenBack(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3})
	w.hub.FailPatch = func() error { return errRefused }
	if err := w.reconcile(); err == nil || err.Error() != "writing its finalizers: refused" {
		t.Errorf("said: %v", err)
	}
	same(t, "written", nil, w.writes())
}

// Of an object that was made again under its name nothing is known from the former one.
func TestObjectThatIsMadeAnew(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3})
	w.mustReconcile(1)
	w.hub.Remove(web)
	w.mustReconcile(1)
	object := newObject("StaticWeighted")
	object.UID = "uid-of-the-next"
	w.hub.Put(object)
	w.shown = w.object()
	w.edit(bounds(2, 20)) // the cache does not know yet
	w.writes()
	w.mustReconcile(1)
	same(t, "written", []string{"hub finalizers [fleetscale.io/member-autoscalers]", "hub status", "a web 1-10", "b web 1-10"}, w.writes())
	w.shown = nil
	w.mustReconcile(3)
	same(t, "written later", nil, toMembers(w.writes()))
}

// conflicts reconciles what is old, which must be refused.
func (w *world) conflicts() {
	w.T.Helper()
	if err := w.reconcile(); !apierrors.IsConflict(err) {
		w.T.Errorf("reconciled what is old, and said: %v", err)
	}
}
