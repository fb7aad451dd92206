// SPDX-License-Identifier: Apache-2.0

// Package placement says in which clusters others have placed a workload: Karmada by its ResourceBindings, and schedulers of a cluster
// inventory by PlacementDecisions, one of which an autoscaler names.
package placement

import (
	"context"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
)

// Source knows where workloads are placed by others, as by Karmada.
type Source interface {
	// Of returns the clusters where a workload is placed, and how many replicas each is to run (nil: not said), and by what rule.
	// With a [TemplateFault] both are right all the same.
	Of(ctx context.Context, namespace string, workload autoscalingv2.CrossVersionObjectReference) (map[string]*int32, Rule, error)
}

// Rule is how the replicas of a workload on the hub come to clusters.
type Rule string

const (
	// Nobody places workloads: they are in every cluster that has them.
	Nobody Rule = ""
	// Unplaced: somebody places workloads, and not this one.
	Unplaced Rule = "Unplaced"
	// Unsaid: somebody places the workload, and does not say how.
	Unsaid Rule = "Unsaid"
	// Divided: the clusters together run as many replicas as the hub says. Which of them have the workload may depend on that number.
	Divided Rule = "Divided"
	// Duplicated: each cluster runs as many replicas as the hub says.
	Duplicated Rule = "Duplicated"
	// Decided: a scheduler chose the clusters, and brings nothing there.
	Decided Rule = "Decided"
)

// ByOthers reports whether others bring workloads to the clusters.
func (r Rule) ByOthers() bool { return r != Nobody && r != Decided }

// Names reports whether it is known in which clusters the workload is placed.
func (r Rule) Names() bool { return r != Nobody && r != Unplaced }
