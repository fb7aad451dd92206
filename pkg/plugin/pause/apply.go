// SPDX-License-Identifier: Apache-2.0

package pause

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Apply acts on each target of a namespace, and says so. One that fails does not hold up the others. dryRun is that of the
// API: nil or All.
func Apply(ctx context.Context, hub dynamic.Interface, namespace string, targets []Target, act Act, dryRun []string, out io.Writer) error {
	var errs []error
	for _, target := range targets {
		objects := hub.Resource(v1alpha1.SchemeGroupVersion.WithResource(target.Resource)).Namespace(namespace)
		done, err := apply(ctx, objects, target.Name, act, dryRun)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s %s/%s: %w", target.Kind, namespace, target.Name, err))
			continue
		}
		if dryRun != nil {
			done += " (server dry run)"
		}
		fmt.Fprintf(out, "%s %s/%s: %s\n", target.Kind, namespace, target.Name, done)
	}
	return errors.Join(errs...)
}

// apply patches the object as it was read: who came between makes it be read again.
func apply(ctx context.Context, objects dynamic.ResourceInterface, name string, act Act, dryRun []string) (done string, err error) {
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		object, err := objects.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change, err := Plan(object, act)
		if done = change.Done; err != nil || change.Patch == nil {
			return err
		}
		change.Patch["metadata"].(map[string]any)["resourceVersion"] = object.GetResourceVersion()
		patch, err := json.Marshal(change.Patch)
		if err != nil {
			return err
		}
		_, err = objects.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{DryRun: dryRun})
		return err
	})
	return done, err
}
