// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Values that a person need not write.
const (
	// DefaultTargetPercentile is the percentile of the usage that is recommended.
	DefaultTargetPercentile int32 = 90
	// DefaultMarginPercent is what is added to it.
	DefaultMarginPercent int32 = 15
	// DefaultUpdateMinReplicas is how many Pods must be Ready for one to be disrupted.
	DefaultUpdateMinReplicas int32 = 2
	// DefaultUpdateMaxUnavailable is which part of the Pods may be disrupted together.
	DefaultUpdateMaxUnavailable = "25%"
)

// DefaultMultidimPodAutoscaler fills in what the spec leaves out, as [DefaultFederatedHPA] does. Two defaults depend on what
// the goals are, and are not written: see [MultidimPodAutoscalerSpec.ControlledResources] and
// [MultidimPodAutoscalerSpec.SizesLimits]. Once more changes nothing.
func DefaultMultidimPodAutoscaler(m *MultidimPodAutoscaler) {
	spec := &m.Spec
	spec.Policy.setDefaults()
	orElse(&spec.Scope, ScopeFleet)
	if spec.Goals != nil {
		orElse(&spec.Goals.UtilizationBase, BaseTemplateRequest)
	}
	for i := range spec.Constraints.Container {
		spec.Constraints.Container[i].setDefaults()
	}
	child := FederatedHPA{Spec: FederatedHPASpec{AutoscaleMultiClusterDelay: spec.AutoscaleMultiClusterDelay,
		DeletionPolicy: spec.DeletionPolicy, FederatedHPAAssignment: spec.FederatedHPAAssignment, ScalingToZero: spec.ScalingToZero,
		ScalingToZeroMode: spec.ScalingToZeroMode, ReplicaDistribution: spec.ReplicaDistribution}}
	if global := spec.Constraints.Global; global != nil {
		child.Spec.MinReplicas, child.Spec.Behavior = global.MinReplicas, global.Behavior
	}
	DefaultFederatedHPA(&child)
	spec.AutoscaleMultiClusterDelay, spec.DeletionPolicy = child.Spec.AutoscaleMultiClusterDelay, child.Spec.DeletionPolicy
	spec.ScalingToZeroMode = child.Spec.ScalingToZeroMode
	if global := spec.Constraints.Global; global != nil {
		global.MinReplicas = child.Spec.MinReplicas
	}
}

func (p *UpdatePolicy) setDefaults() {
	orElse(&p.UpdateMode, UpdateModeOff)
	orElse(&p.EvictOn, EvictOnAny)
	orElse(&p.Rollout, RolloutOneByOne)
	fill(&p.MinReplicas, DefaultUpdateMinReplicas)
	fill(&p.ActAfterSeconds, 0)
	fill(&p.MaxUnavailable, intstr.FromString(DefaultUpdateMaxUnavailable))
}

// Acts reports whether Pods are changed.
func (p *UpdatePolicy) Acts() bool { return p.UpdateMode != "" && p.UpdateMode != UpdateModeOff }

func (c *ContainerConstraint) setDefaults() {
	orElse(&c.Mode, ContainerAuto)
	fill(&c.TargetPercentile.CPU, DefaultTargetPercentile)
	fill(&c.TargetPercentile.Memory, DefaultTargetPercentile)
	fill(&c.MarginPercent, DefaultMarginPercent)
}

// ControlledResources are the resources that are sized: those that the spec names, or else cpu and memory, less those that
// a goal wants at a utilization.
func (s *MultidimPodAutoscalerSpec) ControlledResources() []corev1.ResourceName {
	if named := s.Constraints.ContainerControlledResources; len(named) > 0 {
		return named
	}
	both := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
	return slices.DeleteFunc(both, func(name corev1.ResourceName) bool {
		return s.hasGoal(func(goal corev1.ResourceName, _ string, target autoscalingv2.MetricTarget) bool {
			return goal == name && target.AverageUtilization != nil
		})
	})
}

// Container is what holds for a container: its own entry, or else that for any, with the defaults.
func (s *MultidimPodAutoscalerSpec) Container(name string) ContainerConstraint {
	found := ContainerConstraint{}
	for _, entry := range s.Constraints.Container {
		if entry.Name == name || entry.Name == AnyContainer && found.Name == "" {
			found = entry
		}
	}
	found.Name = name
	found.setDefaults()
	return found
}

// Sized reports whether a resource of a container is sized.
func (s *MultidimPodAutoscalerSpec) Sized(container string, resource corev1.ResourceName) bool {
	return s.Container(container).Mode != ContainerOff && slices.Contains(s.ControlledResources(), resource)
}

// SizesLimits reports whether the limit of a container follows its request: never if a goal measures the resource too, since a
// limit that shrinks would hide the use.
func (s *MultidimPodAutoscalerSpec) SizesLimits(container string, resource corev1.ResourceName) bool {
	shared := s.hasGoal(func(goal corev1.ResourceName, of string, _ autoscalingv2.MetricTarget) bool {
		return goal == resource && (of == "" || of == container)
	})
	return !shared && s.Container(container).ControlledValues != ControlsRequestsOnly
}

// hasGoal asks for each goal that is a resource's; of is the container, or empty if it is that of whole Pods.
func (s *MultidimPodAutoscalerSpec) hasGoal(is func(goal corev1.ResourceName, of string, target autoscalingv2.MetricTarget) bool) bool {
	return s.Goals != nil && slices.ContainsFunc(s.Goals.Metrics, func(m autoscalingv2.MetricSpec) bool {
		name, container, target := ResourceOf(&m)
		return target != nil && is(name, container, *target)
	})
}

// Of is the amount of one resource; nil if none is said.
func (s Size) Of(name corev1.ResourceName) *resource.Quantity {
	switch name {
	case corev1.ResourceCPU:
		return s.CPU
	case corev1.ResourceMemory:
		return s.Memory
	}
	return nil
}
