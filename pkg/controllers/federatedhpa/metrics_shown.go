// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"cmp"

	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// shown is what the metrics tell of one object. The series are made of it when they are asked for: they take many times its memory.
type shown struct {
	min, max, current, desired int32
	ready                      int32 // or unknown
	mode                       v1alpha1.AutoscalingMode
	state                      v1alpha1.FederatedHPAState
	clusters                   []shownCluster
	amounts                    []summary.Amount
}

// clusterKinds are the label values of the numbers of a cluster.
var clusterKinds = [...]string{"assigned", "assigned_max", "current", "ready", "unschedulable"}

// unknown are replicas that are not known.
const unknown = -1

type shownCluster struct {
	name     string
	replicas [len(clusterKinds)]int32 // unknown, if they are
}

// shownOf takes an object as it is stored, whose defaults may be missing.
func shownOf(object *v1alpha1.FederatedHPA) *shown {
	s := &shown{
		min: ptr.Deref(object.Spec.MinReplicas, 1), max: object.Spec.MaxReplicas,
		current: object.Status.CurrentReplicas, desired: object.Status.DesiredReplicas, ready: ptr.Deref(object.Status.ReadyReplicas, unknown),
		mode:     cmp.Or(object.Spec.Mode, v1alpha1.ModeActive),
		clusters: make([]shownCluster, len(object.Status.Clusters)),
		amounts:  summary.Amounts(object.Spec.Metrics, object.Status.CurrentMetrics),
	}
	if object.Status.Summary != nil {
		s.state = object.Status.Summary.State
	}
	for i := range object.Status.Clusters {
		c := &object.Status.Clusters[i]
		s.clusters[i] = shownCluster{c.Name, [...]int32{
			ptr.Deref(c.AssignedReplicas, unknown), ptr.Deref(c.AssignedMax, unknown), ptr.Deref(c.CurrentReplicas, unknown),
			ptr.Deref(c.ReadyReplicas, unknown), ptr.Deref(c.UnschedulableReplicas, unknown),
		}}
	}
	return s
}
