// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"context"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/pods"
)

// Fleet is the member clusters.
type Fleet interface {
	// Settled is nil once every registered cluster is known; until then one may be lacking unnoticed.
	Settled() error
	// Clusters are all that are registered, the silent ones too, in name order.
	Clusters() []Cluster
}

// Cluster is one member cluster. Every call ends with its context, and none waits for a cluster that is known to be
// silent.
type Cluster interface {
	Facts() assignment.ClusterFacts
	// ClockOffset is the cluster's time minus ours, within what is credible.
	ClockOffset() time.Duration
	// Pods are those of the namespace that the selector matches, as they are, or as they were when last seen.
	Pods(ctx context.Context, namespace string, selector labels.Selector) pods.Listing
	// Autoscalers are the HorizontalPodAutoscalers of the namespace that are not ours, as last seen; none if they never
	// were.
	Autoscalers(ctx context.Context, namespace string) []Autoscaler
	// Scale reads the scale subresource of a workload there.
	Scale(ctx context.Context, namespace string, of autoscalingv2.CrossVersionObjectReference) (*autoscalingv1.Scale, error)
	// SetScale writes it. It is a conflict if somebody else did since it was read.
	SetScale(ctx context.Context, of autoscalingv2.CrossVersionObjectReference, scale *autoscalingv1.Scale) error
	// Silence is why asking the cluster is not worth while; nil if it is.
	Silence() *fleet.Silence
}

// Autoscaler is one that a member has of its own.
type Autoscaler struct {
	Name   string
	Target autoscalingv2.CrossVersionObjectReference
}
