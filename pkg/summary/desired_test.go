// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestDesired(t *testing.T) {
	type status = v1alpha1.FederatedHPAStatus
	says := func(able, active corev1.ConditionStatus) (all []autoscalingv2.HorizontalPodAutoscalerCondition) {
		all = append(all, autoscalingv2.HorizontalPodAutoscalerCondition{Type: autoscalingv2.AbleToScale, Status: able})
		if active != "" {
			all = append(all, autoscalingv2.HorizontalPodAutoscalerCondition{Type: autoscalingv2.ScalingActive, Status: active})
		}
		return all
	}
	scaled := &metav1.Time{Time: time.Unix(1_800_000_000, 0)}
	cluster := func(state v1alpha1.ClusterState, runs int32, hpa *autoscalingv2.HorizontalPodAutoscalerStatus) v1alpha1.ClusterStatus {
		return v1alpha1.ClusterStatus{State: state, CurrentReplicas: &runs, HPA: hpa}
	}
	fresh := &autoscalingv2.HorizontalPodAutoscalerStatus{CurrentReplicas: 4, Conditions: says("True", "False")}
	for name, tc := range map[string]struct {
		status status
		want   *int32
	}{
		"nothing was decided yet":                 {status{}, nil},
		"the workload could not be read":          {status{Conditions: says("False", "")}, nil},
		"the first metrics fail":                  {status{CurrentReplicas: 5, Conditions: says("True", "False")}, nil},
		"they do for what began with a bound":     {status{CurrentReplicas: 5, Conditions: says("True", "")}, nil},
		"the first decision could not be written": {status{CurrentReplicas: 5, Conditions: says("False", "True")}, nil},
		"later metrics fail": {status{CurrentReplicas: 5, DesiredReplicas: 5, Conditions: says("True", "False")},
			new(int32(5))},
		"zero is only reported": {status{CurrentReplicas: 5, Conditions: says("True", "True")}, new(int32(0))},
		"scaled to zero":        {status{LastScaleTime: scaled, Conditions: says("True", "True")}, new(int32(0))},
		"so it was, and metrics fail": {status{LastScaleTime: scaled, CurrentReplicas: 5, Conditions: says("True", "False")},
			new(int32(0))},
		"so it was, and the workload cannot be read": {status{LastScaleTime: scaled, Conditions: says("False", "True")}, new(int32(0))},
		"somebody scaled to zero":                    {status{Conditions: says("True", "False")}, new(int32(0))},
		"a cluster's first metrics fail": {status{CurrentReplicas: 7, DesiredReplicas: 3, Conditions: says("True", "False"),
			Clusters: []v1alpha1.ClusterStatus{cluster(v1alpha1.ClusterActive, 3, nil), cluster(v1alpha1.ClusterActive, 4, fresh)}}, nil},
		"a cluster's autoscaler is new": {status{CurrentReplicas: 7, DesiredReplicas: 3, Conditions: says("True", "True"),
			Clusters: []v1alpha1.ClusterStatus{cluster(v1alpha1.ClusterActive, 4, &autoscalingv2.HorizontalPodAutoscalerStatus{})}}, nil},
		"a cluster that runs nothing counts as that": {status{CurrentReplicas: 3, DesiredReplicas: 3, Conditions: says("True", "True"),
			Clusters: []v1alpha1.ClusterStatus{cluster(v1alpha1.ClusterScaledToZero, 0, fresh)}}, new(int32(3))},
		"one that takes no part does not count": {status{CurrentReplicas: 3, DesiredReplicas: 3, Conditions: says("True", "True"),
			Clusters: []v1alpha1.ClusterStatus{cluster(v1alpha1.ClusterExcluded, 4, fresh), cluster(v1alpha1.ClusterConflict, 4, fresh)}},
			new(int32(3))},
	} {
		fleettest.Same(t, name, tc.want, Desired(&tc.status))
	}
}

func TestMultidimDesired(t *testing.T) {
	able := metav1.Condition{Type: string(autoscalingv2.AbleToScale), Status: "True"}
	failing := []metav1.Condition{able, {Type: string(autoscalingv2.ScalingActive), Status: "False"}}
	active := []metav1.Condition{able, {Type: string(autoscalingv2.ScalingActive), Status: "True"}}
	for name, tc := range map[string]struct {
		goals      *v1alpha1.Goals
		conditions []metav1.Condition
		want       *int32
	}{
		"its replicas are not decided on": {nil, nil, new(int32(0))},
		"nothing was decided yet":         {&v1alpha1.Goals{}, nil, nil},
		"the first metrics fail":          {&v1alpha1.Goals{}, failing, nil},
		"zero is only reported":           {&v1alpha1.Goals{}, active, new(int32(0))},
	} {
		m := &v1alpha1.MultidimPodAutoscaler{}
		m.Spec.Goals, m.Status.CurrentReplicas, m.Status.Conditions = tc.goals, 3, tc.conditions
		fleettest.Same(t, name, tc.want, MultidimDesired(m))
	}
}
