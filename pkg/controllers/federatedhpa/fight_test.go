// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// byKarmada is who set the replicas last.
var byKarmada = []metav1.ManagedFieldsEntry{{Manager: "karmada", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`)}}

// What is set back on the hub three times is not written each time: the status says who does it, and it continues by itself.
func TestScaleUndoneOnTheHub(t *testing.T) {
	w := onHub(t)
	w.usesPercent(75)
	workload := w.hub.workloads[web]
	workload.SetBy = byKarmada
	setBack := func(n int) {
		for range n {
			_ = w.reconcileN(1)
			workload.ByHand(10)
		}
	}
	setBack(12)
	same(t, "written", []int32{15, 15, 15}, workload.Writes)
	status := w.object().Status
	said := summary.Condition(&status, autoscalingv2.AbleToScale)
	if said.Reason != "ScaleUndone" || !strings.Contains(said.Message, `on the hub were set back from 15 to 10, 3 times in a row, the last time by `+
		`the field manager "karmada"`) || status.Summary.State != v1alpha1.StateFailing {
		t.Errorf("%s: AbleToScale says %s: %s", status.Summary.State, said.Reason, said.Message)
	}
	heard := 0
	for _, event := range w.Heard() {
		if strings.HasPrefix(event, "!ScaleUndone: ") {
			heard++
		}
	}
	same(t, "Events", 1, heard)

	setBack(24) // one try after five minutes, and ten minutes of rest
	same(t, "written after the pause", []int32{15, 15, 15, 15}, workload.Writes)
	w.edit(func(s *v1alpha1.FederatedHPASpec) { s.MaxReplicas-- })
	_ = w.reconcileN(2)
	same(t, "written when the spec has changed", []int32{15, 15, 15, 15, 15}, workload.Writes)
	status = w.object().Status
	same(t, "state in the end", v1alpha1.StateActive, status.Summary.State)
}

// Where one cluster's replicas are set back, it keeps what it has, and others take what it does not; where all are, nothing is written.
func TestScaleUndoneInMembers(t *testing.T) {
	w := inMembers(t, map[string]int32{"east": 5, "west": 5})
	w.usesPercent(75)
	east := w.member("east")
	east.setBy = byKarmada
	for range 12 {
		_ = w.reconcileN(1)
		east.Workloads["web"].ByHand(5)
	}
	same(t, "written in east", 3, len(east.Workloads["web"].Writes))
	status := w.object().Status
	cluster := status.Clusters[0]
	if cluster.State != v1alpha1.ClusterConflict || cluster.Reason != "ScaleUndone" || !strings.Contains(cluster.Message, `"karmada"`) {
		t.Errorf("cluster %s is %s: %s: %s", cluster.Name, cluster.State, cluster.Reason, cluster.Message)
	}
	same(t, "AbleToScale", metav1.ConditionTrue, metav1.ConditionStatus(summary.Condition(&status, autoscalingv2.AbleToScale).Status))

	w = inMembers(t, map[string]int32{"east": 5, "west": 5})
	w.usesPercent(75)
	for range 12 {
		_ = w.reconcileN(1)
		for _, m := range w.members {
			m.Workloads["web"].ByHand(5)
		}
	}
	same(t, "written in east", 3, len(w.member("east").Workloads["web"].Writes))
	status = w.object().Status
	same(t, "AbleToScale", "ScaleUndone", summary.Condition(&status, autoscalingv2.AbleToScale).Reason)
	w.Clock.SetTime(w.Clock.Now().Add(time.Hour))
	_ = w.reconcileN(1)
	same(t, "written in east after the pause", 4, len(w.member("east").Workloads["web"].Writes))
}
