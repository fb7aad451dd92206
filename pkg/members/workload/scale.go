// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/members/connection"
)

func (c memberCluster) Scale(ctx context.Context, namespace string, of autoscalingv2.CrossVersionObjectReference) (*autoscalingv1.Scale,
	error) {
	var first error
	resources, err := c.resources(ctx, of)
	for _, resource := range resources {
		scale, err := c.exchange(ctx, scaleAt(c.Client().Get(), resource, namespace, of.Name))
		if err == nil {
			return scale, nil
		}
		if first == nil {
			first = fmt.Errorf("reading the scale of %s: %w", Describe(of), err)
		}
	}
	return nil, errors.Join(err, first)
}

func (c memberCluster) SetScale(ctx context.Context, of autoscalingv2.CrossVersionObjectReference, scale *autoscalingv1.Scale) error {
	resources, err := c.resources(ctx, of)
	if err != nil {
		return err
	}
	body, err := json.Marshal(scale)
	if err != nil {
		return fmt.Errorf("encoding a scale: %w", err)
	}
	request := scaleAt(c.Client().Put(), resources[0], scale.Namespace, of.Name).
		Param("fieldManager", FieldManager).SetHeader("Content-Type", "application/json").Body(body)
	_, err = c.exchange(ctx, request)
	return err
}

// resources returns what the cluster may serve the kind as, the preferred version first.
func (c memberCluster) resources(ctx context.Context, of autoscalingv2.CrossVersionObjectReference) ([]schema.GroupVersionResource, error) {
	gv, err := schema.ParseGroupVersion(of.APIVersion)
	if err != nil {
		return nil, fmt.Errorf("reading spec.scaleTargetRef.apiVersion: %w", err)
	}
	mappings, err := c.mappings(ctx, schema.GroupKind{Group: gv.Group, Kind: of.Kind})
	if err != nil {
		return nil, err
	}
	var resources []schema.GroupVersionResource
	for _, mapping := range mappings {
		resources = append(resources, mapping.Resource)
	}
	return resources, nil
}

// scaleAt leads a request to the scale of a workload.
func scaleAt(request *rest.Request, resource schema.GroupVersionResource, namespace, name string) *rest.Request {
	return connection.At(request, resource, namespace).Name(name).SubResource("scale")
}

// exchange sends a request and reads the scale in the answer.
func (c memberCluster) exchange(ctx context.Context, request *rest.Request) (*autoscalingv1.Scale, error) {
	answer, err := connection.Answer(ctx, request)
	if err != nil {
		return nil, err
	}
	scale, err := connection.DecodeJSON(ctx, c.Reading(), answer, &autoscalingv1.Scale{})
	if err != nil {
		return nil, fmt.Errorf("decoding a scale: %w", err)
	}
	return scale, nil
}
