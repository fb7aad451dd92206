// SPDX-License-Identifier: Apache-2.0

package crontab

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// page is how many objects are listed at once.
const page = 500

// List reads the CronFederatedHPAs of a namespace, or of all if it is empty; of names, if there are any, those only.
func List(ctx context.Context, hub dynamic.Interface, namespace string, names ...string) ([]*v1alpha1.CronFederatedHPA, error) {
	resource := hub.Resource(v1alpha1.SchemeGroupVersion.WithResource("cronfederatedhpas")).Namespace(namespace)
	var found []*v1alpha1.CronFederatedHPA
	add := func(u *unstructured.Unstructured) error {
		object := &v1alpha1.CronFederatedHPA{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, object); err != nil {
			return fmt.Errorf("reading CronFederatedHPA %s/%s: %w", u.GetNamespace(), u.GetName(), err)
		}
		found = append(found, object)
		return nil
	}
	for _, name := range names {
		u, err := resource.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("getting CronFederatedHPA %s/%s: %w", namespace, name, err)
		}
		if err := add(u); err != nil {
			return nil, err
		}
	}
	if len(names) > 0 {
		return found, nil
	}
	for o := (metav1.ListOptions{Limit: page}); ; {
		list, err := resource.List(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("listing CronFederatedHPAs: %w", err)
		}
		for i := range list.Items {
			if err := add(&list.Items[i]); err != nil {
				return nil, err
			}
		}
		if o.Continue = list.GetContinue(); o.Continue == "" {
			return found, nil
		}
	}
}
