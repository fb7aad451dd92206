// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/members/capacity"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
)

// LimitRanges implements [Cluster].
func (c memberCluster) LimitRanges(ctx context.Context, namespace string) capacity.LimitRanges {
	return c.all.capacity.LimitRanges(ctx, c.Member, namespace)
}

// LargestNodes implements [Cluster].
func (c memberCluster) LargestNodes(ctx context.Context, template *corev1.PodTemplateSpec) capacity.LargestNodes {
	return c.all.capacity.LargestNodes(ctx, c.Member, template)
}

// QuotaLeft implements [Cluster].
func (c memberCluster) QuotaLeft(ctx context.Context, namespace string, template *corev1.PodTemplateSpec,
	ours []pods.SizedPod) capacity.QuotaLeft {
	return c.all.capacity.QuotaLeft(ctx, c.Member, namespace, template, ours)
}
