// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Neighbours are what bears on an object: the other autoscalers in its namespace
// on the hub, and the kind of its target. The object itself may be among them. They are read, and not kept. What is not
// known is not judged: the zero value is fine.
type Neighbours struct {
	FederatedHPAs     []*v1alpha1.FederatedHPA
	CronFederatedHPAs []*v1alpha1.CronFederatedHPA
	HPAs              []*autoscalingv2.HorizontalPodAutoscaler
	Target            *Served
}

// targetFaults refuses a second autoscaler on one workload.
func (k Neighbours) targetFaults(f *v1alpha1.FederatedHPA, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	target := f.Spec.ScaleTargetRef
	taken := func(by string) {
		fault := fmt.Sprintf("%s %q is scaled by %s already: delete that, or name another workload", target.Kind, target.Name, by)
		faults = append(faults, field.Forbidden(path, fault).WithOrigin(ruleTargetTaken))
	}
	for _, other := range k.FederatedHPAs {
		if other.Name != f.Name && stays(other) && same(other.Spec.ScaleTargetRef, target) {
			taken(fmt.Sprintf("FederatedHPA %q", other.Name))
		}
	}
	for _, hpa := range k.HPAs {
		if Rivals(hpa, target) {
			taken(fmt.Sprintf("HorizontalPodAutoscaler %q", hpa.Name))
		}
	}
	return faults
}

// federatedHPAWarnings tells of rules that write what f writes or sets.
func (k Neighbours) federatedHPAWarnings(f *v1alpha1.FederatedHPA) []string {
	var warnings []string
	for _, cron := range k.CronFederatedHPAs {
		switch {
		case !stays(cron):
		case same(cron.Spec.ScaleTargetRef, f.Spec.ScaleTargetRef):
			warnings = append(warnings, fmt.Sprintf("spec.scaleTargetRef: CronFederatedHPA %q sets the replicas of %s %q too, and its rules will fail: make it name this FederatedHPA", cron.Name, f.Spec.ScaleTargetRef.Kind, f.Spec.ScaleTargetRef.Name))
		case isTarget(cron, f):
			for i := range cron.Spec.Rules {
				rule := &cron.Spec.Rules[i]
				if why := outOfBounds(rule, f); why != "" {
					warnings = append(warnings, fmt.Sprintf("spec: rule %q of CronFederatedHPA %q will fail: %s", ruleName(rule), cron.Name, why))
				}
			}
		}
	}
	return warnings
}

// cronWarnings tells of others that write what the rules of c write, and of
// rules that will fail.
func (k Neighbours) cronWarnings(c *v1alpha1.CronFederatedHPA) []string {
	var warnings []string
	target := c.Spec.ScaleTargetRef
	for _, f := range k.FederatedHPAs {
		switch {
		case !stays(f):
		case same(f.Spec.ScaleTargetRef, target):
			warnings = append(warnings, fmt.Sprintf("spec.scaleTargetRef: %s %q is scaled by FederatedHPA %q, and the rules will fail: name that FederatedHPA instead", target.Kind, target.Name, f.Name))
		case isTarget(c, f):
			for i := range c.Spec.Rules {
				if why := outOfBounds(&c.Spec.Rules[i], f); why != "" {
					warnings = append(warnings, fmt.Sprintf("spec.rules[%d]: will fail: %s", i, why))
				}
			}
		}
	}
	for _, hpa := range k.HPAs {
		if Rivals(hpa, target) {
			warnings = append(warnings, fmt.Sprintf("spec.scaleTargetRef: %s %q is scaled by HorizontalPodAutoscaler %q, and the rules will fail: delete that, or use a FederatedHPA and name it here", target.Kind, target.Name, hpa.Name))
		}
	}
	for _, other := range k.CronFederatedHPAs {
		if other.Name != c.Name && stays(other) && same(other.Spec.ScaleTargetRef, target) {
			warnings = append(warnings, fmt.Sprintf("spec.scaleTargetRef: CronFederatedHPA %q sets %s %q too, and whichever rule runs last wins: put all rules into one", other.Name, target.Kind, target.Name))
		}
	}
	return warnings
}

// zeroFaults refuses a minimum of 0 for a FederatedHPA that can not have it.
func (k Neighbours) zeroFaults(c *v1alpha1.CronFederatedHPA, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	for _, f := range k.FederatedHPAs {
		if !stays(f) || !isTarget(c, f) || hasZeroMetric(f.Spec.Metrics) {
			continue
		}
		for i, rule := range c.Spec.Rules {
			if zero(rule.TargetMinReplicas) {
				fault := fmt.Sprintf("FederatedHPA %q has no Object or External metric, without which it can not have 0: write 1 or more, or add such a metric there first", f.Name)
				faults = append(faults, field.Invalid(path.Index(i).Child("targetMinReplicas"), *rule.TargetMinReplicas, fault).WithOrigin(ruleCronZero))
			}
		}
	}
	return faults
}

// outOfBounds says why a rule that sets one bound does not go with the other
// one, which stays as it is.
func outOfBounds(rule *v1alpha1.CronFederatedHPARule, f *v1alpha1.FederatedHPA) string {
	least, most := rule.TargetMinReplicas, rule.TargetMaxReplicas
	switch {
	case least != nil && most == nil && *least > f.Spec.MaxReplicas:
		return fmt.Sprintf("targetMinReplicas %d exceeds maxReplicas %d of FederatedHPA %q: raise that, or set targetMaxReplicas too", *least, f.Spec.MaxReplicas, f.Name)
	case most != nil && least == nil && f.Spec.MinReplicas != nil && *most < *f.Spec.MinReplicas:
		return fmt.Sprintf("targetMaxReplicas %d is below minReplicas %d of FederatedHPA %q: lower that, or set targetMinReplicas too", *most, *f.Spec.MinReplicas, f.Name)
	}
	return ""
}

// isTarget says whether c sets f.
func isTarget(c *v1alpha1.CronFederatedHPA, f *v1alpha1.FederatedHPA) bool {
	return targetsFederatedHPA(c.Spec.ScaleTargetRef) && c.Spec.ScaleTargetRef.Name == f.Name
}

// Rivals says whether a HorizontalPodAutoscaler of the hub sets the replicas of
// a target and is not ours. Then no FederatedHPA may scale it, in any mode: who
// writes the members has a rival too where somebody propagates the hub's number
// to them, or where the hub is a member itself, and neither can be told from
// here.
func Rivals(hpa *autoscalingv2.HorizontalPodAutoscaler, target autoscalingv2.CrossVersionObjectReference) bool {
	return hpa.Labels[v1alpha1.ManagedByLabel] == "" && stays(hpa) && same(hpa.Spec.ScaleTargetRef, target)
}

// same says whether two references name one object, be it in two versions.
func same(a, b autoscalingv2.CrossVersionObjectReference) bool {
	return a.Kind == b.Kind && a.Name == b.Name && group(a) == group(b)
}

// stays is false for what is being deleted.
func stays(object metav1.Object) bool { return object.GetDeletionTimestamp() == nil }
