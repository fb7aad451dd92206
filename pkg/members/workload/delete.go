// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/members/connection"
)

// Delete implements [Cluster].
func (c memberCluster) Delete(ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler) error {
	if hpa.UID == "" {
		return fmt.Errorf("deleting %s %q: its uid is not known", autoscalerKind, hpa.Name)
	}
	version, err := c.version(ctx)
	if err != nil {
		return err
	}
	request := autoscalersAt(c.Client().Delete(), version, hpa.Namespace).Name(hpa.Name)
	err = connection.Delete(ctx, request, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &hpa.UID}})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) && c.isGone(ctx, hpa, version) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("deleting %s %q: %w", autoscalerKind, hpa.Name, err)
	}
	return nil
}

// isGone is true if the object, or at least one of its uid, is no longer there.
func (c memberCluster) isGone(ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler, version schema.GroupVersion) bool {
	there, err := c.stored(ctx, hpa, version)
	return apierrors.IsNotFound(err) || err == nil && there.UID != hpa.UID
}
