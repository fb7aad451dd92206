// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// What is said of every write to a member, in every test. The lock is held.

// intent returns the assignment of the cluster that the hub has stored.
func (m *member) intent() (v1alpha1.ClusterStatus, bool) {
	statuses := m.hub.Objects[web].Status.Clusters
	if i := slices.IndexFunc(statuses, func(c v1alpha1.ClusterStatus) bool { return c.Name == m.About.Name }); i >= 0 {
		return statuses[i], true
	}
	return v1alpha1.ClusterStatus{}, false
}

// judgeApply: the intent was stored before, and the bounds make sense.
func (m *member) judgeApply(hpa *autoscalingv2.HorizontalPodAutoscaler) {
	if hpa.Labels[v1alpha1.ManagedByLabel] == "" {
		return // it is let go
	}
	intent, _ := m.intent()
	lower, upper := ptr.Deref(hpa.Spec.MinReplicas, 0), hpa.Spec.MaxReplicas
	if has := m.hpas[hpa.Name]; has != nil && has.Spec.MaxReplicas == upper && ptr.Deref(has.Spec.MinReplicas, 0) == lower {
		return // it is asked whether it takes what it has
	}
	if ptr.Deref(intent.AssignedMax, 0) != upper ||
		ptr.Deref(intent.AssignedMin, 0) != lower && (ptr.Deref(intent.AssignedMin, 0) != 1 || lower != 0) {
		m.T.Errorf("%s: %d-%d is written, and %d-%d is intended", m.About.Name, lower, upper, ptr.Deref(intent.AssignedMin, 0),
			ptr.Deref(intent.AssignedMax, 0))
	}
	if least := int32(1); lower < least && !m.native() || upper < max(least, lower) {
		m.T.Errorf("%s: %d-%d is written", m.About.Name, lower, upper)
	}
	if hpa.Labels[v1alpha1.ManagedByLabel] != string(m.hub.Objects[web].UID) {
		m.T.Errorf("%s: written for %v", m.About.Name, hpa.Labels)
	}
}

func (w *world) native() bool {
	return w.hub.Objects[web].Spec.ScalingToZeroMode == v1alpha1.ScalingToZeroNative
}

// judgeSum: after a write that gives more, the maxima of the clusters in sight are not too many. They may be where an edit
// took from clusters that could not be told: then they are not more than they were before the reconcile, or than is intended.
func (m *member) judgeSum() {
	intended := int32(0)
	for _, one := range m.members {
		if c, _ := one.intent(); one.counts() {
			intended += ptr.Deref(c.AssignedMax, 0)
		}
	}
	if sum := m.sum(); sum > max(m.sumBefore, m.hub.Objects[web].Spec.MaxReplicas, intended) {
		m.T.Errorf("%s: with this write the maxima are %d of %d", m.About.Name, sum, m.hub.Objects[web].Spec.MaxReplicas)
	}
}

// sum returns that of the maxima; 0 where they do not add up.
func (w *world) sum() (sum int32) {
	if w.hub.Objects[web] == nil {
		return 0
	}
	if a := w.hub.Objects[web].Spec.FederatedHPAAssignment; a == nil || a.FederatedHPAAssignmentType == v1alpha1.AssignmentDuplicated {
		return 0
	}
	for _, one := range w.members {
		for _, hpa := range one.hpas {
			if claims.Ours(hpa.HorizontalPodAutoscaler, w.hub.Objects[web].UID) && one.counts() {
				sum += hpa.Spec.MaxReplicas
			}
		}
	}
	return sum
}

// counts: the cluster can be written, or could be a while ago.
func (m *member) counts() bool {
	selected, err := assignment.Matches(m.hub.Objects[web].Spec.ClusterAffinity, m.About)
	intent, known := m.intent()
	dark := m.Silent != nil || m.hidden != nil || m.mute != nil || m.refuses != nil || m.unknown || m.unlisted ||
		intent.State == v1alpha1.ClusterUnreachable
	if drained := taints.Judge(m.About.Taints, nil).Standing == taints.Drained; selected && !dark || drained {
		return !dark
	}
	return err == nil && known && intent.Since != nil && m.Clock.Since(intent.Since.Time) < grace
}

// judgeDelete: what goes is ours, and was to go.
func (m *member) judgeDelete(hpa *autoscalingv2.HorizontalPodAutoscaler) {
	object := m.hub.Objects[web]
	further := 0
	for _, other := range m.hpas {
		if claims.Ours(other.HorizontalPodAutoscaler, object.UID) || other.Annotations[v1alpha1.AdoptByAnnotation] != "" {
			further++
		}
	}
	intent, _ := m.intent()
	if !claims.Ours(hpa, object.UID) && hpa.Annotations[v1alpha1.AdoptByAnnotation] == "" {
		m.T.Errorf("%s: %s of somebody else is deleted", m.About.Name, hpa.Name)
	}
	if ptr.Deref(intent.AssignedMax, 0) > 0 && further < 2 && object.DeletionTimestamp == nil && object.Distributed() {
		m.T.Errorf("%s: %s is deleted, and %d-%d is intended", m.About.Name, hpa.Name, ptr.Deref(intent.AssignedMin, 0),
			ptr.Deref(intent.AssignedMax, 0))
	}
}

// judgeScale: replicas are written only from zero and to zero, and as intended.
func (m *member) judgeScale(from, to int32) {
	intent, _ := m.intent()
	if (from == 0) == (to == 0) || intent.AssignedReplicas == nil || *intent.AssignedReplicas != to {
		m.T.Errorf("%s: scaled from %d to %d, and %v is intended", m.About.Name, from, to, intent.AssignedReplicas)
	}
}

func (m *member) judgeCreate(made *unstructured.Unstructured, n int32) {
	if intent, _ := m.intent(); ptr.Deref(intent.AssignedReplicas, 0) != n || ptr.Deref(intent.AssignedMax, 0) == 0 {
		m.T.Errorf("%s: made with %d, and %v is intended", m.About.Name, n, intent.AssignedReplicas)
	}
	if made.GetLabels()[v1alpha1.ManagedByLabel] != string(m.hub.Objects[web].UID) {
		m.T.Errorf("%s: made with the labels %v", m.About.Name, made.GetLabels())
	}
}

// autoscale is one round of the member's own controller. The lock is held.
func (m *member) autoscale() {
	m.placePods()
	if !m.scales || m.deployment() == nil {
		return
	}
	for _, hpa := range m.hpas {
		if hpa.Spec.ScaleTargetRef.Name == web.Name {
			m.follow(hpa)
			return
		}
	}
}

// follow is what an autoscaler does: by one metric, without memory.
func (m *member) follow(hpa *stored) {
	after, now := hpa.DeepCopy(), m.deployment().Replicas
	s := &after.Status
	s.CurrentReplicas, s.DesiredReplicas = now, now
	active, limited := corev1.ConditionTrue, corev1.ConditionFalse
	limit := "DesiredWithinRange"
	if least := ptr.Deref(hpa.Spec.MinReplicas, 0); now == 0 && least > 0 {
		s.DesiredReplicas, active = 0, corev1.ConditionFalse
	} else {
		percent := m.uses(m)
		s.CurrentMetrics = []autoscalingv2.MetricStatus{{Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricStatus{
				Name: corev1.ResourceCPU, Current: autoscalingv2.MetricValueStatus{AverageUtilization: &percent}}}}
		wanted := int32((int64(now)*int64(percent) + 49) / 50)
		if percent >= 45 && percent <= 55 || held(after) && wanted < now {
			wanted = now
		}
		if m.steadyAt != nil {
			wanted = m.steadyAt()
		}
		if wanted > hpa.Spec.MaxReplicas {
			limited, limit = corev1.ConditionTrue, "TooManyReplicas"
		}
		s.DesiredReplicas = min(max(wanted, least), hpa.Spec.MaxReplicas)
	}
	s.Conditions = []autoscalingv2.HorizontalPodAutoscalerCondition{
		{Type: autoscalingv2.ScalingActive, Status: active, Reason: map[corev1.ConditionStatus]string{"True": "ValidMetricFound",
			"False": "ScalingDisabled"}[active]},
		{Type: autoscalingv2.ScalingLimited, Status: limited, Reason: limit},
	}
	if s.DesiredReplicas != now {
		s.LastScaleTime = &metav1.Time{Time: m.Clock.Now().Add(m.Offset)}
		m.run(s.DesiredReplicas)
	}
	if !equality.Semantic.DeepEqual(federatedhpatest.ThroughJSON(m.T, after), hpa.HorizontalPodAutoscaler) {
		m.store(after, hpa.behaves)
	}
}
