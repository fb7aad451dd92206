// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/goals"
)

const (
	maxGoals        = 10
	maxContainers   = 100
	maxContainer    = 63
	maxRecommenders = 1
)

func multidimFaults(m *v1alpha1.MultidimPodAutoscaler, known Neighbours) field.ErrorList {
	spec := field.NewPath("spec")
	constraints := spec.Child("constraints")
	advised := known
	if onlyAdvises(m) {
		advised.FederatedHPAs, advised.HPAs = nil, nil // which is warned of
	}
	return slices.Concat(
		namespaceFaults(m),
		childFaults(&m.Spec, spec),
		updateFaults(&m.Spec.Policy, spec.Child("policy")),
		orNone(m.Spec.Scope, spec.Child("scope"), ruleEnum, v1alpha1.ScopeFleet, v1alpha1.ScopePerCluster),
		goalsFaults(&m.Spec, spec),
		controlledFaults(m.Spec.Constraints.ContainerControlledResources, constraints.Child("containerControlledResources")),
		containersFaults(m.Spec.Constraints.Container, constraints.Child("container")),
		recommendersFaults(m.Spec.Recommenders, spec.Child("recommenders")),
		known.childNameFaults(m, spec.Child("goals")),
		advised.targetFaults(m, spec.Child("scaleTargetRef")),
	)
}

// onlyAdvises reports whether m changes nothing. So it may advise on what is
// scaled by others.
func onlyAdvises(m *v1alpha1.MultidimPodAutoscaler) bool {
	return m.Spec.Goals == nil && !m.Spec.Policy.Acts()
}

// childFaults judges the FederatedHPA that would be made, and tells the faults
// where a person wrote what causes them.
func childFaults(spec *v1alpha1.MultidimPodAutoscalerSpec, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	child := goals.AsWritten(spec)
	if spec.Constraints.Global == nil {
		child.MaxReplicas = math.MaxInt32 // whether there must be one is another question
	}
	if least := child.MinReplicas; least != nil && *least < 1 {
		faults = append(faults, within(least, 1, math.MaxInt32, path.Child("constraints", "global", "minReplicas"), ruleMinReplicas)...)
		child.MinReplicas = nil
	}
	for _, fault := range append(hpaFaults(&child.HorizontalPodAutoscalerSpec, path), fleetFaults(&child, path)...) {
		if fault.Origin == ruleSize && fault.Field == "spec.metrics" {
			continue // goals are fewer
		}
		fault.Field = home(fault.Field)
		if fault.Origin == ruleMetricSource && fault.Type == field.ErrorTypeRequired && strings.HasSuffix(fault.Field, "].resource") {
			fault.Detail += ": write name and target below resource, not beside it" // as a proposal had it
		}
		faults = append(faults, fault)
	}
	return faults
}

// home is where a MultidimPodAutoscaler has a field of its FederatedHPA. It takes
// a field, or a text that begins with one.
func home(text string) string {
	for name, at := range map[string]string{
		"spec.metrics": "spec.goals.metrics", "spec.behavior": "spec.constraints.global.behavior",
		"spec.minReplicas": "spec.constraints.global.minReplicas", "spec.maxReplicas": "spec.constraints.global.maxReplicas",
	} {
		if rest, found := strings.CutPrefix(text, name); found {
			return at + rest
		}
	}
	return text
}

func recommendersFaults(recommenders []v1alpha1.RecommenderReference, path *field.Path) field.ErrorList {
	return append(atMost(len(recommenders), maxRecommenders, path),
		each(recommenders, path, func(r v1alpha1.RecommenderReference, at *field.Path) field.ErrorList {
			return append(when(r.Name == "", field.Required(at.Child("name"), "must name who recommends").WithOrigin(ruleRecommender)),
				noLonger(r.Name, maxContainer, at.Child("name"))...)
		})...)
}

func multidimWarnings(m *v1alpha1.MultidimPodAutoscaler, known Neighbours) []string {
	spec := field.NewPath("spec")
	warnings := withoutGoalsWarnings
	if m.Spec.Goals != nil {
		warnings = known.childWarnings
	}
	return slices.Concat(warnings(&m.Spec, spec), sizingWarnings(&m.Spec, spec), updateWarnings(&m.Spec.Policy, spec.Child("policy")),
		known.scaledWarnings(m), known.rulesWarnings(m))
}

func (k Neighbours) childWarnings(spec *v1alpha1.MultidimPodAutoscalerSpec, path *field.Path) []string {
	child := goals.AsWritten(spec)
	warnings := k.specWarnings(&child, path)
	for i := range warnings {
		warnings[i] = home(warnings[i])
	}
	return warnings
}

// withoutGoalsWarnings is for what only the FederatedHPA reads. What merely
// repeats a default is ignored.
func withoutGoalsWarnings(spec *v1alpha1.MultidimPodAutoscalerSpec, path *field.Path) []string {
	const why = "without goals"
	return slices.Concat(
		affinityWarnings(spec.ClusterAffinity, path.Child("clusterAffinity")),
		unread(spec.Constraints.Global != nil, path.Child("constraints", "global"), why),
		unread(spec.ReplicaDistribution != nil, path.Child("replicaDistribution"), why),
		unread(spec.FederatedHPAAssignment != nil, path.Child("federatedHPAAssignment"), why),
		unread(ptr.Deref(spec.ScalingToZero, false), path.Child("scalingToZero"), why),
		unread(ownDelay(spec.AutoscaleMultiClusterDelay), path.Child("autoscaleMultiClusterDelay"), why),
		unread(spec.DeletionPolicy == v1alpha1.DeletionPolicyOrphan, path.Child("deletionPolicy"), why),
	)
}
