// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/plugin"
)

// completionTimeout is for how long a person waits after the tabulator.
const completionTimeout = 3 * time.Second

type completion = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective)

// completeNames offers the names of autoscalers of a resource, such as federatedhpas, in the namespace of the flags.
func completeNames(caller *plugin.Caller, resource string) completion {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		hub, namespace, err := dynamicHub(caller, false)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		names := names(cmd.Context(), hub, v1alpha1.SchemeGroupVersion.WithResource(resource), namespace)
		return offered(names, args, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// names are those of objects; none where they cannot be listed: who completes has no place for an error.
func names(ctx context.Context, hub dynamic.Interface, resource schema.GroupVersionResource, namespace string) []string {
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	list, err := hub.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil
	}
	var found []string
	for i := range list.Items {
		found = append(found, list.Items[i].GetName())
	}
	return found
}

// offered are those that begin so and are not given yet.
func offered(names, given []string, begun string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(given, name) || !strings.HasPrefix(name, begun) })
}
