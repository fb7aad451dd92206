// SPDX-License-Identifier: Apache-2.0

package memberhpa

import (
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestRead(t *testing.T) {
	is := func(condition autoscalingv2.HorizontalPodAutoscalerConditionType, status corev1.ConditionStatus,
		reason string) autoscalingv2.HorizontalPodAutoscalerCondition {
		return autoscalingv2.HorizontalPodAutoscalerCondition{Type: condition, Status: status, Reason: reason}
	}
	noon := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		status autoscalingv2.HorizontalPodAutoscalerStatus
		offset time.Duration
		want   assignment.Autoscaler
	}{
		"never seen by its controller": {autoscalingv2.HorizontalPodAutoscalerStatus{}, 0, assignment.Autoscaler{}},
		"at work": {autoscalingv2.HorizontalPodAutoscalerStatus{DesiredReplicas: 4, CurrentMetrics: []autoscalingv2.MetricStatus{cpuAt(90)},
			Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{
				is("AbleToScale", "True", "ReadyForNewScale"), is("ScalingActive", "True", "ValidMetricFound"),
				is("ScalingLimited", "False", "DesiredWithinRange")}}, 0,
			assignment.Autoscaler{Desired: 4, ScalingActive: true, Ratios: []int64{1500}}},
		"at its maximum": {autoscalingv2.HorizontalPodAutoscalerStatus{Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{is(
			"ScalingLimited", "True", "TooManyReplicas")}}, 0,
			assignment.Autoscaler{TooManyReplicas: true}},
		"at its minimum": {autoscalingv2.HorizontalPodAutoscalerStatus{Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{is(
			"ScalingLimited", "True", "TooFewReplicas")}}, 0,
			assignment.Autoscaler{}},
		"at its maximum no more": {autoscalingv2.HorizontalPodAutoscalerStatus{Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{is(
			"ScalingLimited", "False", "TooManyReplicas")}}, 0,
			assignment.Autoscaler{}},
		"switched off": {autoscalingv2.HorizontalPodAutoscalerStatus{Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{is(
			"ScalingActive", "False", "ScalingDisabled")}}, 0,
			assignment.Autoscaler{}},
		"not known to be active": {autoscalingv2.HorizontalPodAutoscalerStatus{Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{is(
			"ScalingActive", "Unknown", "")}}, 0,
			assignment.Autoscaler{}},
		"scaled, by the same clock": {autoscalingv2.HorizontalPodAutoscalerStatus{LastScaleTime: new(metav1.NewTime(noon))}, 0,
			assignment.Autoscaler{LastScale: new(noon)}},
		"scaled, by a clock ahead of ours": {autoscalingv2.HorizontalPodAutoscalerStatus{LastScaleTime: new(metav1.NewTime(noon))},
			5 * time.Minute,
			assignment.Autoscaler{LastScale: new(noon.Add(-5 * time.Minute))}},
		"scaled, by a clock behind ours": {autoscalingv2.HorizontalPodAutoscalerStatus{LastScaleTime: new(metav1.NewTime(noon))}, -time.Second,
			assignment.Autoscaler{LastScale: new(noon.Add(time.Second))}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			stored := &autoscalingv2.HorizontalPodAutoscaler{Status: tc.status}
			spec := &federated().Spec.HorizontalPodAutoscalerSpec
			fleettest.Same(t, "", tc.want, Read(stored, spec, tc.offset))
		})
	}
}

func cpuAt(percent int32) autoscalingv2.MetricStatus {
	return autoscalingv2.MetricStatus{Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricStatus{Name: "cpu", Current: autoscalingv2.MetricValueStatus{AverageUtilization: &percent}}}
}
