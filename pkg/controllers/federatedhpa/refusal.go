// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"context"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// refuse reports that nothing is done in the namespace of the object. What it has in members stays as it is until the object is deleted.
func (r *Reconciler) refuse(ctx context.Context, object *v1alpha1.FederatedHPA) error {
	return r.Recorder.Refuse(ctx, object, tenancy.ReasonNamespaceNotAllowed, tenancy.Refusal(object.Namespace), "Autoscale", r.Clock.Now())
}
