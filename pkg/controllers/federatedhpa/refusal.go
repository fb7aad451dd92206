// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"context"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/summary"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// refuse reports that nothing is done in the namespace of the object. What else the status says is from before, and what it has in
// members stays as it is until the object is deleted.
func (r *Reconciler) refuse(ctx context.Context, object *v1alpha1.FederatedHPA) error {
	refused := record.Condition{
		Type: autoscalingv2.AbleToScale, Reason: tenancy.ReasonNamespaceNotAllowed, Message: tenancy.Refusal(object.Namespace),
	}
	known := summary.Condition(&object.Status, autoscalingv2.AbleToScale).Reason == refused.Reason
	status := object.Status.DeepCopy()
	status.Conditions = refused.Set(status.Conditions, r.Clock.Now())
	if status.Summary == nil {
		status.Summary = &v1alpha1.FederatedHPASummary{}
	}
	status.Summary.State = v1alpha1.StateFailing
	if equality.Semantic.DeepEqual(&object.Status, status) {
		return nil
	}
	if err := r.Recorder.Status(ctx, object, "Autoscale", *status); err != nil || known {
		return err
	}
	r.Recorder.Event(object, record.Event{Type: corev1.EventTypeWarning, Reason: refused.Reason, Message: refused.Message}, "Autoscale")
	return nil
}
