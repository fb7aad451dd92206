// SPDX-License-Identifier: Apache-2.0

package recommendation

import (
	"slices"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// Question is what a decision is made of.
type Question struct {
	// Spec has its defaults. It may be shared by questions, and is not changed.
	Spec *v1alpha1.MultidimPodAutoscalerSpec
	// PodMinimum is the least that a Pod requests, all its sized containers together.
	PodMinimum sizes.Amounts
	Template   Template
	// Replicas are those that the goals call for; 0: that is not known.
	Replicas int32
	Clusters []Cluster
	// Known is what is known of the use of each sized container. It is told only where the decision is to be made again.
	Known []Known
}

// Cluster is what bounds sizes in one cluster.
type Cluster struct {
	Name string
	// Defaults are what its LimitRanges have a container request, and be limited to, that does not say; None: they say nothing.
	Defaults sizes.Resources
	// Rooms are those of its largest nodes.
	Rooms []sizes.Room
}

// Known is what is known of the use of one container.
type Known struct {
	Container string
	// Fleet is of all clusters together, and In of each, in their order, if the spec has each recommended its own; else there are none.
	Fleet KnownUse
	In    []KnownUse
}

// KnownUse is one part of it.
type KnownUse struct {
	sizes.Told
	// Silent: a cluster did not say what is used now, and nothing becomes less than Last, which is told only then.
	Silent bool
	Last   sizes.Advice
}

// Advised is what is advised for one container: for the fleet, and in each cluster, if the spec has each recommended its own.
type Advised struct {
	Container string
	Fleet     sizes.Advice
	In        []sizes.Advice
}

// Decision is what containers should have.
type Decision struct {
	// Template is as it is written, with what is advised for the fleet; Fleet is what comes of it.
	Template sizes.Template
	Fleet    []sizes.Size
	Clusters []ClusterSizes
}

// ClusterSizes are those of one cluster. Template and Rooms are what bounds the sizes of new Pods.
type ClusterSizes struct {
	Sizes    []sizes.Size
	Template sizes.Template
	Rooms    []sizes.Room
}

// Sizable is the spec with containers that are never sized taken out: those that initialize a Pod, some of which run on.
func (q *Question) Sizable() *v1alpha1.MultidimPodAutoscalerSpec {
	if len(q.Template.Initial) == 0 {
		return q.Spec
	}
	copied := *q.Spec
	initial := func(name string) bool {
		return slices.ContainsFunc(q.Template.Initial, func(c Container) bool { return c.Name == name })
	}
	copied.Constraints.Container = slices.DeleteFunc(slices.Clone(q.Spec.Constraints.Container),
		func(c v1alpha1.ContainerConstraint) bool { return initial(c.Name) })
	for _, c := range q.Template.Initial {
		copied.Constraints.Container = append(copied.Constraints.Container, v1alpha1.ContainerConstraint{
			Name: c.Name, Mode: v1alpha1.ContainerOff})
	}
	return &copied
}
