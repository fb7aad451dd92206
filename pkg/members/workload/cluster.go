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
	// Silence is why asking the cluster is not worth while; nil if it is.
	Silence() *fleet.Silence
	// Joining: the cluster was never Ready since it was registered, so nothing is known to run there.
	Joining() bool
	// ClockOffset is the cluster's time minus ours, within what is credible.
	ClockOffset() time.Duration
	// Headroom is how many replicas of each workload the cluster adds nodes for, by its registration.
	Headroom() int32
	// Creation is which workloads may be created in the cluster, by its registration. It is shared: do not write to it.
	Creation() registration.Creation
	// Pods are those of the namespace that the selector matches, as they are, or as they were when last seen.
	Pods(ctx context.Context, namespace string, selector labels.Selector) pods.Listing
	// Additional is how many more replicas of a workload the cluster has room for; false if that is not known. The template
	// is the workload as it would be made where the cluster lacks it; nil: it is there.
	Additional(ctx context.Context, namespace string, of autoscalingv2.CrossVersionObjectReference,
		template *unstructured.Unstructured) (int32, bool)

	// Scale reads the scale subresource of a workload there.
	Scale(ctx context.Context, namespace string, of autoscalingv2.CrossVersionObjectReference) (*autoscalingv1.Scale, error)
	// SetScale writes it. It is a conflict if somebody else did since it was read.
	SetScale(ctx context.Context, of autoscalingv2.CrossVersionObjectReference, scale *autoscalingv1.Scale) error
	// Get reads a workload.
	Get(ctx context.Context, namespace string, of autoscalingv2.CrossVersionObjectReference) (*unstructured.Unstructured, error)
	// Create makes a workload. It is an error if the workload exists.
	Create(ctx context.Context, workload *unstructured.Unstructured) error
	// Remove deletes a workload as it was read: not one that was made or changed since. It is no error if
	// it is gone.
	Remove(ctx context.Context, workload *unstructured.Unstructured) error

	// Autoscalers are the HorizontalPodAutoscalers of the namespace.
	Autoscalers(ctx context.Context, namespace string) Autoscalers
	// MadeBy lists the HorizontalPodAutoscalers of all namespaces in scope that this hub is to remove once their owner is gone. It asks the
	// cluster each time.
	MadeBy(ctx context.Context, hub string) ([]*autoscalingv2.HorizontalPodAutoscaler, error)
	// Apply makes or changes a HorizontalPodAutoscaler for the one that asks, whoever wrote its fields, and returns what is stored.
	// Metadata other than name, namespace, labels and annotations is ignored. It is an error if there is one of that name that
	// the one who asks does not own, also if that came about just now; and one without [v1alpha1.ManagedByLabel] is not made.
	Apply(ctx context.Context, by claims.Autoscaler,
		hpa *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv2.HorizontalPodAutoscaler, error)
	// Accepts is why the cluster would not take a HorizontalPodAutoscaler, or a workload that it lacks, if that is not
	// nil; nil: it would. Nothing is stored.
	Accepts(ctx context.Context, by claims.Autoscaler, hpa *autoscalingv2.HorizontalPodAutoscaler, lacking *unstructured.Unstructured) error
	// Delete deletes a HorizontalPodAutoscaler, but not another one of the same name. It is no error if it is gone.
	Delete(ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler) error

	// Sizer is for the sizes of Pods there.
	Sizer() sizing.Sizer
}

// Autoscalers are the HorizontalPodAutoscalers of one namespace of a cluster.
type Autoscalers struct {
	// Objects are in name order; of those that are not ours (by [v1alpha1.ManagedByLabel]) only name, uid, annotations and
	// scaleTargetRef are kept, of ours all but managedFields. They are shared: do not write to them.
	Objects []*autoscalingv2.HorizontalPodAutoscaler
	// Version is the API version in which the cluster is written, such as autoscaling/v2; empty if that is not known.
	Version string
	// Known is false where Objects say nothing, as they were never seen.
	Known bool
	// Silence is why they cannot be seen now, so that Objects are as they were last; nil if they can.
	Silence *fleet.Silence
}
