// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/capacity"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// Silent is the [Sizer] of a cluster that nobody can ask, and why.
func Silent(why *fleet.Silence) Sizer { return silent{why} }

type silent struct{ why *fleet.Silence }

func (s silent) Prices() registration.Prices { return registration.Prices{} }

func (s silent) SizedPods(context.Context, string, labels.Selector) pods.SizedListing {
	return pods.SizedListing{Silent: s.why}
}

func (s silent) LimitRanges(context.Context, string) capacity.LimitRanges {
	return capacity.LimitRanges{Unknown: s.why}
}

func (s silent) LargestNodes(context.Context, *corev1.PodTemplateSpec) capacity.LargestNodes {
	return capacity.LargestNodes{Unknown: s.why}
}

func (s silent) QuotaLeft(context.Context, string, *corev1.PodTemplateSpec, []pods.SizedPod) capacity.QuotaLeft {
	return capacity.QuotaLeft{Unknown: s.why}
}

func (s silent) VPAs(context.Context, string) VPAs { return VPAs{Silence: s.why} }

func (s silent) VPACheckpoints(context.Context, string) ([]unstructured.Unstructured, error) {
	return nil, s.why
}

func (s silent) Support(context.Context) Support { return Support{Silence: s.why} }

func (s silent) PodSizes(context.Context, string) PodSizes { return PodSizes{Silence: s.why} }

func (s silent) SetPodSizes(context.Context, string, types.UID, v1alpha1.SizedWorkload) error {
	return s.why
}

func (s silent) RemovePodSizes(context.Context, string, types.UID, string) error { return s.why }

func (s silent) Resize(context.Context, string, PodRef, []ContainerResources) error { return s.why }

func (s silent) Evict(context.Context, string, PodRef) error { return s.why }
