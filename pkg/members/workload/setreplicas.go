// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/client-go/util/retry"
)

// SetReplicas sets the replicas of a workload whose scale was read, even if somebody else did so meanwhile, as a
// HorizontalPodAutoscaler does. Nothing is written where they are so already.
func SetReplicas(ctx context.Context, c Cluster, of autoscalingv2.CrossVersionObjectReference, read *autoscalingv1.Scale, to int32) error {
	scale := read.DeepCopy()
	return retry.RetryOnConflict(retry.DefaultRetry, func() (err error) {
		if scale == nil {
			if scale, err = c.Scale(ctx, read.Namespace, of); err != nil {
				return err
			}
		}
		if scale.Spec.Replicas == to {
			return nil // somebody else did
		}
		scale.Spec.Replicas = to
		err = c.SetScale(ctx, of, scale)
		scale = nil
		return err
	})
}
