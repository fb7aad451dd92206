// SPDX-License-Identifier: Apache-2.0

// Package configmap keeps texts in one ConfigMap of the hub, which one program writes and others follow.
package configmap

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// Stored is a ConfigMap as it was read.
type Stored struct {
	Exists  bool
	Version string
	Data    map[string]string
}

// Of returns what was read; nil: there is no ConfigMap.
func Of(object *unstructured.Unstructured) Stored {
	if object == nil {
		return Stored{}
	}
	data, _, _ := unstructured.NestedStringMap(object.Object, "data")
	return Stored{Exists: true, Version: object.GetResourceVersion(), Data: data}
}

// Write has the ConfigMap hold what is wanted until ctx ends, by a patch of what differs. It is a conflict, or one exists already, if
// somebody wrote it since it was read.
func Write(ctx context.Context, hub kubernetes.Interface, name types.NamespacedName, read Stored, want map[string]string) error {
	configMaps := hub.CoreV1().ConfigMaps(name.Namespace)
	if !read.Exists {
		_, err := configMaps.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Name: name.Name, Namespace: name.Namespace, Labels: map[string]string{"app.kubernetes.io/part-of": "fleetscale"},
			},
			Data: want,
		}, metav1.CreateOptions{})
		return err
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": read.Version},
		"data":     changes(read.Data, want),
	})
	if err != nil {
		return fmt.Errorf("encoding ConfigMap %s: %w", name, err)
	}
	_, err = configMaps.Patch(ctx, name.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// changes are the entries of a merge patch.
func changes(from, to map[string]string) map[string]any {
	patch := map[string]any{}
	for key := range from {
		if _, stays := to[key]; !stays {
			patch[key] = nil
		}
	}
	for key, value := range to {
		if before, known := from[key]; !known || before != value {
			patch[key] = value
		}
	}
	return patch
}
