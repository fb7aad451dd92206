// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const maxTolerations = 16

// tolerationsFaults judges tolerations of taints of clusters as Kubernetes does those of Pods, and refuses what has no meaning for
// clusters: a time, for which nobody knows since when, effects that no cluster is judged by, and comparisons of numbers.
func tolerationsFaults(tolerations []corev1.Toleration, path *field.Path) field.ErrorList {
	return append(atMost(len(tolerations), maxTolerations, path), each(tolerations, path, tolerationFaults)...)
}

func tolerationFaults(t corev1.Toleration, path *field.Path) field.ErrorList {
	exists := t.Operator == corev1.TolerationOpExists
	faults := slices.Concat(
		orNone(t.Operator, path.Child("operator"), ruleToleration, corev1.TolerationOpEqual, corev1.TolerationOpExists),
		orNone(t.Effect, path.Child("effect"), ruleToleration, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute),
		when(t.Key == "" && !exists, field.Invalid(path.Child("operator"), t.Operator,
			"operator must be Exists where key is absent, which is for all taints: write Exists, or name a key").WithOrigin(ruleToleration)),
		when(exists && t.Value != "", field.Invalid(path.Child("value"), t.Value,
			"value may not be set where operator is Exists: remove it, or write Equal").WithOrigin(ruleToleration)),
		when(t.TolerationSeconds != nil, field.Forbidden(path.Child("tolerationSeconds"),
			"tolerationSeconds may not be set: a taint is tolerated for as long as it is there, or not at all").WithOrigin(ruleToleration)),
		invalid(validation.IsValidLabelValue(t.Value), path.Child("value"), t.Value, ruleToleration),
	)
	if t.Key != "" {
		faults = append(faults, invalid(validation.IsQualifiedName(t.Key), path.Child("key"), t.Key, ruleToleration)...)
	}
	return faults
}
