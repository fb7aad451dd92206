// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// cluster is one that takes part in an autoscaler. What is absent is not known, or does not apply.
type cluster struct {
	Name     string `json:"name"`
	State    string `json:"state"`
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"message,omitempty"`
	Replicas *int32 `json:"replicas,omitempty"`
	Assigned *int32 `json:"assigned,omitempty"`
	Ready    *int32 `json:"ready,omitempty"`
	Min      *int32 `json:"min,omitempty"`
	Max      *int32 `json:"max,omitempty"`
	// Wants is what the cluster's own autoscaler desires, if that is known.
	Wants *int32 `json:"wants,omitempty"`
	Room  *int32 `json:"room,omitempty"`
	// Age is that of its oldest metric, in seconds.
	Age *int32 `json:"age,omitempty"`
	// Sized is how many of its Pods have the recommended size.
	Sized *int32 `json:"sized,omitempty"`
}

func clustersOf(o *v1alpha1.FederatedHPA) []cluster {
	all := make([]cluster, len(o.Status.Clusters))
	for i := range o.Status.Clusters {
		c := &o.Status.Clusters[i]
		all[i] = cluster{
			Name: c.Name, State: string(c.State), Reason: c.Reason, Message: c.Message, Replicas: c.CurrentReplicas, Assigned: c.AssignedReplicas,
			Ready: c.ReadyReplicas, Min: c.AssignedMin, Max: c.AssignedMax, Room: c.AvailableReplicas, Age: c.MetricAgeSeconds,
		}
		if c.HPA != nil {
			all[i].Wants = summary.DesiredOf(c.HPA)
		}
	}
	return all
}

func sizedClusters(o *v1alpha1.MultidimPodAutoscaler) []cluster {
	all := make([]cluster, len(o.Status.Clusters))
	for i := range o.Status.Clusters {
		c := &o.Status.Clusters[i]
		all[i] = cluster{
			Name: c.Name, State: string(c.State), Reason: c.Reason, Message: c.Message, Replicas: c.Pods, Sized: c.AsRecommended,
		}
	}
	return all
}
