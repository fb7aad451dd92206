// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/admission"
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
)

// Who else scales a workload on the hub: then nothing is done, and people are told where and by whom.
func TestRivalsOnTheHub(t *testing.T) {
	own := func(change func(*autoscalingv2.HorizontalPodAutoscaler)) func(*world) {
		return func(w *world) { w.hub.hpas = append(w.hub.hpas, federatedhpatest.HPA("own", change)) }
	}
	const both = "pods by selector app=web are controlled by more than one HPA (e.g. [shop/web HorizontalPodAutoscaler shop/own])"
	tests := map[string]struct {
		arrange func(*world)
		want    string // of the message; empty: it scales
	}{
		"nobody":                    {func(*world) {}, ""},
		"a HorizontalPodAutoscaler": {own(func(*autoscalingv2.HorizontalPodAutoscaler) {}), "cluster east: " + both},
		"one that names another version": {own(
			func(h *autoscalingv2.HorizontalPodAutoscaler) { h.Spec.ScaleTargetRef.APIVersion = "apps/v1beta1" }), "cluster east: " + both},
		"one of another group": {own(func(h *autoscalingv2.HorizontalPodAutoscaler) { h.Spec.ScaleTargetRef.APIVersion = "argoproj.io/v1" }),
			""},
		"one in another namespace": {own(func(h *autoscalingv2.HorizontalPodAutoscaler) { h.Namespace = "other" }), ""},
		"one that is ours, for the member": {own(func(h *autoscalingv2.HorizontalPodAutoscaler) {
			h.Labels = map[string]string{v1alpha1.ManagedByLabel: "uid"}
		}), ""},
		"one that is going": {own(func(h *autoscalingv2.HorizontalPodAutoscaler) { h.DeletionTimestamp = &metav1.Time{Time: start} }), ""},
		"a member's own": {func(w *world) {
			w.members["west"].autoscalers = []autoscalingv2.CrossVersionObjectReference{federatedhpatest.NewObject("web").Spec.ScaleTargetRef}
		}, "cluster west: " + both},
		"a member's, that is ours": {func(w *world) {
			w.members["west"].autoscalers = []autoscalingv2.CrossVersionObjectReference{federatedhpatest.NewObject("web").Spec.ScaleTargetRef}
			w.members["west"].managedBy = "uid-of-web"
		}, ""},
		"a member's, of another FederatedHPA": {func(w *world) {
			w.members["west"].autoscalers = []autoscalingv2.CrossVersionObjectReference{federatedhpatest.NewObject("web").Spec.ScaleTargetRef}
			w.members["west"].managedBy = "uid-of-its-former"
		}, "cluster west: " + strings.Replace(both, "shop/own", "shop/own (of another FederatedHPA)", 1)},
		"a member's own, of another workload": {func(w *world) {
			w.members["west"].autoscalers = []autoscalingv2.CrossVersionObjectReference{federatedhpatest.NewObject("db").Spec.ScaleTargetRef}
		}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := onHub(t)
			w.usesPercent(75)
			tc.arrange(w)
			err := w.reconcileN(1)
			if tc.want == "" {
				same(t, "replicas written", []int32{15}, w.hub.workloads[web].Writes)
				return
			}
			if err == nil || !strings.HasSuffix(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			same(t, "status", "Failing 2/2 10->0 AmbiguousSelector", say(&w.object().Status))
			same(t, "Events", []string{"!AmbiguousSelector: " + tc.want, "!FailedComputeMetricsReplicas: " + tc.want}, w.Heard())
			same(t, "replicas written", nil, w.hub.workloads[web].Writes)
		})
	}
}

// The webhook refuses a FederatedHPA beside a HorizontalPodAutoscaler of the hub in every mode. One that came later stops
// it in every mode too: the hub's number may reach the members.
func TestRivalsOnTheHubWhereMembersAreWritten(t *testing.T) {
	w := inMembers(t, map[string]int32{"east": 5, "west": 5})
	w.usesPercent(75)
	other := federatedhpatest.HPA("own", func(*autoscalingv2.HorizontalPodAutoscaler) {})
	w.hub.hpas = append(w.hub.hpas, other)
	if faults, _ := admission.ValidateFederatedHPA(w.object(), nil,
		admission.Neighbours{HPAs: []*autoscalingv2.HorizontalPodAutoscaler{&other}}); len(faults) != 1 {
		t.Errorf("admission finds %v", faults)
	}
	err := w.reconcileN(1)
	if want := "pods by selector app=web are controlled by more than one HPA (e.g. [shop/web HorizontalPodAutoscaler shop/own])"; err == nil ||
		!strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	same(t, "status", "Failing 2/2 10->0 AmbiguousSelector", say(&w.object().Status))
	w.hub.hpas = nil
	if err := w.reconcileN(1); err != nil {
		t.Errorf("after the other was deleted: %v", err)
	}
	same(t, "status", "Active 2/2 10->15", say(&w.object().Status))
}

// Two FederatedHPAs that count the same Pods in one cluster: both stop, and go on when one of them is gone. In which cluster
// that is, is said.
func TestTwoThatCountTheSamePods(t *testing.T) {
	w := onHub(t)
	w.usesPercent(75)
	w.edit(func(s *v1alpha1.FederatedHPASpec) {
		s.ClusterAffinity = &v1alpha1.ClusterAffinity{ClusterNames: []string{"east"}}
	})
	other := federatedhpatest.NewObject("other")
	w.hub.Put(other)
	key := client.ObjectKeyFromObject(other)
	w.hub.workloads[key] = &federatedhpatest.Workload{Replicas: 10, StatusReplicas: 10, Selector: "app in (web, db)"}
	_, _ = w.reconcile(key)
	_ = w.reconcileN(1)
	_, err := w.reconcile(key)
	if err == nil || !strings.HasSuffix(err.Error(),
		"east: pods by selector app in (web, db) are controlled by more than one HPA (e.g. [shop/other shop/web])") {
		t.Errorf("error %v", err)
	}
	same(t, "status", "Failing 1/1 10->0 AmbiguousSelector", say(&w.object().Status))
	same(t, "the first to reconcile acts once", []int32{15}, w.hub.workloads[key].Writes)
	w.members["east"].run("web", 0)
	w.members["east"].run("db", 5)
	w.members["east"].aged()
	_, err = w.reconcile(key)
	if err != nil {
		t.Errorf("with no Pod in common: %v", err)
	}
	w.members["east"].run("web", 5)
	w.members["east"].aged()
	if err := w.reconcileN(1); err == nil {
		t.Error("both count the same Pods again, and nothing is said")
	}
	other.Spec.Mode = v1alpha1.ModePaused
	w.hub.Put(other)
	_, _ = w.reconcile(key)
	if err := w.reconcileN(1); err != nil {
		t.Errorf("while the other is paused: %v", err)
	}
	other.Spec.Mode = ""
	w.hub.Put(other)
	_, _ = w.reconcile(key)
	if err := w.reconcileN(1); err == nil {
		t.Error("the other acts again, and nothing is said")
	}
	w.hub.Remove(key)
	_, _ = w.reconcile(key)
	if err := w.reconcileN(1); err != nil {
		t.Errorf("after the other was deleted: %v", err)
	}
}
