// SPDX-License-Identifier: Apache-2.0

package memberhpa

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Ours says whether hpa belongs to the FederatedHPA with the uid, whatever it is called.
func Ours(hpa *autoscalingv2.HorizontalPodAutoscaler, uid types.UID) bool {
	return uid != "" && hpa.Labels[v1alpha1.ManagedByLabel] == string(uid)
}

// Adoptable says whether somebody has given hpa to f.
func Adoptable(hpa *autoscalingv2.HorizontalPodAutoscaler, f *v1alpha1.FederatedHPA) bool {
	return f.Name != "" && hpa.Namespace == f.Namespace && hpa.Annotations[v1alpha1.AdoptByAnnotation] == f.Name
}
