// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

func ofPods(r pods.Resources) sizes.Amounts {
	return sizes.Amounts{min(recommendation.Most, r.MilliCPU), min(recommendation.Most, r.Memory)}
}

// sizeOf is how amounts are written; None is left out.
func sizeOf(a sizes.Amounts) (s v1alpha1.Size) {
	if a[sizes.CPU] >= 0 {
		s.CPU = resource.NewMilliQuantity(a[sizes.CPU], resource.DecimalSI)
	}
	if a[sizes.Memory] >= 0 {
		s.Memory = resource.NewQuantity(a[sizes.Memory], resource.BinarySI)
	}
	return s
}

// differenceOf is as [sizeOf], for amounts that may be negative.
func differenceOf(a sizes.Amounts) v1alpha1.Size {
	return v1alpha1.Size{CPU: resource.NewMilliQuantity(a[sizes.CPU], resource.DecimalSI),
		Memory: resource.NewQuantity(a[sizes.Memory], resource.BinarySI)}
}
