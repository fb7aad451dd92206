// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/pods"
)

// ReasonNotRegistered is of a cluster of which nothing is known but its name.
const ReasonNotRegistered fleet.Reason = "NotRegistered"

// Unregistered stands for a cluster of that name which is expected, as a workload is placed there, and is not registered.
// It is silent.
type Unregistered string

var _ Cluster = Unregistered("")

// Silence and the other methods implement [Cluster].
func (u Unregistered) Silence() *fleet.Silence {
	return &fleet.Silence{Reason: ReasonNotRegistered, Detail: "the workload is placed there, but no such cluster is registered"}
}

func (u Unregistered) Facts() assignment.ClusterFacts {
	return assignment.ClusterFacts{Name: string(u)}
}

func (u Unregistered) ClockOffset() time.Duration { return 0 }

func (u Unregistered) Pods(context.Context, string, labels.Selector) pods.Listing {
	return pods.Listing{Silent: u.Silence()}
}

func (u Unregistered) Additional(context.Context, string, autoscalingv2.CrossVersionObjectReference, *unstructured.Unstructured) (int32, bool) {
	return 0, false
}

func (u Unregistered) Scale(context.Context, string, autoscalingv2.CrossVersionObjectReference) (*autoscalingv1.Scale, error) {
	return nil, u.Silence()
}

func (u Unregistered) SetScale(context.Context, autoscalingv2.CrossVersionObjectReference, *autoscalingv1.Scale) error {
	return u.Silence()
}

func (u Unregistered) Get(context.Context, string, autoscalingv2.CrossVersionObjectReference) (*unstructured.Unstructured, error) {
	return nil, u.Silence()
}

func (u Unregistered) Create(context.Context, *unstructured.Unstructured) error { return u.Silence() }

func (u Unregistered) Remove(context.Context, *unstructured.Unstructured) error { return u.Silence() }

func (u Unregistered) Autoscalers(context.Context, string) Autoscalers {
	return Autoscalers{Silence: u.Silence()}
}

func (u Unregistered) Apply(context.Context, *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	return nil, u.Silence()
}

func (u Unregistered) Delete(context.Context, *autoscalingv2.HorizontalPodAutoscaler) error {
	return u.Silence()
}
