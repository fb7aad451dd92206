// SPDX-License-Identifier: Apache-2.0

package dashboardtest

import (
	"encoding/json"
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	membersv1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
)

// What the dashboard reads.
var (
	Members       = membersv1alpha1.SchemeGroupVersion.WithResource("members")
	FederatedHPAs = v1alpha1.SchemeGroupVersion.WithResource("federatedhpas")
	Multidims     = v1alpha1.SchemeGroupVersion.WithResource("multidimpodautoscalers")
	Crons         = v1alpha1.SchemeGroupVersion.WithResource("cronfederatedhpas")
	Events        = schema.GroupVersionResource{Version: "v1", Resource: "events"}
)

// Member is one that is ready, and answered at that time.
func Member(name string, pods int32, answered time.Time) *membersv1alpha1.Member {
	at := metav1.NewTime(answered)
	return &membersv1alpha1.Member{
		TypeMeta:   metav1.TypeMeta{APIVersion: membersv1alpha1.SchemeGroupVersion.String(), Kind: "Member"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: membersv1alpha1.MemberStatus{
			State: membersv1alpha1.MemberReady, Reason: "Ready", MeasuredPods: pods, LastAnswerTime: &at, KubernetesVersion: "v1.37.1",
			Address: name + ".example.org:6443", Rights: []string{"read", "write"}, MetricsAPIs: []string{"metrics.k8s.io"},
			Source: membersv1alpha1.MemberSource{
				Name: "secrets", APIVersion: "v1", Kind: "Secret", Namespace: "fleetscale-clusters", ObjectName: name,
			},
			ControllerManager: &membersv1alpha1.ControllerManagerView{State: membersv1alpha1.MemberReady, Reason: "Ready"},
		},
	}
}

// FederatedHPA is one in central mode, which follows cpu, and whose clusters run so many replicas each.
func FederatedHPA(namespace, name string, decided time.Time, utilization, each int32, clusters ...string) *v1alpha1.FederatedHPA {
	n := each * int32(len(clusters))
	at := metav1.NewTime(decided)
	f := &v1alpha1.FederatedHPA{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.FederatedHPAKind},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Generation: 1},
	}
	f.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name}
	f.Spec.MinReplicas, f.Spec.MaxReplicas = new(int32(2)), n+8
	f.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
		Name:   corev1.ResourceCPU,
		Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(60))},
	}}}
	s := &f.Status
	s.CurrentReplicas, s.DesiredReplicas, s.ReadyReplicas = n, n, &n
	used := &autoscalingv2.ResourceMetricStatus{
		Name: corev1.ResourceCPU, Current: autoscalingv2.MetricValueStatus{AverageUtilization: &utilization},
	}
	s.CurrentMetrics = []autoscalingv2.MetricStatus{{Type: autoscalingv2.ResourceMetricSourceType, Resource: used}}
	s.Conditions = []autoscalingv2.HorizontalPodAutoscalerCondition{
		{Type: autoscalingv2.AbleToScale, Status: corev1.ConditionTrue, Reason: "ReadyForNewScale", LastTransitionTime: at},
		{Type: autoscalingv2.ScalingActive, Status: corev1.ConditionTrue, Reason: "ValidMetricFound", LastTransitionTime: at},
		{Type: v1alpha1.FleetVisible, Status: corev1.ConditionTrue, Reason: "AllClustersVisible", LastTransitionTime: at},
	}
	s.Summary = &v1alpha1.FederatedHPASummary{
		State: v1alpha1.StateActive, Targets: fmt.Sprintf("cpu: %d%%/60%%", utilization),
		Clusters: fmt.Sprintf("%d/%d", len(clusters), len(clusters)),
	}
	for _, cluster := range clusters {
		s.Clusters = append(s.Clusters, v1alpha1.ClusterStatus{
			Name: cluster, State: v1alpha1.ClusterActive, CurrentReplicas: &each, ReadyReplicas: &each, MetricAgeSeconds: new(int32(12)),
		})
	}
	s.Explanation = &v1alpha1.DecisionExplanation{
		Time: metav1.NewMicroTime(decided), Basis: "Metrics", LimitedBy: "WithinTolerance", CurrentReplicas: n, DesiredReplicas: n,
		Metrics: []v1alpha1.MetricExplanation{{
			Name: "cpu", Rule: "Utilization", Target: 60, Value: int64(utilization), Outcome: "WithinTolerance", Told: n,
			Multiplied: int64(n), Asks: n,
			ToleranceDown: "0.1", ToleranceUp: "0.1",
			Fleet: &v1alpha1.PodSums{Counted: n, Used: int64(n) * int64(utilization) * 5, Requested: int64(n) * 500},
		}},
		Steps: []v1alpha1.ExplanationStep{{Step: "Metrics", Replicas: n}},
	}
	return f
}

// Hold has an autoscaler wait for a cluster that does not answer.
func Hold(f *v1alpha1.FederatedHPA, cluster string) {
	message := "nothing is scaled down while clusters cannot be seen: " + cluster + ": Timeout: no answer within 5s"
	for i := range f.Status.Clusters {
		if c := &f.Status.Clusters[i]; c.Name == cluster {
			c.State, c.Reason, c.Message = v1alpha1.ClusterUnreachable, "Timeout", "no answer within 5s"
		}
	}
	for i := range f.Status.Conditions {
		if c := &f.Status.Conditions[i]; c.Type == v1alpha1.FleetVisible {
			c.Status, c.Reason, c.Message = corev1.ConditionFalse, "ClusterUnreachable", message
		}
	}
	f.Status.Summary.State = v1alpha1.StateHeld
	f.Status.Summary.Clusters = fmt.Sprintf("%d/%d", len(f.Status.Clusters)-1, len(f.Status.Clusters))
	f.Status.Explanation.LimitedBy = "Held"
	f.Status.Explanation.Unseen = []v1alpha1.UnseenCluster{{Cluster: cluster, Reason: "Timeout"}}
	f.Status.Explanation.UnseenClusters = 1
}

// Undecide has the first metrics of an autoscaler fail, so that it has not decided on replicas yet.
func Undecide(f *v1alpha1.FederatedHPA) {
	f.Status.DesiredReplicas, f.Status.CurrentMetrics = 0, nil
	for i := range f.Status.Conditions {
		if c := &f.Status.Conditions[i]; c.Type == autoscalingv2.ScalingActive {
			c.Status, c.Reason, c.Message = corev1.ConditionFalse, "FailedGetResourceMetric", "no cluster has metrics of its Pods"
		}
	}
	f.Status.Summary.State = v1alpha1.StateFailing
	f.Status.Summary.Targets = "cpu: <unknown>/60%"
	f.Status.Explanation.Basis, f.Status.Explanation.LimitedBy = "NoMetrics", "NoMetrics"
	f.Status.Explanation.Metrics, f.Status.Explanation.Steps = nil, nil
}

// Manage has it be known who has set which field, as it is of every object that a hub stores: one has set all.
func Manage(f *v1alpha1.FederatedHPA) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(f)
	if err != nil {
		panic("an object that cannot be stored: " + err.Error())
	}
	text, err := json.Marshal(managed(fields))
	if err != nil {
		panic("fields that have no names: " + err.Error())
	}
	f.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(string(text))}}
}

// managed are all fields below a value.
func managed(value any) map[string]any {
	all := map[string]any{}
	switch of := value.(type) {
	case map[string]any:
		for name, field := range of {
			all["f:"+name] = managed(field)
		}
	case []any:
		for i, item := range of {
			all[fmt.Sprintf(`k:{"name":"%d"}`, i)] = managed(item)
		}
	}
	return all
}

// Rules are run for a FederatedHPA of the same namespace, every day at that schedule.
func Rules(namespace, name, target, schedule string) *v1alpha1.CronFederatedHPA {
	c := &v1alpha1.CronFederatedHPA{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.CronFederatedHPAKind},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
	}
	c.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{
		APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.FederatedHPAKind, Name: target,
	}
	c.Spec.Rules = []v1alpha1.CronFederatedHPARule{
		{Name: "peak", Schedule: schedule, TimeZone: new("UTC"), TargetMinReplicas: new(int32(12)), TargetMaxReplicas: new(int32(40))},
	}
	c.Status.Summary = &v1alpha1.CronFederatedHPASummary{Last: "peak Succeeded"}
	return c
}

// Event is what was said of an object at that time.
func Event(namespace, kind, name, reason, note string, at time.Time) *corev1.Event {
	return &corev1.Event{
		TypeMeta:       metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
		ObjectMeta:     metav1.ObjectMeta{Namespace: namespace, Name: name + "." + reason},
		InvolvedObject: corev1.ObjectReference{Kind: kind, Namespace: namespace, Name: name}, Type: corev1.EventTypeWarning, Reason: reason,
		Message: note, EventTime: metav1.NewMicroTime(at),
	}
}
