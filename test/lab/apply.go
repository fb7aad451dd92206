// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

const (
	fieldManager = "lab"
	// An object may have to wait for its namespace or its CRD, which a young
	// API server serves a moment after it says that it is ready.
	applyTimeout  = 30 * time.Second
	applyInterval = 100 * time.Millisecond
)

// apply brings objects, each one of YAML, to the cluster, in their order.
func (c *Cluster) apply(ctx context.Context, manifests ...string) error {
	client, err := c.Dynamic()
	if err != nil {
		return err
	}
	for _, manifest := range manifests {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(manifest), object); err != nil {
			return fmt.Errorf("reading a manifest for %s: %w", c.Name, err)
		}
		if err := applyObject(ctx, client, object); err != nil {
			return fmt.Errorf("applying %s %s to %s: %w", object.GetKind(), object.GetName(), c.Name, err)
		}
	}
	return nil
}

func applyObject(ctx context.Context, client dynamic.Interface, object *unstructured.Unstructured) error {
	gvr, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
	target := client.Resource(gvr).Namespace(object.GetNamespace())
	var last error
	err := wait.PollUntilContextTimeout(ctx, applyInterval, applyTimeout, true, func(ctx context.Context) (bool, error) {
		_, last = target.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
		if apierrors.IsNotFound(last) {
			return false, nil
		}
		return true, last
	})
	if last != nil {
		return last
	}
	return err
}
