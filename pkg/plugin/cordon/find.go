// SPDX-License-Identifier: Apache-2.0

package cordon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	"github.com/fleetscale/fleetscale/pkg/registration"
)

// Hub is how registrations are reached.
type Hub struct {
	// Metadata is for Secrets: of them nothing else is asked for, so that no credential leaves the hub.
	Metadata metadata.Interface
	Dynamic  dynamic.Interface
	// Namespace of the registration Secrets.
	Namespace string
}

// found is a registration of a member: a Secret or, if it is not nil, a Karmada Cluster.
type found struct {
	secret  *metav1.PartialObjectMetadata
	cluster *unstructured.Unstructured
}

func (f found) String() string {
	if f.cluster != nil {
		return "Karmada Cluster " + f.cluster.GetName()
	}
	return "Secret " + f.secret.Namespace + "/" + f.secret.Name
}

func secrets() schema.GroupVersionResource { return corev1.SchemeGroupVersion.WithResource("secrets") }

func karmadaClusters() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "cluster.karmada.io", Version: "v1alpha1", Resource: "clusters"}
}

// find returns the registrations of a member that are Secrets or Karmada Clusters: one, or one of each.
func (h Hub) find(ctx context.Context, member string) ([]found, error) {
	ofSecrets, secretErr := h.findSecrets(ctx, member)
	all, clusterErr := ofSecrets, error(nil)
	cluster, err := h.Dynamic.Resource(karmadaClusters()).Get(ctx, member, metav1.GetOptions{})
	switch {
	case err == nil:
		all = append(all, found{cluster: cluster})
	case !apierrors.IsNotFound(err):
		clusterErr = fmt.Errorf("getting Karmada Cluster %s: %w", member, err)
	}
	if len(all) > 0 {
		return all, nil // what is found is what counts; of the other sort there may be none to be seen
	}
	return nil, errors.Join(secretErr, clusterErr)
}

// selectors are the labels that make a Secret a registration.
func selectors() []string {
	return []string{registration.MemberLabel + "=true", "sigs.k8s.io/multicluster-runtime-kubeconfig=true"}
}

func (h Hub) findSecrets(ctx context.Context, member string) ([]found, error) {
	var all []found
	var names []string
	for _, selector := range selectors() {
		list, err := h.Metadata.Resource(secrets()).Namespace(h.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return nil, fmt.Errorf("listing registration Secrets of namespace %s: %w; name theirs with --cluster-namespace", h.Namespace, err)
		}
		for i := range list.Items {
			secret := &list.Items[i]
			if cmp.Or(secret.Annotations[registration.NameAnnotation], secret.Name) == member {
				all, names = append(all, found{secret: secret}), append(names, secret.Name)
			}
		}
		if len(all) > 0 {
			break // the earlier label counts, of a Secret that has both
		}
	}
	if len(all) > 1 {
		return nil, fmt.Errorf("the Secrets %s of namespace %s all register a cluster %q: give each another annotation %s",
			strings.Join(names, ", "), h.Namespace, member, registration.NameAnnotation)
	}
	return all, nil
}

// Members are the names that registrations give, for completion.
func (h Hub) Members(ctx context.Context) []string {
	var names []string
	for _, selector := range selectors() {
		list, err := h.Metadata.Resource(secrets()).Namespace(h.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			continue
		}
		for i := range list.Items {
			names = append(names, cmp.Or(list.Items[i].Annotations[registration.NameAnnotation], list.Items[i].Name))
		}
	}
	if list, err := h.Dynamic.Resource(karmadaClusters()).List(ctx, metav1.ListOptions{}); err == nil {
		for i := range list.Items {
			names = append(names, list.Items[i].GetName())
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
