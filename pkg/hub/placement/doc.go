// SPDX-License-Identifier: Apache-2.0

// Package placement says in which clusters others have placed a workload.
package placement

import (
	"context"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
)

// Source knows where workloads are placed by others, as by Karmada.
type Source interface {
	// Of returns the clusters where a workload is placed, and how many replicas each is to run (nil: not said). It is false
	// if nobody places workloads: then they are in every cluster. With a [TemplateFault] both are right all the same.
	Of(ctx context.Context, namespace string, workload autoscalingv2.CrossVersionObjectReference) (map[string]*int32, bool, error)
}
