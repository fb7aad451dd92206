// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/members/connection"
)

// Get implements [Cluster].
func (c memberCluster) Get(ctx context.Context, namespace string, of autoscalingv2.CrossVersionObjectReference) (*unstructured.Unstructured,
	error) {
	answer, err := c.read(ctx, namespace, of)
	if err != nil {
		return nil, err
	}
	object, err := connection.DecodeJSON(ctx, c.Reading(), answer, &unstructured.Unstructured{})
	if err != nil {
		return nil, fmt.Errorf("decoding %s: %w", Describe(of), err)
	}
	return object, nil
}

// read is the workload as JSON, as the cluster has it.
func (c memberCluster) read(ctx context.Context, namespace string, of autoscalingv2.CrossVersionObjectReference) ([]byte, error) {
	resources, err := c.resources(ctx, of)
	if err != nil {
		return nil, err
	}
	answer, err := connection.Answer(ctx, connection.At(c.Client().Get(), resources[0], namespace).Name(of.Name))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", Describe(of), err)
	}
	return answer, nil
}

// Create implements [Cluster].
func (c memberCluster) Create(ctx context.Context, workload *unstructured.Unstructured) error {
	return c.create(ctx, workload, storing)
}

func (c memberCluster) create(ctx context.Context, workload *unstructured.Unstructured, meant func(*rest.Request) *rest.Request) error {
	request, err := c.requestFor(ctx, workload, (rest.Interface).Post)
	if err != nil {
		return err
	}
	body, err := workload.MarshalJSON()
	if err != nil {
		return fmt.Errorf("encoding %s: %w", describeObject(workload), err)
	}
	err = meant(request).Param("fieldManager", FieldManager).SetHeader("Content-Type", "application/json").Body(body).Do(ctx).Error()
	if fault := connection.NamespaceFault(err, workload.GetNamespace()); fault != nil {
		err = fault
	}
	if err != nil {
		return fmt.Errorf("creating %s: %w", describeObject(workload), err)
	}
	return nil
}

// Remove implements [Cluster].
func (c memberCluster) Remove(ctx context.Context, workload *unstructured.Unstructured) error {
	uid, version := workload.GetUID(), workload.GetResourceVersion()
	if uid == "" || version == "" {
		return fmt.Errorf("deleting %s: it is not as it was read: it lacks uid or resourceVersion", describeObject(workload))
	}
	request, err := c.requestFor(ctx, workload, (rest.Interface).Delete)
	if err != nil {
		return err
	}
	err = connection.Delete(ctx, request.Name(workload.GetName()), metav1.DeleteOptions{
		Preconditions:     &metav1.Preconditions{UID: &uid, ResourceVersion: &version},
		PropagationPolicy: new(metav1.DeletePropagationBackground),
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting %s: %w", describeObject(workload), err)
	}
	return nil
}

// requestFor begins a request about a workload in the version that it is written in.
func (c memberCluster) requestFor(ctx context.Context, workload *unstructured.Unstructured,
	verb func(rest.Interface) *rest.Request) (*rest.Request, error) {
	kind := workload.GroupVersionKind()
	mappings, err := c.mappings(ctx, kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	return connection.At(verb(c.Client()), mappings[0].Resource, workload.GetNamespace()), nil
}

func describeObject(o *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %q", o.GetKind(), o.GetName())
}
