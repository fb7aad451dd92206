// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/yaml"
)

// SetUsage sets what pods of this cluster use, those that run and those to
// come: all of them, or those of a namespace or with certain labels. Where
// several settings fit a pod, the last one holds; a pod's own annotations
// kwok.x-k8s.io/usage-cpu and -memory outrank all. metrics-server sees a change
// within one metric resolution, and a whole window of it after two.
func (c *Cluster) SetUsage(ctx context.Context, usage Usage) error {
	if usage.CPU == nil && usage.Memory == nil {
		return errors.New("setting a usage: neither cpu nor memory is given")
	}
	client, err := c.Dynamic()
	if err != nil {
		return err
	}
	resource := client.Resource(schema.GroupVersionResource{
		Group: "kwok.x-k8s.io", Version: "v1alpha1", Resource: "clusterresourceusages",
	})
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error { return changeUsage(ctx, resource, usage) })
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("setting a usage: cluster %s runs no pods", c.Name)
	}
	if err != nil {
		return fmt.Errorf("setting a usage in %s: %w", c.Name, err)
	}
	return nil
}

func changeUsage(ctx context.Context, client dynamic.ResourceInterface, added Usage) error {
	current, err := client.Get(ctx, usageName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	var rules usages
	if err := json.Unmarshal([]byte(current.GetAnnotations()[usagesAnnotation]), &rules); err != nil {
		return fmt.Errorf("reading annotation %s: %w", usagesAnnotation, err)
	}
	manifest, err := rules.with(added).manifest()
	if err != nil {
		return err
	}
	next := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), next); err != nil {
		return err
	}
	next.SetResourceVersion(current.GetResourceVersion())
	_, err = client.Update(ctx, next, metav1.UpdateOptions{FieldManager: fieldManager})
	return err
}
