// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// reasonInvalidTaint: a taint, or an annotation that acts as one, cannot be read. The registration is used without it.
const reasonInvalidTaint fleet.Reason = "InvalidTaint"

// mostTaints bounds what is compared for one cluster.
const mostTaints = 100

// annotatedTaints reads the annotations of a registration that act as taints. A warning is for one whose value says neither yes nor no.
func annotatedTaints(object *metav1.ObjectMeta) (all []corev1.Taint, warnings []Fault) {
	all, wrong := taints.OfAnnotations(object.Annotations)
	for _, annotation := range wrong {
		warnings = append(warnings, faultf(reasonInvalidTaint, `annotation %s: %q is ignored; write "true", or remove the annotation`, annotation,
			shorten(object.Annotations[annotation])))
	}
	return all, warnings
}

// countedTaints returns those of an object's own taints that cordon or drain, without what nobody here reads of them. A warning is for
// those that no toleration could name, and for those that are too many.
func countedTaints(own []corev1.Taint) (counted []corev1.Taint, warnings []Fault) {
	if n := len(own); n > mostTaints {
		warnings = append(warnings, faultf(reasonInvalidTaint, "spec.taints: it lists %d taints; those after the first %d are ignored", n,
			mostTaints))
		own = own[:mostTaints]
	}
	for i, taint := range own {
		if taint.Effect != corev1.TaintEffectNoSchedule && taint.Effect != corev1.TaintEffectNoExecute {
			continue
		}
		if why := taintFault(taint); why != "" {
			warnings = append(warnings, faultf(reasonInvalidTaint, "spec.taints[%d]: it is ignored: %s", i, why))
			continue
		}
		counted = append(counted, corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: taint.Effect})
	}
	return counted, warnings
}

func taintFault(taint corev1.Taint) string {
	if wrong := validation.IsQualifiedName(taint.Key); len(wrong) > 0 {
		return fmt.Sprintf("its key %q is not a qualified name", shorten(taint.Key))
	}
	if wrong := validation.IsValidLabelValue(taint.Value); len(wrong) > 0 {
		return fmt.Sprintf("its value %q is not that of a label", shorten(taint.Value))
	}
	return ""
}
