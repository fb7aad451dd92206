// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"encoding/json"
	"errors"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/admission"
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/guard"
)

// kind is what package admission knows of one kind.
type kind[T client.Object] struct {
	name   string
	empty  func() T
	mutate func(T) (warnings []string)
	// gather reads what else is in the namespace and bears on the object.
	gather func(ctx context.Context, hub client.Reader, namespace string, object T) (admission.Neighbours, error)
	target func(T) autoscalingv2.CrossVersionObjectReference
	// creation is what the object may have created in clusters.
	creation func(T) admission.Creation
	validate func(object, before T, known admission.Neighbours) (faults field.ErrorList, warnings []string)
}

// read decodes an object. Authors of any namespace may send what takes forever to
// decode, and before the schema is checked; so that is refused first.
func read(raw []byte, object client.Object) error {
	if err := guard.JSON(raw, object); err != nil {
		return err
	}
	return json.Unmarshal(raw, object)
}

func isHarmful(err error) bool { return errors.As(err, new(*guard.HarmfulError)) }

func federatedHPA() kind[*v1alpha1.FederatedHPA] {
	return kind[*v1alpha1.FederatedHPA]{
		name:     v1alpha1.FederatedHPAKind,
		empty:    func() *v1alpha1.FederatedHPA { return &v1alpha1.FederatedHPA{} },
		mutate:   admission.MutateFederatedHPA,
		gather:   ofFederatedHPA,
		target:   func(f *v1alpha1.FederatedHPA) autoscalingv2.CrossVersionObjectReference { return f.Spec.ScaleTargetRef },
		creation: admission.CreationOf,
		validate: admission.ValidateFederatedHPA,
	}
}

func cronFederatedHPA() kind[*v1alpha1.CronFederatedHPA] {
	return kind[*v1alpha1.CronFederatedHPA]{
		name:   v1alpha1.CronFederatedHPAKind,
		empty:  func() *v1alpha1.CronFederatedHPA { return &v1alpha1.CronFederatedHPA{} },
		mutate: admission.MutateCronFederatedHPA,
		gather: ofCronFederatedHPA,
		target: func(c *v1alpha1.CronFederatedHPA) autoscalingv2.CrossVersionObjectReference {
			return c.Spec.ScaleTargetRef
		},
		creation: func(*v1alpha1.CronFederatedHPA) admission.Creation { return nil },
		validate: admission.ValidateCronFederatedHPA,
	}
}

func multidimPodAutoscaler() kind[*v1alpha1.MultidimPodAutoscaler] {
	return kind[*v1alpha1.MultidimPodAutoscaler]{
		name:   v1alpha1.MultidimPodAutoscalerKind,
		empty:  func() *v1alpha1.MultidimPodAutoscaler { return &v1alpha1.MultidimPodAutoscaler{} },
		mutate: admission.MutateMultidimPodAutoscaler,
		gather: ofMultidimPodAutoscaler,
		target: func(m *v1alpha1.MultidimPodAutoscaler) autoscalingv2.CrossVersionObjectReference {
			return m.Spec.ScaleTargetRef
		},
		creation: admission.CreationOfMultidim,
		validate: admission.ValidateMultidimPodAutoscaler,
	}
}
