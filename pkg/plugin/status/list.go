// SPDX-License-Identifier: Apache-2.0

package status

import (
	"context"
	"errors"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/plugin"
)

// printAutoscalers counts the autoscalers of the hub, and names those that are worst off. That the caller may not list a kind, or the hub
// does not have it, is no fault: the members are what was asked for. Of a kind that cannot be listed the error tells, after the others.
func printAutoscalers(ctx context.Context, h hub, out io.Writer) error {
	all, refused, err := autoscalers(ctx, h)
	for _, line := range append(counts(all), refused...) {
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	named, more := troubled(all)
	if len(named) == 0 {
		return err
	}
	if _, err := fmt.Fprintln(out); err != nil {
		return err
	}
	if err := plugin.PrintTable(out, tableOf(named), false); err != nil {
		return err
	}
	if more > 0 {
		if _, err := fmt.Fprintf(out, "and %d more\n", more); err != nil {
			return err
		}
	}
	return err
}

// autoscalers lists those of all kinds and namespaces, as far as it can: of kinds that the caller may not list there are lines, and of
// others that cannot be listed there is an error.
func autoscalers(ctx context.Context, h hub) (all []autoscaler, refused []string, err error) {
	var errs []error
	for _, kind := range []struct {
		name, resource string
		list           func(ctx context.Context, h hub, kind, path string) ([]autoscaler, error)
	}{
		{v1alpha1.FederatedHPAKind, "federatedhpas", listed(ofFederated)},
		{v1alpha1.CronFederatedHPAKind, "cronfederatedhpas", listed(ofRules)},
		{v1alpha1.MultidimPodAutoscalerKind, "multidimpodautoscalers", listed(ofMultidim)},
	} {
		found, err := kind.list(ctx, h, kind.name, "/apis/"+v1alpha1.SchemeGroupVersion.String()+"/"+kind.resource)
		all = append(all, found...)
		switch {
		case err == nil, apierrors.IsNotFound(err):
		case apierrors.IsForbidden(err):
			refused = append(refused, fmt.Sprintf("%ss are not counted: %v", kind.name, err))
		default:
			errs = append(errs, fmt.Errorf("listing %s: %w", kind.resource, err))
		}
	}
	return all, refused, errors.Join(errs...)
}

// listed lists a kind of which one object is as of says.
func listed[T any](of func(*T) autoscaler) func(ctx context.Context, h hub, kind, path string) ([]autoscaler, error) {
	return func(ctx context.Context, h hub, kind, path string) (all []autoscaler, err error) {
		objects, err := plugin.Objects[T](ctx, h.client, path, func(meta metav1.ObjectMeta, why error) {
			all = append(all, autoscaler{kind: kind, namespace: meta.Namespace, name: meta.Name, state: unreadable, why: why.Error()})
		})
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			all = append(all, of(object))
		}
		return all, nil
	}
}
