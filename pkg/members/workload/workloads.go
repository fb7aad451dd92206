// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/members/connection"
)

// NamespaceFault is why no workload can be made in a namespace of a cluster.
type NamespaceFault struct{ message string }

func (f *NamespaceFault) Error() string { return f.message }

// Get implements [Cluster].
func (c memberCluster) Get(ctx context.Context, namespace string, of autoscalingv2.CrossVersionObjectReference) (*unstructured.Unstructured,
	error) {
	answer, err := c.read(ctx, namespace, of)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	_, err = connection.Decode(ctx, c.Reading(), answer, connection.TypeOf(object).JSON, func(answer []byte) (any, error) {
		return nil, object.UnmarshalJSON(answer)
	})
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
	answer, err := answerTo(ctx, workloadAt(c.Client().Get(), resources[0], namespace, of.Name))
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
	if fault := namespaceFault(err, workload.GetNamespace()); fault != nil {
		err = fault
	}
	if err != nil {
		return fmt.Errorf("creating %s: %w", describeObject(workload), err)
	}
	return nil
}

// namespaceFault is nil if the namespace is not to blame for the error.
func namespaceFault(err error, namespace string) error {
	var status apierrors.APIStatus
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return &NamespaceFault{fmt.Sprintf("namespace %q is being deleted in the cluster", namespace)}
	case apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil &&
		status.Status().Details.Kind == "namespaces":
		return &NamespaceFault{fmt.Sprintf("namespace %q does not exist in the cluster; create it there", namespace)}
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
	err = remove(ctx, request.Name(workload.GetName()), metav1.DeleteOptions{
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
	return resourcesAt(verb(c.Client()), mappings[0].Resource, workload.GetNamespace()), nil
}

func describeObject(o *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %q", o.GetKind(), o.GetName())
}
