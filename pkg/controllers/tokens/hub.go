// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
)

// Hub has the Secrets.
type Hub interface {
	// Versions are the resource versions of the Secrets of a namespace, by name.
	Versions(ctx context.Context, namespace, labelSelector string) (map[string]string, error)
	// Get returns one; nil: there is none.
	Get(ctx context.Context, namespace, name string) (*corev1.Secret, error)
	// Put writes one key of the Secret, unless that was changed since it was read.
	Put(ctx context.Context, read *corev1.Secret, key string, value []byte) error
}

// HubClient is the Hub itself.
type HubClient struct {
	Secrets  kubernetes.Interface
	Metadata metadata.Interface
	// Timeout bounds each request.
	Timeout time.Duration
}

// Versions implements [Hub]. Of the Secrets no more than their metadata are read.
func (h HubClient) Versions(ctx context.Context, namespace, labelSelector string) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	list, err := h.Metadata.Resource(corev1.SchemeGroupVersion.WithResource("secrets")).Namespace(namespace).
		List(ctx, metav1.ListOptions{LabelSelector: labelSelector, ResourceVersion: "0"})
	if err != nil {
		return nil, err
	}
	versions := make(map[string]string, len(list.Items))
	for i := range list.Items {
		versions[list.Items[i].Name] = list.Items[i].ResourceVersion
	}
	return versions, nil
}

// Get implements [Hub].
func (h HubClient) Get(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	ctx, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	secret, err := h.Secrets.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return secret, err
}

// Put implements [Hub].
func (h HubClient) Put(ctx context.Context, read *corev1.Secret, key string, value []byte) error {
	ctx, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": read.UID, "resourceVersion": read.ResourceVersion},
		"data":     map[string][]byte{key: value},
	})
	if err != nil {
		return err
	}
	_, err = h.Secrets.CoreV1().Secrets(read.Namespace).Patch(ctx, read.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}
