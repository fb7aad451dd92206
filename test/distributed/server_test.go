// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	conversion "k8s.io/kubernetes/pkg/apis/autoscaling/v2"
	"k8s.io/kubernetes/pkg/apis/autoscaling/validation"
)

// complete fills in what an API server does, and says what it would refuse.
func (m *member) complete(hpa *autoscalingv2.HorizontalPodAutoscaler) error {
	conversion.SetObjectDefaults_HorizontalPodAutoscaler(hpa)
	internal := &autoscaling.HorizontalPodAutoscaler{}
	must(conversion.Convert_v2_HorizontalPodAutoscaler_To_autoscaling_HorizontalPodAutoscaler(hpa, internal, nil))
	opts := validation.HorizontalPodAutoscalerSpecValidationOptions{MinReplicasLowerBound: 1}
	for _, metric := range hpa.Spec.Metrics {
		if metric.External != nil || metric.Object != nil {
			opts.MinReplicasLowerBound = 0
		}
	}
	faults := validation.ValidateHorizontalPodAutoscaler(internal, opts)
	if len(faults) == 0 {
		return nil
	}
	return field.ErrorList(faults).ToAggregate()
}
