// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
)

// Neighbours are what bears on an object: the other autoscalers in its namespace
// on the hub, and the kind of its target. The object itself may be among them. They are read, and not kept. What is not
// known is not judged: the zero value is fine.
type Neighbours struct {
	FederatedHPAs          []*v1alpha1.FederatedHPA
	CronFederatedHPAs      []*v1alpha1.CronFederatedHPA
	MultidimPodAutoscalers []*v1alpha1.MultidimPodAutoscaler
	HPAs                   []*autoscalingv2.HorizontalPodAutoscaler
	Target                 *Served
}

// targetFaults refuses a second autoscaler on one workload. A
// MultidimPodAutoscaler and its FederatedHPA are one.
func (k Neighbours) targetFaults(autoscaler metav1.Object, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	for _, claim := range k.autoscalersOn(claims.Of(autoscaler)) {
		faults = append(faults, field.Forbidden(path, claim).WithOrigin(ruleTargetTaken))
	}
	return faults
}

// autoscalersOn says of each autoscaler on the asker's workload, once, what is to be done.
func (k Neighbours) autoscalersOn(asker claims.Autoscaler) []string {
	var said []string
	for _, claim := range slices.Concat(claims.On(asker, k.FederatedHPAs...), claims.On(asker, k.MultidimPodAutoscalers...),
		claims.On(asker, k.HPAs...)) {
		if sentence := claim.WhenStored(); !slices.Contains(said, sentence) {
			said = append(said, sentence)
		}
	}
	return said
}

// scaledWarnings tells of who scales what m only advises on.
func (k Neighbours) scaledWarnings(m *v1alpha1.MultidimPodAutoscaler) []string {
	if !onlyAdvises(m) {
		return nil
	}
	k.MultidimPodAutoscalers = nil
	k.FederatedHPAs = slices.DeleteFunc(slices.Clone(k.FederatedHPAs), func(f *v1alpha1.FederatedHPA) bool {
		return claims.Of(f).Kind == v1alpha1.MultidimPodAutoscalerKind // who made it is refused
	})
	return warned(k.autoscalersOn(claims.Of(m)))
}

// childNameFaults refuses a name that somebody's own FederatedHPA has: that for
// the goals would have it, too.
func (k Neighbours) childNameFaults(m *v1alpha1.MultidimPodAutoscaler, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	for _, f := range k.FederatedHPAs {
		owner := claims.Of(f)
		if m.Spec.Goals == nil || f.Name != m.Name || owner.Deleting || owner.Kind == v1alpha1.MultidimPodAutoscalerKind && owner.Name == m.Name {
			continue
		}
		fault := fmt.Sprintf("FederatedHPA %q has the name that the one for these goals would have: delete it, or give the "+
			"MultidimPodAutoscaler another name", f.Name)
		faults = append(faults, field.Forbidden(path, fault).WithOrigin(ruleChildName))
	}
	return faults
}

// madeFaults refuses rules for a FederatedHPA that a MultidimPodAutoscaler made:
// it would set the bounds back.
func (k Neighbours) madeFaults(c *v1alpha1.CronFederatedHPA, path *field.Path) field.ErrorList {
	if !meansAutoscaler(c.Spec.ScaleTargetRef) {
		return nil
	}
	var faults field.ErrorList
	for _, claim := range claims.On(claims.Of(c), k.FederatedHPAs...) {
		faults = append(faults, field.Forbidden(path, claim.WhenStored()).WithOrigin(ruleTargetTaken))
	}
	return faults
}

// rulesWarnings tells of rules that write what an autoscaler writes, and of those
// for its bounds that will fail.
func (k Neighbours) rulesWarnings(autoscaler metav1.Object) []string {
	var warnings []string
	for _, cron := range k.CronFederatedHPAs {
		warnings = append(warnings, claimed(claims.On(claims.Of(autoscaler), cron))...)
		if cron.DeletionTimestamp != nil || !isTarget(cron, autoscaler) {
			continue
		}
		for i := range cron.Spec.Rules {
			rule := &cron.Spec.Rules[i]
			if why := outOfBounds(rule, autoscaler); why != "" {
				warnings = append(warnings, fmt.Sprintf("spec: rule %q of CronFederatedHPA %q will fail: %s", rule.GivenName(), cron.Name, why))
			}
		}
	}
	return warnings
}

// cronWarnings tells of others that write what the rules of c write, and of
// rules that will fail.
func (k Neighbours) cronWarnings(c *v1alpha1.CronFederatedHPA) []string {
	asker := claims.Of(c)
	warnings := warned(k.autoscalersOn(asker))
	for _, f := range k.FederatedHPAs {
		warnings = append(warnings, boundsWarnings(c, f)...)
	}
	for _, m := range k.MultidimPodAutoscalers {
		warnings = append(warnings, boundsWarnings(c, m)...)
	}
	return append(warnings, claimed(claims.On(asker, k.CronFederatedHPAs...))...)
}

// boundsWarnings tells of rules that will fail beside the bounds of their target.
func boundsWarnings(c *v1alpha1.CronFederatedHPA, autoscaler metav1.Object) []string {
	if autoscaler.GetDeletionTimestamp() != nil || !isTarget(c, autoscaler) {
		return nil
	}
	var warnings []string
	for i := range c.Spec.Rules {
		if why := outOfBounds(&c.Spec.Rules[i], autoscaler); why != "" {
			warnings = append(warnings, fmt.Sprintf("spec.rules[%d]: will fail: %s", i, why))
		}
	}
	return warnings
}

const targetWarning = "spec.scaleTargetRef: "

// warned are warnings of a target.
func warned(sentences []string) []string {
	var warnings []string
	for _, sentence := range sentences {
		warnings = append(warnings, targetWarning+sentence)
	}
	return warnings
}

// claimed warns of claims.
func claimed(found []claims.Claim) []string {
	var warnings []string
	for _, claim := range found {
		warnings = append(warnings, targetWarning+claim.WhenStored())
	}
	return warnings
}

// zeroFaults refuses a minimum of 0 for a FederatedHPA that cannot have it.
func (k Neighbours) zeroFaults(c *v1alpha1.CronFederatedHPA, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	for _, f := range k.FederatedHPAs {
		if f.DeletionTimestamp != nil || !isTarget(c, f) || hasZeroMetric(f.Spec.Metrics) {
			continue
		}
		for i, rule := range c.Spec.Rules {
			if zero(rule.TargetMinReplicas) {
				fault := fmt.Sprintf("FederatedHPA %q has no Object or External metric, without which it cannot have 0: write 1 or more, or add "+
					"such a metric there first", f.Name)
				faults = append(faults, field.Invalid(path.Index(i).Child("targetMinReplicas"), *rule.TargetMinReplicas,
					fault).WithOrigin(ruleCronZero))
			}
		}
	}
	return faults
}

// outOfBounds returns why a rule that sets one bound does not go with the other
// one, which stays as it is; or that there are none.
func outOfBounds(rule *v1alpha1.CronFederatedHPARule, autoscaler metav1.Object) string {
	target := cronplan.BoundsOf(autoscaler)
	if target.Trouble != nil {
		return target.Trouble.Message
	}
	least, most := rule.TargetMinReplicas, rule.TargetMaxReplicas
	hasLeast, hasMost := target.Has[cronplan.MinReplicas], *target.Has[cronplan.MaxReplicas]
	switch {
	case least != nil && most == nil && *least > hasMost:
		return fmt.Sprintf("targetMinReplicas %d exceeds maxReplicas %d of %s %q: raise that, or set targetMaxReplicas too", *least,
			hasMost, kindOf(autoscaler), autoscaler.GetName())
	case most != nil && least == nil && hasLeast != nil && *most < *hasLeast:
		return fmt.Sprintf("targetMaxReplicas %d is below minReplicas %d of %s %q: lower that, or set targetMinReplicas too", *most,
			*hasLeast, kindOf(autoscaler), autoscaler.GetName())
	}
	return ""
}

// isTarget reports whether c sets the bounds of an autoscaler.
func isTarget(c *v1alpha1.CronFederatedHPA, autoscaler metav1.Object) bool {
	return c.Spec.ScaleTargetRef.Kind == kindOf(autoscaler) && c.Spec.ScaleTargetRef.Name == autoscaler.GetName()
}

// kindOf is the kind of an autoscaler that has bounds.
func kindOf(autoscaler metav1.Object) string {
	if _, is := autoscaler.(*v1alpha1.MultidimPodAutoscaler); is {
		return v1alpha1.MultidimPodAutoscalerKind
	}
	return v1alpha1.FederatedHPAKind
}
