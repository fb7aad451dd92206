// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"context"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/apis/vpa"
	"github.com/fleetscale/fleetscale/pkg/members/capacity"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// Sizer reads and writes the sizes of Pods in one cluster. Every call ends with its context, and none waits for a cluster that is known
// to be silent.
type Sizer interface {
	// Prices are what the cluster costs, as far as its registration says it. They are shared: do not write to them.
	Prices() registration.Prices
	// SizedPods are the Pods of the namespace that the selector matches, with their sizes, as they are, or as they were when last seen.
	SizedPods(ctx context.Context, namespace string, selector labels.Selector) pods.SizedListing
	// LimitRanges are those of the namespace.
	LimitRanges(ctx context.Context, namespace string) capacity.LimitRanges
	// LargestNodes are those that Pods of the template may run on.
	LargestNodes(ctx context.Context, template *corev1.PodTemplateSpec) capacity.LargestNodes
	// QuotaLeft is what the quotas of the namespace leave to all Pods of the template together, of which ours are there.
	QuotaLeft(ctx context.Context, namespace string, template *corev1.PodTemplateSpec, ours []pods.SizedPod) capacity.QuotaLeft
	// VPAs are the VerticalPodAutoscalers of the namespace.
	VPAs(ctx context.Context, namespace string) VPAs
	// VPACheckpoints reads what the VerticalPodAutoscalers of the namespace have learned, as it is stored. It asks the cluster each
	// time.
	VPACheckpoints(ctx context.Context, namespace string) ([]unstructured.Unstructured, error)
	// Support is what the cluster can do about the sizes of Pods. It is asked about once in two minutes, whoever wants to know.
	Support(ctx context.Context) Support
	// PodSizes are the sizes of new Pods of the namespace.
	PodSizes(ctx context.Context, namespace string) PodSizes
	// SetPodSizes writes those of one workload for the MultidimPodAutoscaler with that uid, and leaves those of others. It is a
	// [Refused] if the cluster does not take it, or if somebody else has written them.
	SetPodSizes(ctx context.Context, namespace string, owner types.UID, entry v1alpha1.SizedWorkload) error
	// RemovePodSizes takes away what SetPodSizes wrote for that owner and the workload of that name, and with the last one their
	// object. It is no error if there is none.
	RemovePodSizes(ctx context.Context, namespace string, owner types.UID, name string) error
	// Resize asks for other resources of a running Pod's containers, as a rule without their restart. It is a [Refused] if the cluster
	// does not begin with that. It is asked once.
	Resize(ctx context.Context, namespace string, pod PodRef, containers []ContainerResources) error
	// Evict ends a Pod, for another one to take its place, as far as PodDisruptionBudgets allow it. It is a [Refused] if they do not,
	// or something else. It is asked once.
	Evict(ctx context.Context, namespace string, pod PodRef) error
}

// Members has what is watched about sizes in members.
type Members struct {
	pods     *pods.Store
	capacity *capacity.Estimator
	vpas     *mirror.Mirror[*vpa.VerticalPodAutoscaler, vpaRecord]
	podSizes *mirror.Mirror[*v1alpha1.PodSizes, podSizesRecord]
	supports supports
}

// New asks members for what is in these namespaces. The caller runs all three.
func New(store *pods.Store, rooms *capacity.Estimator, scope tenancy.Scope) *Members {
	return &Members{
		pods:     store,
		capacity: rooms,
		vpas:     newVPAs(scope),
		podSizes: newPodSizes(scope),
		supports: supports{known: map[*member.Member]*support{}},
	}
}

// Run watches what is asked for, until ctx ends.
func (m *Members) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return m.vpas.Run(ctx) })
	group.Go(func() error { return m.podSizes.Run(ctx) })
	return group.Wait()
}

// Of returns that of a registered cluster.
func (m *Members) Of(c *member.Member) Sizer { return sizer{c, m} }

// sizer is that of a registered cluster.
type sizer struct {
	*member.Member
	all *Members
}

func (s sizer) SizedPods(ctx context.Context, namespace string, selector labels.Selector) pods.SizedListing {
	return s.all.pods.AskSized(ctx, s.Member, namespace, selector)
}

func (s sizer) LimitRanges(ctx context.Context, namespace string) capacity.LimitRanges {
	return s.all.capacity.LimitRanges(ctx, s.Member, namespace)
}

func (s sizer) LargestNodes(ctx context.Context, template *corev1.PodTemplateSpec) capacity.LargestNodes {
	return s.all.capacity.LargestNodes(ctx, s.Member, template)
}

func (s sizer) QuotaLeft(ctx context.Context, namespace string, template *corev1.PodTemplateSpec, ours []pods.SizedPod) capacity.QuotaLeft {
	return s.all.capacity.QuotaLeft(ctx, s.Member, namespace, template, ours)
}
