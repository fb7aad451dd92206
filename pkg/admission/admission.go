// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// ValidateFederatedHPA returns every fault of f, and what may surprise in it.
// Each fault has in Origin the name of its rule, one of [Rules].
//
// before is the stored object that f replaces, or nil if there is none. A fault
// that before has too does not keep f from being stored. An object that is
// being deleted, or whose spec stays the same, has no faults and no warnings.
// There are warnings only for what is stored.
func ValidateFederatedHPA(f, before *v1alpha1.FederatedHPA, known Neighbours) (field.ErrorList, []string) {
	if f.DeletionTimestamp != nil || before != nil && equality.Semantic.DeepEqual(f.Spec, before.Spec) {
		return nil, nil
	}
	faults := federatedHPAFaults(f, known)
	if before != nil && len(faults) > 0 {
		faults = added(faults, boundsApart(federatedHPAFaults(before, known), f.Spec.MinReplicas, before.Spec.MinReplicas))
	}
	if len(faults) > 0 {
		return faults, nil
	}
	return nil, federatedHPAWarnings(f, known)
}

// boundsApart are the faults of an object from before that still count as such: where the minimum changes, one that shows only
// the maximum does not.
func boundsApart(faults field.ErrorList, now, before *int32) field.ErrorList {
	if ptr.Equal(now, before) {
		return faults
	}
	return without(faults, ruleMaxBelowMin)
}

// ValidateCronFederatedHPA does for a CronFederatedHPA what
// [ValidateFederatedHPA] does for a FederatedHPA.
func ValidateCronFederatedHPA(c, before *v1alpha1.CronFederatedHPA, known Neighbours) (field.ErrorList, []string) {
	if c.DeletionTimestamp != nil || before != nil && equality.Semantic.DeepEqual(c.Spec, before.Spec) {
		return nil, nil
	}
	faults := cronFaults(c, known)
	if before != nil && len(faults) > 0 {
		faults = added(faults, cronFaults(before, known))
	}
	if len(faults) > 0 {
		return faults, nil
	}
	return nil, cronWarnings(c, known)
}

// ValidateMultidimPodAutoscaler does for a MultidimPodAutoscaler what
// [ValidateFederatedHPA] does for a FederatedHPA.
func ValidateMultidimPodAutoscaler(m, before *v1alpha1.MultidimPodAutoscaler, known Neighbours) (field.ErrorList, []string) {
	if m.DeletionTimestamp != nil || before != nil && equality.Semantic.DeepEqual(m.Spec, before.Spec) {
		return nil, nil
	}
	faults := multidimFaults(m, known)
	if before != nil && len(faults) > 0 {
		faults = added(faults, boundsApart(multidimFaults(before, known), leastOf(m), leastOf(before)))
	}
	if len(faults) > 0 {
		return faults, nil
	}
	return nil, multidimWarnings(m, known)
}

func leastOf(m *v1alpha1.MultidimPodAutoscaler) *int32 {
	return ptr.Deref(m.Spec.Constraints.Global, v1alpha1.GlobalConstraints{}).MinReplicas
}

func federatedHPAFaults(f *v1alpha1.FederatedHPA, known Neighbours) field.ErrorList {
	spec := field.NewPath("spec")
	known.MultidimPodAutoscalers = slices.DeleteFunc(slices.Clone(known.MultidimPodAutoscalers), onlyAdvises)
	return slices.Concat(
		namespaceFaults(f),
		hpaFaults(&f.Spec.HorizontalPodAutoscalerSpec, spec),
		fleetFaults(&f.Spec, spec),
		known.targetFaults(f, spec.Child("scaleTargetRef")),
	)
}

func federatedHPAWarnings(f *v1alpha1.FederatedHPA, known Neighbours) []string {
	return append(known.specWarnings(&f.Spec, field.NewPath("spec")), known.rulesWarnings(f)...)
}

// specWarnings are those of a FederatedHPA, or of one that is to be made.
func (k Neighbours) specWarnings(spec *v1alpha1.FederatedHPASpec, path *field.Path) []string {
	return slices.Concat(
		k.Target.federatedHPAWarnings(spec),
		hpaWarnings(&spec.HorizontalPodAutoscalerSpec, path),
		fleetWarnings(spec, path),
	)
}

func cronFaults(c *v1alpha1.CronFederatedHPA, known Neighbours) field.ErrorList {
	spec := field.NewPath("spec")
	return slices.Concat(
		namespaceFaults(c),
		cronTargetFaults(c.Spec.ScaleTargetRef, spec.Child("scaleTargetRef")),
		known.madeFaults(c, spec.Child("scaleTargetRef")),
		cronRulesFaults(&c.Spec, spec.Child("rules")),
		cronPlacementFaults(&c.Spec, spec),
		known.zeroFaults(c, spec.Child("rules")),
	)
}

func cronWarnings(c *v1alpha1.CronFederatedHPA, known Neighbours) []string {
	if meansAutoscaler(c.Spec.ScaleTargetRef) {
		known.Target = nil
	}
	return slices.Concat(
		known.Target.cronWarnings(c.Spec.ScaleTargetRef),
		cronRulesWarnings(c.Spec.Rules, field.NewPath("spec", "rules")),
		cronPlacementWarnings(&c.Spec, field.NewPath("spec")),
		known.cronWarnings(c),
	)
}
