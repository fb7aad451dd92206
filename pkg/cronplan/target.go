// SPDX-License-Identifier: Apache-2.0

package cronplan

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// Target is what is known of what the rules set.
type Target struct {
	Checked     bool   // it was read, or that was tried; else all below but ScaledBy is unknown
	Has         Values // if there is no trouble
	MayHaveNone bool   // minReplicas may be 0
	ScaledBy    string // another autoscaler that sets its replicas, or ""
	ScaledThere string // the same in a cluster; only if it was read
	Where       string // in which clusters it is, for people, as an addition to its name; "": on the hub
	Trouble     *Trouble
}

// TargetsAutoscaler reports whether the rules set bounds, not replicas.
func TargetsAutoscaler(object *v1alpha1.CronFederatedHPA) bool {
	ref := object.Spec.ScaleTargetRef
	return ref.APIVersion == v1alpha1.SchemeGroupVersion.String() &&
		(ref.Kind == v1alpha1.FederatedHPAKind || ref.Kind == v1alpha1.MultidimPodAutoscalerKind)
}

// Allowed reports whether the rules may set anything where the object is.
func Allowed(object *v1alpha1.CronFederatedHPA) bool { return !tenancy.Reserved(object.Namespace) }

// targetFound returns what was last known of the target.
func targetFound(object *v1alpha1.CronFederatedHPA) bool {
	return meta.IsStatusConditionTrue(object.Status.Conditions, v1alpha1.CronTargetFound)
}
