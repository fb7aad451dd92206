// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetscale/fleetscale/pkg/guard"
)

// TemplateOf reads spec.template of a workload, where all kinds of Kubernetes, and most others, have their Pods' template.
func TemplateOf(workload *unstructured.Unstructured) (*corev1.PodTemplateSpec, error) {
	found, _, err := unstructured.NestedMap(workload.Object, "spec", "template")
	template := &corev1.PodTemplateSpec{}
	if err == nil {
		err = guard.Unstructured(found, template)
	}
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(found, template)
	}
	if err == nil && len(template.Spec.Containers) == 0 {
		err = errors.New("it has no containers")
	}
	if err != nil {
		return nil, fmt.Errorf("spec.template of %s: %w", describeObject(workload), err)
	}
	return template, nil
}
