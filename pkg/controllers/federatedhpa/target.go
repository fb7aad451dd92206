// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"context"
	"errors"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// target is where the replicas of a workload are read and written.
type target interface {
	// read notes the workload's scale.
	read(ctx context.Context, in *situation)
	// write writes what was decided, and completes the decision with what came of it.
	write(ctx context.Context, in *situation, d decision) decision
	// template is what a Pod of the workload requests; nil if that can not be said.
	template(ctx context.Context, in *situation) *replicas.Requests
}

// targetOf is the workload on the hub, or its parts in the members.
func (r *Reconciler) targetOf(object *v1alpha1.FederatedHPA) target {
	if object.Spec.ReplicaDistribution != nil {
		return partsTarget{Reconciler: r}
	}
	return &hubTarget{Reconciler: r}
}

// resourcesOf are what a kind may be served as, the preferred version first; the version of the reference does not
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

// templateOf is what a Pod of the workload requests, for Pods that count though they can not be seen. Any Pod that can be
// seen tells it.
func (r *Reconciler) templateOf(ctx context.Context, in *situation, t target) *replicas.Requests {
	for i := range in.parts {
		if seen := in.parts[i].listing.Pods; len(seen) > 0 {
			return seen[0].Requests
		}
	}
	return t.template(ctx, in)
}
