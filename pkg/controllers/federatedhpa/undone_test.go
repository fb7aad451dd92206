// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
)

var retained = map[string]string{sight.RetainReplicas: "true"}

// onKarmada has the workload on a Karmada hub, which places five of it in each of two clusters by the rule.
func (w *world) onKarmada(rule string, labels map[string]string) {
	w.placed = placement.NewKarmada(w.hub, w.Clock)
	w.restart()
	w.bind(10, at("east", 5), at("west", 5))
	w.schedule(rule)
	if w.hub.workloads[web] == nil {
		w.hub.workloads[web] = federatedhpatest.NewWorkload("web", 10)
	}
	w.hub.workloads[web].Labels = labels
}

// Nothing is written that Karmada would undo, on the hub or in members; what to do is said once, and it continues by itself.
func TestUndoneIsNotWritten(t *testing.T) {
	tests := map[string]struct {
		inMembers bool
		rule      string
		labels    map[string]string
		want      string
		correct   func(*world)
	}{
		"the hub, of replicas that are retained": {false, "Divided", retained, sight.ReasonRetainReplicasSet,
			func(w *world) { w.hub.workloads[web].Labels = nil }},
		"members, of replicas that are not": {true, "Duplicated", nil, sight.ReasonRetainReplicasMissing,
			func(w *world) { w.hub.workloads[web].Labels = retained }},
		"members, that may lose the workload": {true, "Divided", retained, sight.ReasonDividedPlacement,
			func(w *world) { w.schedule("Duplicated") }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := onHub(t)
			if tc.inMembers {
				w = inMembers(t, map[string]int32{"east": 5, "west": 5})
			}
			_ = w.reconcileN(1)
			w.onKarmada(tc.rule, tc.labels)
			before, writes := w.object().Status.Clusters, len(w.wrote)
			w.usesPercent(75)
			w.Heard()
			if err := w.reconcileN(4); err != nil {
				t.Error(err)
			}
			status := w.object().Status
			same(t, "status", "Failing 2/2 10->10 "+tc.want, say(&status))
			same(t, "clusters", before, status.Clusters)
			same(t, "writes on the hub", nil, w.hub.workloads[web].Writes)
			same(t, "writes in members", writes, len(w.wrote))
			if heard := w.Heard(); len(heard) != 1 || !strings.HasPrefix(heard[0], "!"+tc.want+": ") {
				t.Errorf("heard %q", heard)
			}
			tc.correct(w)
			if err := w.reconcileN(1); err != nil {
				t.Error(err)
			}
			same(t, "status in the end", "Active 2/2 10->15", say(&w.object().Status))
		})
	}
}

// Whether the replicas are retained is not known where the workload may not be read, or was never on the hub.
func TestUndoneIsNotKnown(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "deployments"}, "web", errors.New("not you"))
	tests := map[string]struct {
		inMembers bool
		arrange   func(*world)
		want      string
	}{
		"it may not be read, on the hub": {false, func(w *world) { w.hub.noTemplate = forbidden }, "Active 2/2 10->15"},
		"it may not be read, in members": {true, func(w *world) { w.hub.noTemplate = forbidden }, "Active 2/2 10->15"},
		"it cannot be read":              {false, func(w *world) { w.hub.noTemplate = errors.New("no") }, "Failing 2/2 0->0 FailedGetScale"},
		"it is not on the hub":           {true, func(w *world) { delete(w.hub.workloads, web); clear(w.hub.bindings) }, "Active 2/2 10->15"},
		"it is no longer there":          {true, func(w *world) { delete(w.hub.workloads, web) }, "Failing  0->0 RetainReplicasMissing"},
		"nobody places workloads":        {true, func(w *world) { w.placed = nil; w.restart() }, "Active 2/2 10->15"},
		"nobody places it, but it is set": {false, func(w *world) {
			w.placed, w.hub.workloads[web].Labels = nil, retained
			w.restart()
		}, "Active 2/2 10->15"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, rule := onHub(t), "Divided"
			if tc.inMembers {
				w, rule = inMembers(t, map[string]int32{"east": 5, "west": 5}), "Duplicated"
			}
			w.onKarmada(rule, nil)
			tc.arrange(w)
			w.usesPercent(75)
			_ = w.reconcileN(1)
			same(t, "status", tc.want, say(&w.object().Status))
		})
	}
}

// Who observes only is told too.
func TestUndoneIsSaidWhereNothingIsWritten(t *testing.T) {
	w := onHub(t)
	w.edit(func(s *v1alpha1.FederatedHPASpec) { s.Mode = v1alpha1.ModeObserve })
	w.onKarmada("Divided", retained)
	_ = w.reconcileN(1)
	same(t, "status", "Failing  0->0 RetainReplicasSet", say(&w.object().Status))
}
