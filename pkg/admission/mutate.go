// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// MutateFederatedHPA completes f by the defaults, and rewrites what has a right
// name now; each rewriting is a warning. Once more changes nothing. An object
// that is being deleted is not changed.
func MutateFederatedHPA(f *v1alpha1.FederatedHPA) []string {
	if f.DeletionTimestamp != nil {
		return nil
	}
	v1alpha1.DefaultFederatedHPA(f)
	return rewriteAPIVersion(&f.Spec.ScaleTargetRef)
}

// MutateCronFederatedHPA does for c what [MutateFederatedHPA] does for a
// FederatedHPA.
func MutateCronFederatedHPA(c *v1alpha1.CronFederatedHPA) []string {
	if c.DeletionTimestamp != nil {
		return nil
	}
	v1alpha1.DefaultCronFederatedHPA(c)
	warnings := rewriteAPIVersion(&c.Spec.ScaleTargetRef)
	if slices.ContainsFunc(c.Spec.Rules, func(r v1alpha1.CronFederatedHPARule) bool { return olderName(&r) != "" }) {
		warnings = append(warnings, "spec.rules: ruleName is an older word for name, and was copied there: write name")
	}
	return warnings
}

// MutateMultidimPodAutoscaler does for m what [MutateFederatedHPA] does for a
// FederatedHPA.
func MutateMultidimPodAutoscaler(m *v1alpha1.MultidimPodAutoscaler) []string {
	if m.DeletionTimestamp != nil {
		return nil
	}
	v1alpha1.DefaultMultidimPodAutoscaler(m)
	return rewriteAPIVersion(&m.Spec.ScaleTargetRef)
}

// rewriteAPIVersion puts right what proposals for CronFederatedHPA wrote.
func rewriteAPIVersion(target *autoscalingv2.CrossVersionObjectReference) []string {
	kinds := []string{"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"}
	if target.APIVersion != "app/v1" || !slices.Contains(kinds, target.Kind) {
		return nil
	}
	target.APIVersion = "apps/v1"
	return []string{`spec.scaleTargetRef.apiVersion: "app/v1" does not exist, and was read as "apps/v1": write that`}
}
