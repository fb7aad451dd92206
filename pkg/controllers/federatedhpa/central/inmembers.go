// SPDX-License-Identifier: Apache-2.0

package central

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// lacking reports whether the hub has no such workload, or does not know its kind: nobody propagates it from there. Any other error
// tells nothing.
func lacking(err error) bool { return apierrors.IsNotFound(err) || meta.IsNoMatchError(err) }

// wasInMembers reports whether each cluster was told its replicas, by the status, as the hub lacked the workload.
func wasInMembers(object *v1alpha1.FederatedHPA) bool {
	return summary.Condition(&object.Status, v1alpha1.Propagated).Reason == reasonInMembers
}

// takesOver reports whether the hub has the workload by now and asks for other replicas than the fleet runs: it first learns of those,
// so that nothing is scaled by the change.
func (in *situation) takesOver() bool {
	return in.scale.Err == nil && !in.inMembers && wasInMembers(in.Object) && in.Object.Spec.Mode != v1alpha1.ModeObserve &&
		in.hub.Spec.Replicas != replicas.Each(in.Object.Status.CurrentReplicas, in.copies())
}

// saysInMembers says that, and how, the clusters are told their replicas.
func (in *situation) saysInMembers() record.Condition {
	n := 0
	for i := range in.parts {
		if in.parts[i].takesPart() {
			n++
		}
	}
	return record.Condition{
		Type: v1alpha1.Propagated, Is: true, Reason: reasonInMembers,
		Message: fmt.Sprintf("the hub has no %s: its replicas are set in each cluster that has it (%d of %d), in the proportions "+
			"that they have", workload.Describe(in.Object.Spec.ScaleTargetRef), n, len(in.parts)),
	}
}
