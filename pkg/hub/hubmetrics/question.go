// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/labels"
)

// Question asks for one metric of one workload. Nothing in it is changed.
type Question struct {
	// Namespace of the workload.
	Namespace string
	// Metric is what is asked for. Its target is ignored. Not used by [Client.Uses].
	Metric autoscalingv2.MetricSpec
	// Selector means the workload's Pods. Not used for Object and External metrics.
	Selector labels.Selector
	// Clusters are those where the workload is placed, each once.
	Clusters []string
	// ClustersOf says in which of Clusters the workload has a Pod of that name. It is called in the asking goroutine, and
	// only for items that name no cluster, where Clusters are several. Nil: it is not known of any Pod.
	ClustersOf func(pod string) []string
}
