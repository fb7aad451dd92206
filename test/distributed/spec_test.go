// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

func cpuMetric(percent int32) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
		Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &percent}}}
}

func externalMetric(each int64) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
		Metric: autoscalingv2.MetricIdentifier{Name: "queue"},
		Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType,
			AverageValue: resource.NewMilliQuantity(each, resource.DecimalSI)}}}
}

// object draws a FederatedHPA for the members.
func (f *fleet) object() *v1alpha1.FederatedHPA {
	o := &v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: fleetUID, Generation: 1}}
	s := &o.Spec
	s.ScaleTargetRef = target
	s.Metrics = []autoscalingv2.MetricSpec{f.metric()}
	f.drawBounds(s)
	s.AutoscaleMultiClusterDelay = new(of(f.dice, int32(30), 60, 60, 0, 120))
	if s.ScalingToZero = new(!f.oneIn(3)); *s.ScalingToZero && f.external && !f.shared {
		s.ScalingToZeroMode = of(f.dice, v1alpha1.ScalingToZeroController, v1alpha1.ScalingToZeroNative)
	}
	s.FederatedHPAAssignment = &v1alpha1.FederatedHPAAssignment{}
	f.drawPolicy(s)
	f.drawPreferences(s)
	f.drawRebalance(s)
	if f.oneIn(4) {
		s.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{
			StabilizationWindowSeconds: new(of(f.dice, int32(60), 120, 600))}}
		if f.oneIn(3) {
			s.Behavior.ScaleDown.Tolerance = new(resource.MustParse("0.05"))
		}
	}
	if f.chosenBy != byName {
		s.ClusterAffinity = f.affinity()
	}
	s.DeletionPolicy = of(f.dice, v1alpha1.DeletionPolicyDelete, v1alpha1.DeletionPolicyOrphan)
	return o
}

func (f *fleet) drawBounds(s *v1alpha1.FederatedHPASpec) {
	least := int32(f.between(1, of(f.dice, 4, 12, 20)))
	if f.external && f.oneIn(2) { // as the API server has it, metrics of Pods say nothing where none run
		least = 0
		f.judge.happened("no minimum")
	}
	s.MinReplicas, s.MaxReplicas = &least, least+int32(f.between(5, 35))
}

func (f *fleet) drawPolicy(s *v1alpha1.FederatedHPASpec) {
	a := s.FederatedHPAAssignment
	a.FederatedHPAAssignmentType = of(f.dice, v1alpha1.AssignmentDuplicated, v1alpha1.AssignmentStaticWeighted,
		v1alpha1.AssignmentDynamicWeighted,
		v1alpha1.AssignmentAggregated, v1alpha1.AssignmentPrioritized, v1alpha1.AssignmentPrioritized, v1alpha1.AssignmentPrioritized,
		v1alpha1.AssignmentPrioritized)
	a.DistributionOrder, a.ScaleDownOrder = v1alpha1.DistributionMaxFirst, ""
	if f.oneIn(5) {
		a.DistributionOrder = v1alpha1.DistributionMinFirst
	}
	if f.oneIn(6) || !f.shared && f.oneIn(4) {
		a.ScaleDownOrder = v1alpha1.ScaleDownBestEffort
	} else if !f.shared && a.FederatedHPAAssignmentType == v1alpha1.AssignmentPrioritized {
		f.judge.happened("in order, with a load of their own")
	}
}

// drawPreferences gives clusters what the policy reads, and some of them thresholds.
func (f *fleet) drawPreferences(s *v1alpha1.FederatedHPASpec) {
	a := s.FederatedHPAAssignment
	a.ClusterAutoscalingPreference = nil
	if a.FederatedHPAAssignmentType != v1alpha1.AssignmentPrioritized && f.oneIn(3) {
		return
	}
	rare, left := f.oneIn(5), s.MaxReplicas
	for _, g := range f.groups() {
		p := v1alpha1.TargetClusterAutoscalingPreference{TargetCluster: g.ClusterAffinity}
		p.StaticWeight, p.Priority = new(int32(f.between(0, 4))), new(int32(f.between(0, 3)))
		if f.oneIn(6) && left > 2*int32(g.size) {
			p.AutoscalingMinThreshold = new(int32(f.between(1, 2)))
			left -= *p.AutoscalingMinThreshold * int32(g.size)
		}
		if f.oneIn(8) {
			p.AutoscalingMaxThreshold = new(int32(f.between(2, 12)))
		}
		if rare && f.oneIn(4) {
			continue // excluded, with some policies
		}
		f.judge.happened("preferred " + string(g.by))
		a.ClusterAutoscalingPreference = append(a.ClusterAutoscalingPreference, p)
	}
}

func (f *fleet) drawRebalance(s *v1alpha1.FederatedHPASpec) {
	a := s.FederatedHPAAssignment
	if a.Rebalance = nil; !f.oneIn(3) {
		a.Rebalance = &v1alpha1.Rebalance{
			Strategy: of(f.dice, v1alpha1.RebalanceNone, v1alpha1.RebalanceCapacity, v1alpha1.RebalanceDemand,
				v1alpha1.RebalanceDemand),
			IntervalSeconds: new(of(f.dice, int32(15), 60, 300)),
		}
	}
}

// draw makes the fleet of a scenario.
func (f *fleet) draw() {
	f.shared, f.external, f.prompt = !f.oneIn(4), f.oneIn(3), f.oneIn(2)
	f.hub.template, f.chosenBy = f.oneIn(4), of(f.dice, byName, byName, byLabel, byField)
	for i := range f.between(2, 5) {
		m := f.addMember(fmt.Sprintf("c%d", i))
		m.room, m.roomKnown = f.between(2, 27), !f.oneIn(5)
		m.labels[labelTier], m.provider = of(f.dice, "gold", "tin"), of(f.dice, "acme", "umbrella", "")
		m.enlist()
		m.startup = time.Duration(f.between(0, 6)) * 10 * time.Second
		if f.oneIn(5) {
			m.version = "autoscaling/v2beta2"
		}
		if !f.oneIn(6) {
			m.deploy(int32(max(0, f.between(-2, 10))))
		}
	}
	f.anyLoad()
	f.hub.put(f.object())
}

// anyLoad draws what all members carry.
func (f *fleet) anyLoad() {
	f.slope = 0
	f.load = f.goal() * int64(f.between(1, of(f.dice, 3, 15, 40, 60)))
	for _, m := range f.members {
		m.load = f.goal() * int64(f.between(0, of(f.dice, 2, 8, 20)))
	}
}
