// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// AddToScheme makes scheme know the kinds that the webhooks read.
func AddToScheme(scheme *runtime.Scheme) error {
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	return autoscalingv2.AddToScheme(scheme)
}

// Trim leaves out, before the cache keeps it, what no rule reads and what is
// most of an object.
func Trim(object any) (any, error) {
	if o, err := meta.Accessor(object); err == nil {
		o.SetManagedFields(nil)
		o.SetAnnotations(nil)
	}
	switch o := object.(type) {
	case *v1alpha1.FederatedHPA:
		o.Status = v1alpha1.FederatedHPAStatus{}
	case *v1alpha1.CronFederatedHPA:
		o.Status = v1alpha1.CronFederatedHPAStatus{}
	case *v1alpha1.MultidimPodAutoscaler:
		o.Status = v1alpha1.MultidimPodAutoscalerStatus{}
	case *autoscalingv2.HorizontalPodAutoscaler:
		o.Status = autoscalingv2.HorizontalPodAutoscalerStatus{}
	}
	return object, nil
}
