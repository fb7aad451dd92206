// SPDX-License-Identifier: Apache-2.0

package central

import (
	"context"
	"errors"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// hubScale is the scale of the workload on the hub, which somebody else propagates to the members, as it was read from the
// resource.
type hubScale struct {
	*autoscalingv1.Scale
	resource schema.GroupResource
}

// readHub reads the scale. Of several errors the first counts, as that of the preferred version; it is told as it is, as by a
// HorizontalPodAutoscaler.
func (m *Mode) readHub(ctx context.Context, object *v1alpha1.FederatedHPA) (hubScale, error) {
	ref := object.Spec.ScaleTargetRef
	resources, err := resourcesOf(m.Mapper, ref)
	if err != nil {
		return hubScale{}, err
	}
	var first error
	for _, resource := range resources {
		scale, err := m.Scales.Scales(object.Namespace).Get(ctx, resource, ref.Name, metav1.GetOptions{})
		if err == nil {
			return hubScale{scale, resource}, nil
		}
		if first == nil {
			first = err
		}
	}
	return hubScale{}, first
}

// setHub sets the replicas of a scale as it was read.
func (m *Mode) setHub(ctx context.Context, object *v1alpha1.FederatedHPA, scale hubScale, replicas int32) error {
	wanted := scale.DeepCopy()
	wanted.Spec.Replicas = replicas
	_, err := m.Scales.Scales(object.Namespace).Update(ctx, scale.resource, wanted, metav1.UpdateOptions{FieldManager: record.FieldManager})
	return err
}

// TellHub sets the replicas of the workload on the hub, if it has one there, to those that the fleet runs, where it ran them by numbers
// of the clusters. If each cluster is to run as many as the hub specifies, they come to run no fewer.
func (m *Mode) TellHub(ctx context.Context, object *v1alpha1.FederatedHPA) error {
	scale, err := m.readHub(ctx, object)
	if err != nil {
		return nil //nolint:nilerr // the next reconcile reports what is wrong
	}
	in := situation{}
	if in.Sight, err = m.Fleet.Select(ctx, object, true); err != nil {
		return fmt.Errorf("telling %s on the hub what the fleet runs: %w", workload.Describe(object.Spec.ScaleTargetRef), err)
	}
	in.parts = in.partsOf(&Memory{})
	runs := replicas.Each(object.Status.CurrentReplicas, in.copies())
	if scale.Spec.Replicas == runs {
		return nil
	}
	if err := m.setHub(ctx, object, scale, runs); err != nil {
		return fmt.Errorf("telling %s on the hub what the fleet runs: %w", workload.Describe(object.Spec.ScaleTargetRef), err)
	}
	return nil
}

// resourcesOf returns what a kind may be served as, the preferred version first; the version of the reference does not
// count. The error is as a HorizontalPodAutoscaler words it.
func resourcesOf(mapper meta.RESTMapper, ref autoscalingv2.CrossVersionObjectReference) ([]schema.GroupResource, error) {
	kind, err := groupKindOf(ref)
	if err != nil {
		return nil, err
	}
	mappings, err := mapper.RESTMappings(kind)
	if err != nil {
		return nil, err
	}
	var resources []schema.GroupResource
	for _, mapping := range mappings {
		resources = append(resources, mapping.Resource.GroupResource())
	}
	if len(resources) == 0 {
		return nil, errors.New("unrecognized resource")
	}
	return resources, nil
}

// groupKindOf is the kind of a workload. The error is as a HorizontalPodAutoscaler words it.
func groupKindOf(ref autoscalingv2.CrossVersionObjectReference) (schema.GroupKind, error) {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return schema.GroupKind{}, replicas.SpecError{Err: err}
	}
	return schema.GroupKind{Group: gv.Group, Kind: ref.Kind}, nil
}
