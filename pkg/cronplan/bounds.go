// SPDX-License-Identifier: Apache-2.0

package cronplan

import (
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Bounds point to where an autoscaler keeps those that rules set.
type Bounds struct {
	Min **int32
	Max *int32
}

// BoundsIn finds them in a FederatedHPA or a MultidimPodAutoscaler; nil: it has none.
func BoundsIn(autoscaler metav1.Object) *Bounds {
	switch a := autoscaler.(type) {
	case *v1alpha1.FederatedHPA:
		return &Bounds{&a.Spec.MinReplicas, &a.Spec.MaxReplicas}
	case *v1alpha1.MultidimPodAutoscaler:
		if global := a.Spec.Constraints.Global; global != nil {
			return &Bounds{&global.MinReplicas, &global.MaxReplicas}
		}
	}
	return nil
}

// Set changes those of which v says something.
func (b *Bounds) Set(v Values) {
	if v[MinReplicas] != nil {
		*b.Min = v[MinReplicas]
	}
	if v[MaxReplicas] != nil {
		*b.Max = *v[MaxReplicas]
	}
}

// BoundsOf is a FederatedHPA or a MultidimPodAutoscaler as a target. Only that of a FederatedHPA may be 0 at least, if there is a
// metric that can be read without Pods.
func BoundsOf(autoscaler metav1.Object) Target {
	bounds := BoundsIn(autoscaler)
	if bounds == nil {
		return Target{Checked: true, Trouble: &Trouble{Reason: reasonNoBounds, Message: fmt.Sprintf(
			"%s %q has no constraints.global: set it with minReplicas and maxReplicas, which the rules then change",
			v1alpha1.MultidimPodAutoscalerKind, autoscaler.GetName())}}
	}
	federated, _ := autoscaler.(*v1alpha1.FederatedHPA)
	return Target{
		Checked: true,
		Has:     Values{MinReplicas: *bounds.Min, MaxReplicas: bounds.Max},
		MayHaveNone: federated != nil && slices.ContainsFunc(federated.Spec.Metrics, func(m autoscalingv2.MetricSpec) bool {
			return m.Type == autoscalingv2.ObjectMetricSourceType || m.Type == autoscalingv2.ExternalMetricSourceType
		}),
	}
}
