// SPDX-License-Identifier: Apache-2.0

package admission

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/speccopy"
)

// Creation is the workload that an object may have created in clusters, as far as program and registrations let it; nil: none.
type Creation *autoscalingv2.CrossVersionObjectReference

// CreationOf is that of a FederatedHPA: of one in distributed mode, or that will be once what it lost is restored.
func CreationOf(f *v1alpha1.FederatedHPA) Creation {
	if _, kept := speccopy.Kept(f)["federatedHPAAssignment"]; !kept && !f.Distributed() {
		return nil
	}
	return &f.Spec.ScaleTargetRef
}

// CreationOfMultidim is that of a MultidimPodAutoscaler, by the FederatedHPA that it has made.
func CreationOfMultidim(m *v1alpha1.MultidimPodAutoscaler) Creation {
	if m.Spec.Goals == nil || m.Spec.FederatedHPAAssignment == nil {
		return nil
	}
	return &m.Spec.ScaleTargetRef
}

// AsksAuthor reports whether who writes an object has something created that nobody was asked about as it was before.
func AsksAuthor(now, before Creation) bool {
	return now != nil && (before == nil || !claims.Same(*now, *before))
}
