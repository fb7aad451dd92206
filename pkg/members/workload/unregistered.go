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
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/sizing"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// ReasonNotRegistered is of a cluster of which nothing is known but its name.
const ReasonNotRegistered fleet.Reason = "NotRegistered"

// Unregistered stands for a cluster of that name which is expected, as a workload is placed there, and is not registered.
// It is silent.
func Unregistered(name string) Cluster { return unregistered(name) }

type unregistered string

func (u unregistered) Silence() *fleet.Silence {
	return &fleet.Silence{Reason: ReasonNotRegistered, Detail: "the workload is placed there, but no such cluster is registered"}
}

func (u unregistered) Joining() bool { return false }

func (u unregistered) Facts() assignment.ClusterFacts {
	return assignment.ClusterFacts{Name: string(u)}
}

func (u unregistered) ClockOffset() time.Duration { return 0 }

func (u unregistered) Headroom() int32 { return 0 }

func (u unregistered) Creation() registration.Creation { return registration.Creation{} }

func (u unregistered) Pods(context.Context, string, labels.Selector) pods.Listing {
	return pods.Listing{Silent: u.Silence()}
}

func (u unregistered) Additional(context.Context, string, autoscalingv2.CrossVersionObjectReference, *unstructured.Unstructured) (int32,
	bool) {
	return 0, false
}

func (u unregistered) Scale(context.Context, string, autoscalingv2.CrossVersionObjectReference) (*autoscalingv1.Scale, error) {
	return nil, u.Silence()
}

func (u unregistered) SetScale(context.Context, autoscalingv2.CrossVersionObjectReference, *autoscalingv1.Scale) error {
	return u.Silence()
}

func (u unregistered) Get(context.Context, string, autoscalingv2.CrossVersionObjectReference) (*unstructured.Unstructured, error) {
	return nil, u.Silence()
}

func (u unregistered) Create(context.Context, *unstructured.Unstructured) error { return u.Silence() }

func (u unregistered) Remove(context.Context, *unstructured.Unstructured) error { return u.Silence() }

func (u unregistered) Autoscalers(context.Context, string) Autoscalers {
	return Autoscalers{Silence: u.Silence()}
}

func (u unregistered) MadeBy(context.Context, string) ([]*autoscalingv2.HorizontalPodAutoscaler, error) {
	return nil, u.Silence()
}

func (u unregistered) Apply(context.Context, claims.Autoscaler,
	*autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	return nil, u.Silence()
}

func (u unregistered) Accepts(context.Context, claims.Autoscaler, *autoscalingv2.HorizontalPodAutoscaler,
	*unstructured.Unstructured) error {
	return u.Silence()
}

func (u unregistered) Delete(context.Context, *autoscalingv2.HorizontalPodAutoscaler) error {
	return u.Silence()
}

func (u unregistered) Sizer() sizing.Sizer { return sizing.Silent(u.Silence()) }
