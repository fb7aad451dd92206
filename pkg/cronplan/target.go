// SPDX-License-Identifier: Apache-2.0

package cronplan

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Target is what is known of what the rules set.
type Target struct {
	Checked     bool   // it was read, or that was tried; else all below but ScaledBy is unknown
	Has         Values // if there is no trouble
	MayHaveNone bool   // minReplicas may be 0
	ScaledBy    string // another autoscaler that sets its replicas, or ""
	Trouble     *Trouble
}

// BoundsOf is a FederatedHPA as a target. Its minimum may be 0 if there is a
// metric that can be read without Pods.
func BoundsOf(f *v1alpha1.FederatedHPA) Target {
	return Target{
		Checked: true,
		Has:     Values{MinReplicas: f.Spec.MinReplicas, MaxReplicas: &f.Spec.MaxReplicas},
		MayHaveNone: slices.ContainsFunc(f.Spec.Metrics, func(m autoscalingv2.MetricSpec) bool {
			return m.Type == autoscalingv2.ObjectMetricSourceType || m.Type == autoscalingv2.ExternalMetricSourceType
		}),
	}
}

// TargetsFederatedHPA reports whether the rules set bounds, not replicas.
func TargetsFederatedHPA(object *v1alpha1.CronFederatedHPA) bool {
	ref := object.Spec.ScaleTargetRef
	return ref.Kind == v1alpha1.FederatedHPAKind && ref.APIVersion == v1alpha1.SchemeGroupVersion.String()
}

// targetFound returns what was last known of the target.
func targetFound(object *v1alpha1.CronFederatedHPA) bool {
	return meta.IsStatusConditionTrue(object.Status.Conditions, v1alpha1.CronTargetFound)
}
