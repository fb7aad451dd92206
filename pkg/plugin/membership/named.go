// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// autoscalers are the kinds that select clusters.
var autoscalers = []schema.GroupVersionResource{
	{Group: "autoscaling.karmada.io", Version: "v1alpha1", Resource: "federatedhpas"},
	{Group: "autoscaling.karmada.io", Version: "v1alpha1", Resource: "multidimpodautoscalers"},
}

// pageSize bounds what is read of autoscalers at a time.
const pageSize = 500

// naming are the autoscalers whose spec names the cluster, or that act there by their status. Kinds that the hub does not serve,
// or that the person may not list, are told.
func (h *Hub) naming(ctx context.Context, name string) (objects, untold []string) {
	for _, kind := range autoscalers {
		options := metav1.ListOptions{Limit: pageSize}
		for {
			list, err := h.objects.Resource(kind).List(ctx, options)
			if apierrors.IsNotFound(err) {
				break // nobody can have made one
			}
			if err != nil {
				untold = append(untold, fmt.Sprintf("%s (%s)", kind.Resource, word(err)))
				break
			}
			for i := range list.Items {
				if o := &list.Items[i]; names(o, name) {
					objects = append(objects, fmt.Sprintf("%s %s/%s", o.GetKind(), o.GetNamespace(), o.GetName()))
				}
			}
			if options.Continue = list.GetContinue(); options.Continue == "" {
				break
			}
		}
	}
	return objects, untold
}

// names reports whether the object's spec names the cluster, or its status says that it acts there.
func names(o *unstructured.Unstructured, cluster string) bool {
	clusters, _, _ := unstructured.NestedSlice(o.Object, "status", "clusters")
	for _, c := range clusters {
		if fields, ok := c.(map[string]any); ok && fields["name"] == cluster {
			return true
		}
	}
	return selects(o.Object["spec"], cluster)
}

// selects reports whether a field clusterNames, at any depth, has the cluster.
func selects(value any, cluster string) bool {
	switch v := value.(type) {
	case map[string]any:
		for key, field := range v {
			if list, ok := field.([]any); ok && key == "clusterNames" && slices.Contains(list, any(cluster)) {
				return true
			}
			if selects(field, cluster) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(one any) bool { return selects(one, cluster) })
	}
	return false
}
